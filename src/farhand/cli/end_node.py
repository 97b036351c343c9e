"""Ends a node and what belongs to it: its process, its tunnel, its agents in tmux and in holders."""

import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.cli.tmux_sessions import end_session, sessions_of
from farhand.config.launch import read_launch
from farhand.config.places import node_folder
from farhand.disk import processes
from farhand.model.compat import SERVE_FILE, TUNNEL_PID_FILE, TUNNEL_URL_FILE
from farhand.model.errors import NodeError, ProgramMissing
from farhand.store.folder import running

if TYPE_CHECKING:
    from farhand.model.container import ContainerEngine

PATIENCE_SECONDS = 25.0
TUNNEL_SECONDS = 3.0
LOOK_SECONDS = 0.02


def end_bridge(node: str, folder: Path) -> int | None:
    """Tells the node to stop and waits until it has; the process that it was, or None when none ran."""
    process = running(folder)
    if process is None:
        return None
    os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while running(folder) == process:
        if time.monotonic() > deadline:
            raise NodeError(
                f"Node '{node}' (pid {process}) has not stopped within {PATIENCE_SECONDS:g} s.",
                hints=(f"kill -9 {process}, and start it again: nothing is lost",),
            )
        time.sleep(LOOK_SECONDS)
    return process


def end_tunnel(folder: Path) -> bool:
    """Ends the tunnel that the node has started, if it still runs; whether it did. One that does not obey is killed."""
    file = folder / TUNNEL_PID_FILE
    ended = processes.end(file) is not None
    deadline = time.monotonic() + TUNNEL_SECONDS
    while ended and processes.read_identity(file) is not None:
        if time.monotonic() > deadline:
            processes.end(file, signal.SIGKILL)
            break
        time.sleep(LOOK_SECONDS)
    ended = _end_served(folder) or ended
    for name in (TUNNEL_PID_FILE, TUNNEL_URL_FILE):
        (folder / name).unlink(missing_ok=True)
    return ended


def _end_served(folder: Path) -> bool:
    """Takes away what a killed node has left on the tailnet; whether there was something."""
    if not (folder / SERVE_FILE).exists() or (program := shutil.which("tailscale")) is None:
        return False
    import anyio

    from farhand.reach.tailscale import Tailscale, close_served

    return anyio.run(close_served, Tailscale(program, os.environ), folder)


def end_agents(node: str, folder: Path) -> list[str]:
    """Ends the processes of the node's workers and returns their names; the team stays as it is."""
    launch = read_launch(folder, node)
    names = []
    for session in sessions_of(launch):
        end_session(launch, session.name)
        names.append(session.name)
    held = end_held(folder / "holders")
    # A container may still be there for a moment after its agent.
    left = [name for name in end_sandboxes(folder) if name not in held]
    return [*names, *held, *left]


def end_sandboxes(folder: Path) -> list[str]:
    """Removes every container of the node's workers, whose names it returns: one may outlive what has started it."""
    found = _sandbox_engine(folder)
    if found is None:
        return []
    from farhand.sandbox import engine

    there = engine.labelled(found, f"farhand.node={folder}", os.environ)
    workers = [engine.worker_of(found, one, os.environ) for one in there]
    engine.remove(found, there, os.environ)
    return workers


def _sandbox_engine(folder: Path) -> "ContainerEngine | None":
    """What runs the containers of the node's workers; None where no worker of it was ever in one."""
    if not (folder / "sandboxes").is_dir() or not any((folder / "sandboxes").iterdir()):
        return None
    from farhand.config.sandbox import read_sandbox
    from farhand.model.sandbox import SandboxEngine
    from farhand.sandbox import engine

    try:
        found = engine.find_engine(read_sandbox(os.environ).engine, os.environ)
    except ProgramMissing:
        return None
    return None if found.kind is SandboxEngine.BWRAP else found


def end_held(root: Path) -> list[str]:
    """Ends every agent that a holder keeps; what they wrote stays for the next start to read."""
    return _visit_held(root, end=True)


def _visit_held(root: Path, *, end: bool) -> list[str]:
    """The workers whose agents a holder keeps alive; each is ended on demand."""
    if not root.is_dir() or not any(root.iterdir()):
        return []
    import anyio

    return anyio.run(_held_agents, root, end)


async def _held_agents(root: Path, end: bool) -> list[str]:
    from farhand.sandbox.holders import LocalHolders

    holders, alive = LocalHolders(root), []
    for name in await holders.names():
        found = await (holders.attach_or_withdraw(name) if end else holders.attach(name))
        if found is None:
            continue
        async with found as held:
            if (await held.status()).alive:
                if end:
                    await held.end()
                alive.append(_worker_of(name))
    return alive


def _worker_of(name: str) -> str:
    """A holder is called after the worker, its hiring, perhaps a word of the wire, and the life of the agent."""
    named = re.fullmatch(r"(.+?)-[0-9]+(-[a-z]+)?\.[0-9a-f]+", name)
    return named[1] if named else name


def is_anything_left(node: str, *, agents: bool = True) -> bool:
    """Whether something of the node still runs: the node, its tunnel and, unless they shall be left, its agents."""
    folder = node_folder(node, os.environ)
    if running(folder) is not None or processes.read_identity(folder / TUNNEL_PID_FILE) is not None:
        return True
    return agents and _has_agents(node, folder)


def _has_agents(node: str, folder: Path) -> bool:
    if sessions_of(read_launch(folder, node)) or _visit_held(folder / "holders", end=False):
        return True
    found = _sandbox_engine(folder)
    if found is None:
        return False
    from farhand.sandbox import engine

    return bool(engine.labelled(found, f"farhand.node={folder}", os.environ))

"""Where the agent of `farhand remote` runs: a node of its own for as long as the terminal is open, or a node's team."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec.structs import replace as changed

from farhand import roster
from farhand.app import node
from farhand.cli.remote_terminal import TERMINAL_VARIABLES, end_server, own_server, pass_through
from farhand.config.launch import read_launch
from farhand.config.places import home, node_folder, tmux_server
from farhand.config.settings import Settings
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.tmux import Pane, Size, Tmux, TmuxGone
from farhand.drivers.wires.tmux.host import TmuxHost, pane_tag
from farhand.drivers.wires.tmux.panes import PaneTerminal
from farhand.manifests import channel_secrets
from farhand.model.compat import DEFAULT_NODE, REMOTE_PORT_VARIABLES
from farhand.model.ports import Driver, Hub
from farhand.model.present import Worker
from farhand.model.reach import ReachMode
from farhand.model.variables import is_yes
from farhand.model.words import Mode
from farhand.sandbox.environment import child_environment, without_secrets

NODE = "remote"
# In here it is remembered which folders the person trusts.
FOLDER = "remote"
# What an agent finds as its terminal.
TERMINAL = "tmux-256color"


@dataclass(frozen=True)
class RemotePlace:
    """A hub, and the tmux in which the terminals of its workers are."""

    hub: Hub
    tmux: Tmux
    node: str
    # Its drivers by kind, where it is a node of this terminal alone.
    drivers: Mapping[str, Driver] | None = None

    async def pane_of(self, worker: Worker) -> Pane | None:
        """Where the worker's agent is to be seen; nowhere as long as its tmux has not begun, or when it has ended."""
        try:
            return await self.tmux.tagged(pane_tag(self.node, worker))
        except TmuxGone:
            return None

    def terminal(self, find: Callable[[], Worker | None]) -> PaneTerminal:
        """The agent's terminal, for programs that drive it."""

        async def pane() -> Pane | None:
            worker = find()
            return await self.pane_of(worker) if worker else None

        return PaneTerminal(self.tmux, pane)


@asynccontextmanager
async def private_place(arguments: tuple[str, ...], environ: Mapping[str, str]) -> AsyncIterator[RemotePlace]:
    """A node of this terminal alone: nobody else is on its team, and nothing is left of it, however it ends."""
    folder = Path(tempfile.mkdtemp(prefix="farhand-remote-"))
    server = own_server(folder)
    settings = private_settings(folder / NODE, environ)
    try:
        with _owner() as owner:
            context = private_context(settings, server, arguments, owner)
            drivers = roster.drivers_by_kind(roster.build_drivers(context))
            async with node(settings, drivers, lambda _: []) as running:
                tmux = context.tmux_host.tmux
                await pass_through(tmux, environ)
                yield RemotePlace(running.hub, tmux, NODE, drivers)
    finally:
        await end_server(server)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


@contextmanager
def _owner() -> Iterator[int]:
    """A pipe's reading end that is at its end when this context is, or the process."""
    reader, writer = os.pipe()
    try:
        yield reader
    finally:
        os.close(reader)
        os.close(writer)


@asynccontextmanager
async def team_place(arguments: argparse.Namespace) -> AsyncIterator[RemotePlace]:
    """The team of a node on this machine, and the tmux that its agents run in."""
    from farhand.cli.node_choice import choose
    from farhand.cli.options import open_hub

    name = arguments.node = choose(arguments)
    launch = read_launch(node_folder(name, os.environ), name)
    control_session = f"farhand-{NODE}-{os.getpid()}"
    tmux = Tmux(tmux_server(launch.tmux_socket), control_session, child_environment(os.environ, {}))
    async with open_hub(arguments) as hub, tmux.opened():
        yield RemotePlace(hub, tmux, name)


def private_settings(folder: Path, environ: Mapping[str, str]) -> Settings:
    """A node without channels and without a way in, whose agents ask before they act."""
    return Settings(
        node=NODE,
        folder=folder,
        port=0,
        host="127.0.0.1",
        working_directory=Path.cwd(),
        headless=True,
        hire_mode=Mode.DEFAULT,
        root_yolo=is_yes(environ.get("FARHAND_ROOT_YOLO", "")),
        reach=ReachMode.NONE,
        temporary=folder / "temporary",
        environment=agent_environment(environ),
    )


def private_context(
    settings: Settings, server: tuple[str, ...], arguments: tuple[str, ...], owner: int
) -> DriverContext:
    """What drivers are built from where a person starts an agent themselves: it has their variables, in a tmux of its
    own, and what they wrote behind its name; it ends with its owner."""
    settings.folder.mkdir(mode=0o700, parents=True)
    own = node_folder(os.environ.get("NODE_NAME") or DEFAULT_NODE, os.environ) / "acp"
    if own.is_dir():
        (settings.folder / "acp").symlink_to(own)
    context, environment = roster.driver_context(settings, owner), settings.environment
    shape = os.get_terminal_size()
    size = Size(columns=shape.columns, rows=shape.lines)
    options = changed(context.tmux_host.options, arguments=arguments, size=size, sandboxes=None)
    return replace(
        context,
        tmux_host=TmuxHost(options, Tmux(server, f"farhand-{NODE}", environment, ends_with_us=True)),
        child=lambda added: {**environment, **added},
        sandboxes=None,
        trust_folder=home(os.environ) / FOLDER,
    )


def agent_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The person's own variables, but for what belongs to this terminal, to a node, or to no command line."""
    dropped = TERMINAL_VARIABLES | set(REMOTE_PORT_VARIABLES)
    own = {
        name: value
        for name, value in without_secrets(environ, channel_secrets()).items()
        if name not in dropped and not name.startswith(("FARHAND_", "BASH_FUNC_")) and value.isprintable()
    }
    return {**own, "TERM": TERMINAL}

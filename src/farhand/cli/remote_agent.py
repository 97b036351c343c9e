"""Shows an agent's own terminal here with its remote control beside it, from its start to its end."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.cli.options import me, new_id
from farhand.cli.remote_control import remote_control
from farhand.cli.remote_node import RemotePlace, private_place, team_place
from farhand.cli.remote_terminal import LOOK_SECONDS, attach, dress
from farhand.cli.remote_words import AgentWords
from farhand.cli.remote_worker import RemoteWorker
from farhand.drivers.wires.tmux import Pane, TmuxError
from farhand.model.ask_text import circumstances, whole
from farhand.model.commands import Answer, End, Hire
from farhand.model.errors import (
    AgentNotStarted,
    BadInput,
    BadUsage,
    FarhandError,
    PortTaken,
    UnknownBackend,
    UnknownWorker,
)
from farhand.model.facts import Ended
from farhand.model.folder_trust import TRUST
from farhand.model.live_session import LiveSession
from farhand.model.present import WIRE, Ask
from farhand.model.visible import for_terminal
from farhand.model.words import Mode, replace
from farhand.remote.keyless import KeylessSession

TMUX = "tmux"
END_SECONDS = 10.0


async def show_agent(arguments: argparse.Namespace, words: AgentWords | None, port: int, key: str) -> int:
    """The agent until it ends, or a signal ends this; its exit code."""
    code = 1
    async with anyio.create_task_group() as tasks:

        async def stop_at_signal() -> None:
            nonlocal code
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
                async for number in signals:
                    code = 128 + number
                    tasks.cancel_scope.cancel()

        tasks.start_soon(stop_at_signal, name="signals")
        async with _place(arguments, words) as place:
            code = await _in_place(place, words, arguments.worker, port, key)
        tasks.cancel_scope.cancel()
    return code


@asynccontextmanager
async def _place(arguments: argparse.Namespace, words: AgentWords | None) -> AsyncIterator[RemotePlace]:
    own = words.arguments if words else ()
    if arguments.worker and own:
        raise BadUsage(
            f"A team's agent is started by its node, which knows its model and its mode alone, not '{' '.join(own)}'."
        )
    async with team_place(arguments) if arguments.worker else private_place(own, os.environ) as place:
        yield place


async def _in_place(place: RemotePlace, words: AgentWords | None, wanted: str, port: int, key: str) -> int:
    name, has_terminal = await join(place, words, wanted)
    try:
        if has_terminal:
            return await _serve(place, name, port, key)
        # An agent without a terminal of its own is shown in ours.
        from farhand.cli.tui import show_team

        return await show_team(place.hub, "auto", port, key, f"farhand remote -- {name}")
    finally:
        if place.drivers is not None:
            await _end(place, name)


async def join(place: RemotePlace, words: AgentWords | None, wanted: str) -> tuple[str, bool]:
    """Hires the agent, or finds the worker that is there already; its name, and whether it has a terminal."""
    team = (await place.hub.look()).workers
    if words is None:
        if wanted not in team:
            raise UnknownWorker(wanted, known=team)
        return wanted, await place.pane_of(team[wanted]) is not None
    kinds = place.drivers
    if kinds is not None and words.program not in kinds:
        raise UnknownBackend(words.program, known=sorted(kind for kind in kinds if "/" not in kind))
    hire = Hire(
        id=new_id(),
        worker=wanted or words.program,
        backend=words.program,
        directory=str(Path.cwd()),
        model=words.model,
        mode=words.mode or Mode.DEFAULT,
        options={WIRE: TMUX},
    )
    if kinds is None or f"{words.program}/{TMUX}" in kinds:
        try:
            return (await place.hub.send(hire, me("desk"))).worker, True
        except BadInput:
            # A node knows best which wires its agents have.
            if kinds is not None:
                raise
    return (await place.hub.send(replace(hire, options={}), me("desk"))).worker, False


async def _serve(place: RemotePlace, name: str, port: int, key: str) -> int:
    """The worker's conversation over HTTP, and its terminal here."""
    follower = RemoteWorker(place.hub, name, me("desk"), place.terminal)
    await follower.open()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follower.run, name="worker")
        async with listening(follower, port, key) as told:
            pane = await _started(place, follower)
            try:
                await dress(place.tmux, pane, told)
                code = await attach(place.tmux, pane, os.environ)
            except TmuxError as error:
                raise AgentNotStarted(str(error)) from error
        tasks.cancel_scope.cancel()
    return code


@asynccontextmanager
async def listening(follower: RemoteWorker, port: int, key: str) -> AsyncIterator[str]:
    """The remote control beside it, and what a person is told about it. A port that is taken costs that alone."""

    def session(_: object) -> LiveSession:
        return follower.session if key else KeylessSession(follower.session)

    with tempfile.TemporaryDirectory(prefix="farhand-uploads-") as folder:
        async with AsyncExitStack() as stack:
            try:
                opened = await stack.enter_async_context(remote_control(session, port, Path(folder), key))
                told = f"remote control: http://127.0.0.1:{opened}"
            except PortTaken as error:
                told = f"{error.text}: this conversation has no remote control."
            yield told


async def _started(place: RemotePlace, follower: RemoteWorker) -> Pane:
    """The agent's pane, as soon as there is one; the person is asked where the folder has to be trusted before."""
    while True:
        worker = follower.worker
        if worker is None or (worker.why_offline and not worker.relaunching):
            raise AgentNotStarted(worker.why_offline if worker else f"{follower.name} is gone.")
        if (ask := follower.folder_ask) is not None:
            await _ask_about_folder(place, ask)
            await follower.until(lambda: follower.folder_ask is None)
        elif (pane := await place.pane_of(worker)) is not None:
            return pane
        await anyio.sleep(LOOK_SECONDS)


async def _ask_about_folder(place: RemotePlace, ask: Ask) -> None:
    told = "\n".join(["", ask.question, whole(ask), *circumstances(ask)])
    sys.stderr.write(f"{for_terminal(told)}\nTrust it and start? [y/N] ")
    sys.stderr.flush()
    said = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    choice = TRUST if said.strip().lower() in ("y", "yes") else "deny"
    await place.hub.send(Answer(id=new_id(), ask=ask.id, choice=choice), me("desk"))


async def _end(place: RemotePlace, name: str) -> None:
    """Lets the worker go, with its agent; nobody waits for one that does not."""
    with anyio.move_on_after(END_SECONDS, shield=True), suppress(FarhandError):
        accepted = await place.hub.send(End(id=new_id(), worker=name), me("desk"))
        async for event in place.hub.watch(after=accepted.seq - 1):
            if event.worker == name and isinstance(event.fact, Ended):
                return

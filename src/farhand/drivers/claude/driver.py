"""Runs Claude Code: starts it in tmux or finds it there, and opens a link to it."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import anyio.abc
import msgspec
import structlog
from starlette.routing import Route

from farhand.drivers.claude import launch
from farhand.drivers.claude.hands import Hands
from farhand.drivers.claude.launch import MANIFEST, Places
from farhand.drivers.claude.link import InteractiveLink
from farhand.drivers.claude.news import read_standing
from farhand.drivers.claude.questions import Questions
from farhand.drivers.claude.spot import Spot, read_spot
from farhand.drivers.claude.translate import State
from farhand.drivers.wires.handed import Expected, Handed
from farhand.drivers.wires.hooks import POST_PATH, Desk
from farhand.drivers.wires.notify import Folders
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxError, TmuxGone, TmuxRefused
from farhand.drivers.wires.tmux.death import is_over
from farhand.drivers.wires.transcript import size_of
from farhand.drivers.wires.worded import worded
from farhand.model.errors import AgentGone, AgentMissing, DriverError
from farhand.model.facts import SessionKnown
from farhand.model.ports import Can, Heard, Link
from farhand.model.present import Worker
from farhand.model.words import replace

log = structlog.get_logger("claude")


class ClaudeSettings(msgspec.Struct, frozen=True):
    """What the driver must be told by whoever builds the node."""

    node: str
    tmux_prefix: str
    # The node's own folder: a worker's settings and spool are under it.
    folder: Path
    # Where hooks knock, and what runs them.
    socket: Path
    interpreter: str
    hook_program: Path
    # What an agent may find in its environment; secrets of the node are not in it.
    environment: Mapping[str, str]
    # What a session carries beside that, for programs that look for it there.
    session_variables: Mapping[str, str] = {}
    program: str = "claude"
    ask_seconds: float = 3600.0


class Plan(msgspec.Struct, frozen=True):
    """One start of Claude Code."""

    session: str
    words: tuple[str, ...]
    directory: Path
    transcript: Path
    offset: int


class ClaudeDriver:
    """One for a node; all its workers share one tmux client, one inotify and one desk for hooks."""

    backend: str = MANIFEST["backend"]
    can = Can(
        interrupt=True, steer=True, images=True, files=True, models=True, modes=tuple(MANIFEST["modes"]), terminal=True
    )

    def __init__(self, settings: ClaudeSettings, tmux: Tmux) -> None:
        self._settings = settings
        self._tmux = tmux
        self._desk = Desk()
        self._address = ""
        self._folders = Folders()
        self._places = Places.of(settings.environment)

    def routes(self) -> list[Route]:
        """What the node's own socket must serve, so that hooks find their way."""
        return self._desk.routes()

    def open_routes(self, address: str) -> list[Route]:
        """What the node's HTTP listener must serve, and from now on where it listens."""
        self._address = address
        return self._desk.open_routes()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keeps what all workers share open until it is cancelled."""
        async with self._tmux.opened(), self._folders.opened():
            task_status.started()
            await anyio.sleep_forever()

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Finds the worker's Claude Code alive and goes on after the cursor, or starts it."""
        key = launch.kept_key(self._folder(worker) / "key")
        with self._desk.attended(worker.name, key) as arrivals:
            try:
                pane, spot = await self._found_or_started(worker, read_spot(cursor))
            except TmuxError as error:
                raise DriverError(str(error)) from error
            questions = Questions(self._settings.ask_seconds)
            link = InteractiveLink(
                self._tmux, pane, self._places, spot, questions, self._folder(worker), worker.directory
            )
            if spot.state.session != worker.session:
                link.first = [Heard(fact=SessionKnown(session=spot.state.session))]
            with closing(link):
                async with anyio.create_task_group() as tasks:
                    await link.listen(tasks, arrivals, self._folders)
                    yield link
                    tasks.cancel_scope.cancel()

    async def end(self, worker: Worker) -> None:
        """Ends the session and removes what was kept for it."""
        try:
            found = await self._tmux.tagged(self._tag(worker))
            if found is not None:
                await self._tmux.kill(found)
        except TmuxGone:
            log.info("tmux was gone already", worker=worker.name)
        except TmuxError as error:
            raise DriverError(str(error)) from error
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder(worker), ignore_errors=True))

    # --- where things are

    def _tag(self, worker: Worker) -> str:
        return f"{self._settings.node}/{worker.name}/{worker.since}"

    def _folder(self, worker: Worker) -> Path:
        return self._settings.folder / "claude" / f"{worker.name}-{worker.since}"

    def _spool(self, worker: Worker) -> Path:
        return self._folder(worker) / "spool"

    # --- starting and finding

    async def _found_or_started(self, worker: Worker, spot: Spot) -> tuple[Pane, Spot]:
        pane = await self._tmux.tagged(self._tag(worker))
        if pane is not None and not is_over(pane.pid):
            log.info("agent found", worker=worker.name, pane=pane.id)
            return pane, self._expecting(worker, await self._spot_of(worker, pane, spot))
        if pane is not None:
            await self._tmux.kill(pane)
        return await self._start(worker, spot)

    async def _spot_of(self, worker: Worker, pane: Pane, spot: Spot) -> Spot:
        """Where to go on with an agent that runs: after the cursor, or where it was started."""
        if spot.path:
            return spot
        session = read_standing(self._places.status(pane.pid)).session or worker.session
        offset = await self._tmux.variable(pane, "FARHAND_OFFSET") or "0"
        path = self._places.transcript(worker.directory, session)
        expected = Handed(self._folder(worker) / "handed").all()
        state = State(session=session, expected=expected)
        return Spot(path=str(path), offset=int(offset) if offset.isdecimal() else 0, state=state)

    def _expecting(self, worker: Worker, spot: Spot) -> Spot:
        """A message that was on its way when the node died is recognised when it turns up."""
        turn, known = worker.turn, spot.state.expected
        message = turn.message if turn else None
        if (
            turn is None
            or message is None
            or turn.id == spot.state.turn
            or any(one.message == message.id for one in known)
        ):
            return spot
        expected = (*known, Expected(message=message.id, text=worded(message), turn=turn.id))
        return replace(spot, state=replace(spot.state, expected=expected))

    async def _start(self, worker: Worker, spot: Spot) -> tuple[Pane, Spot]:
        plan = self._plan(worker, spot)
        pane = await self._spawn(worker, plan)
        await self._ready(worker, pane)
        known = spot.state if spot.path and spot.state.session == plan.session else State(session=plan.session)
        state = replace(known, running=False)
        return pane, Spot(path=str(plan.transcript), offset=plan.offset, state=state)

    def _plan(self, worker: Worker, spot: Spot) -> Plan:
        """What will be run, where, and from where on its transcript is new; or why it cannot be."""
        directory = Path(worker.directory)
        if not directory.is_dir():
            raise DriverError(f"There is no folder {directory}; {worker.name} cannot work there.")
        program = shutil.which(self._settings.program, path=self._settings.environment.get("PATH"))
        if program is None:
            raise AgentMissing(
                f"There is no '{self._settings.program}' on PATH: npm install -g @anthropic-ai/claude-code",
                program=self._settings.program,
            )
        session = worker.session or str(uuid.uuid4())
        transcript = Path(spot.path) if spot.path else self._places.transcript(str(directory.resolve()), session)
        launch.prepare_account(self._places, self._settings.environment, directory)
        settings, resume = self._write_settings(worker), launch.has_conversation(transcript)
        words = launch.command_line(program, worker.mode, worker.model, settings, session, resume=resume)
        # What was written before this start was told before, unless the cursor says that it was not.
        offset = spot.offset if spot.path else size_of(transcript)
        return Plan(session, tuple(words), directory, transcript, offset)

    def _write_settings(self, worker: Worker) -> Path:
        settings = self._settings
        key = launch.kept_key(self._folder(worker) / "key")
        door = launch.Door(f"{self._address}{POST_PATH}{worker.name}", key) if self._address else None
        groups = launch.hook_groups(settings.interpreter, settings.hook_program, settings.ask_seconds, door)
        path = self._folder(worker) / "settings.json"
        launch.write_settings(path, launch.session_settings(groups))
        return path

    async def _spawn(self, worker: Worker, plan: Plan) -> Pane:
        settings = self._settings
        variables = {
            **settings.environment,
            **settings.session_variables,
            **launch.variables(worker.mode, root=os.geteuid() == 0),
            "WORKER_BACKEND": self.backend,
            "FARHAND_SOCKET": str(settings.socket),
            "FARHAND_WORKER": worker.name,
            "FARHAND_SPOOL": str(self._spool(worker)),
            "FARHAND_ASK_SECONDS": f"{settings.ask_seconds:g}",
            "FARHAND_HOOKS": "session",
            "FARHAND_OFFSET": str(plan.offset),
        }
        name = f"{settings.tmux_prefix}{worker.name}"
        try:
            return await self._tmux.start(name, plan.words, plan.directory, variables, tag=self._tag(worker))
        except TmuxRefused as error:
            if "duplicate session" in error.answer:
                raise DriverError(f"There is a tmux session '{name}' that is not ours; end it or rename it.") from error
            raise

    async def _ready(self, worker: Worker, pane: Pane) -> None:
        """Waits for the input box, through the dialogs of a first run; tells what happened when it does not come."""
        problem: str | None = ""
        async with anyio.create_task_group() as tasks:

            async def died() -> None:
                nonlocal problem
                death = await self._tmux.died(pane)
                problem = f"status {death.status}: {death.screen}"
                tasks.cancel_scope.cancel()

            tasks.start_soon(died)
            problem = await Hands(self._tmux, pane).through_dialogs()
            tasks.cancel_scope.cancel()
        if problem is not None:
            await self._tmux.kill(pane)
            raise AgentGone(f"Claude Code did not start ({problem or 'no reason given'}).")
        log.info("agent started", worker=worker.name, pane=pane.id)

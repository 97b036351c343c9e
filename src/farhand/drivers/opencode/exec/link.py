"""Runs OpenCode as one command a turn: the message on its stdin, the session resumed, each run in a holder."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.opencode import modes, sessions
from farhand.drivers.opencode.exec.translate import RunState, ended, translate_line
from farhand.drivers.opencode.headless.server import QUIET, checked_directory, program
from farhand.drivers.wires.context import USUAL
from farhand.drivers.wires.holder.process import LineSplitter, sentence
from farhand.drivers.wires.text.prompt import worded
from farhand.model.errors import DriverError
from farhand.model.ports import (
    Batch,
    Change,
    Deliver,
    Errand,
    Exit,
    Heard,
    Held,
    Holders,
    Link,
    NotTaken,
    Outcome,
    SessionFound,
    Settle,
    Stop,
    Taken,
)
from farhand.model.present import Worker
from farhand.model.words import HowEnded, Mode, Word, replace

# So many runs are kept to be read again; older ones were told long ago.
KEPT_RUNS = 8
BUSY = "OpenCode runs one command a turn: it takes a message when the turn is over."
CANNOT_ASK = "A run cannot wait for an answer: what would have asked was refused."


class Run(Word):
    """One turn: the holder's name, and whose it is."""

    holder: str
    turn: str
    message: str


class OpenCodeRunCursor(Word):
    """Where a link stands: after so many bytes of a run, or, with `over`, after its end."""

    run: Run | None = None
    offset: int = 0
    over: bool = False
    state: RunState = RunState()


class Runs:
    """The runs of one worker, written down before they begin."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "runs"

    def all(self) -> list[Run]:
        """The newest of them, in order."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[Run])
        except (OSError, msgspec.MsgspecError):
            return []

    def add(self, run: Run, text: str) -> list[Run]:
        """Writes a run and its message down; gives those that need not be kept any more."""
        write_private(self.words(run), text.encode(errors="surrogateescape"))
        every = [*self.all(), run]
        write_private(self._file, msgspec.json.encode(every[-KEPT_RUNS:]))
        return every[:-KEPT_RUNS]

    def words(self, run: Run) -> Path:
        """The file that a run reads its message from."""
        return self._folder / f"{run.holder}.txt"

    def stop(self, run: Run) -> None:
        """Somebody wants it to stop."""
        write_private(self._folder / f"{run.holder}.stop", b"")

    def stopped(self, run: Run) -> bool:
        """Whether somebody wanted it to stop."""
        return (self._folder / f"{run.holder}.stop").exists()


class ExecLink:
    """One worker's runs, one after the other."""

    def __init__(self, driver: ExecDriver, worker: Worker, runs: Runs, spot: OpenCodeRunCursor) -> None:
        self._driver = driver
        self._worker = worker
        self._runs = runs
        self._spot = spot
        self._mode, self._model = worker.mode, worker.model
        self._news = anyio.Event()

    async def facts(self) -> AsyncIterator[Batch]:
        """What each run says, and how it ended."""
        while True:
            run = self._next()
            found = await self._driver.holders.attach(run.holder) if run else None
            if run is None or found is None:
                # Written down and not begun: it begins when its message is delivered, after a kill once more.
                await self._news.wait()
                self._news = anyio.Event()
                continue
            if self._spot.run != run:
                session = self._spot.state.session or self._worker.session
                self._spot = OpenCodeRunCursor(run=run, state=RunState(session=session, message=run.message))
            async with found as held:
                async for batch in self._follow(run, held):
                    yield batch

    def _next(self) -> Run | None:
        """The run to read: the one that is not over, or the next."""
        runs, current = self._runs.all(), self._spot.run
        if current is not None and not self._spot.over:
            return current
        names = [run.holder for run in runs]
        start = names.index(current.holder) + 1 if current and current.holder in names else 0
        return runs[start] if start < len(runs) else None

    async def _follow(self, run: Run, held: Held) -> AsyncIterator[Batch]:
        lines = LineSplitter()
        async for chunk, offset in held.follow(self._spot.offset):
            whole = lines.add(chunk)
            if whole:
                behind = len(chunk) - chunk.rfind(b"\n") - 1
                heard = self._told(run, whole)
                self._spot = replace(self._spot, offset=offset - behind)
                yield self._batch(heard)
        yield self._over(run, await held.wait_exit())

    def _told(self, run: Run, lines: list[bytes]) -> list[Heard]:
        heard: list[Heard] = []
        for line in lines:
            told, state = translate_line(line, self._spot.state)
            self._spot = replace(self._spot, state=state)
            heard += [Heard(fact=fact, turn=run.turn) for fact in told]
        return heard

    def _over(self, run: Run, gone: Exit) -> Batch:
        how, why = HowEnded.FAILED, sentence(gone)
        if self._runs.stopped(run):
            how, why = HowEnded.INTERRUPTED, ""
        elif gone.code == 0:
            how, why = HowEnded.COMPLETED, ""
        facts = ended(self._spot.state, how, why, time.time())
        self._spot = replace(self._spot, over=True)
        return self._batch([Heard(fact=fact, turn=run.turn) for fact in facts])

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=msgspec.json.encode(self._spot).decode())

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Starts a run for a message; one that was started is not started again."""
        match errand:
            case Deliver(joins=True):
                return NotTaken(why=BUSY)
            case Deliver():
                return await self._deliver(errand)
            case Stop(turn=turn):
                return await self._stop(turn)
            case Settle():
                return NotTaken(why=CANNOT_ASK)
            case Change(model=model, mode=mode):
                self._model = model or self._model
                self._mode = Mode(mode) if mode else self._mode
                return Taken()

    async def _deliver(self, errand: Deliver) -> Outcome:
        run = Run(holder=self._driver.holder(self._worker, errand.turn), turn=errand.turn, message=errand.message.id)
        if await self._driver.holders.attach(run.holder) is not None:
            return Taken()
        if run not in self._runs.all():
            for old in self._runs.add(run, worded(errand.message)):
                await self._driver.holders.forget(old.holder)
        pictures = [one.path for one in errand.message.attachments if one.media_type.startswith("image/")]
        words = self._words(pictures)
        try:
            await self._driver.start(self._worker, run, words, self._mode, self._runs.words(run))
        except DriverError:
            if await self._driver.holders.attach(run.holder) is None:
                raise
        self._news.set()
        return Taken()

    def _words(self, pictures: list[str]) -> list[str]:
        session = self._spot.state.session or self._worker.session
        model = ["--model", self._model] if self._model else []
        resumed = ["--session", session] if session else []
        agent = ["--agent", modes.PLAN_AGENT] if self._mode is Mode.PLAN else []
        # It takes every word after it for a file.
        files = ["--file", *pictures] if pictures else []
        return ["run", "--format", "json", "--thinking", *model, *agent, *resumed, *files]

    async def _stop(self, turn: str) -> Outcome:
        run = next((one for one in self._runs.all() if one.turn == turn), None)
        found = await self._driver.holders.attach(run.holder) if run else None
        if run is None or found is None:
            return NotTaken(why="That turn is not running.")
        self._runs.stop(run)
        async with found as held:
            await held.signal("TERM")
        return Taken()


class ExecDriver:
    """One for a node; nothing runs between turns."""

    backend: str = modes.MANIFEST["backend"]
    wire = "exec"
    can = replace(USUAL, models=True, modes=tuple(modes.MANIFEST["modes"]), ids=True)

    def __init__(self, holders: Holders, environment: Mapping[str, str], folder: Path) -> None:
        self.holders = holders
        self._environment = environment
        self._folder = folder
        self._database = sessions.database(environment)

    def folder(self, worker: Worker) -> Path:
        """What is kept for a worker."""
        return self._folder / f"{worker.name}-{worker.since}"

    def holder(self, worker: Worker, turn: str) -> str:
        """The name of a turn's holder."""
        short = hashlib.sha256(turn.encode(errors="surrogatepass")).hexdigest()[:12]
        return f"{worker.name}-{worker.since}.{short}"

    async def start(self, worker: Worker, run: Run, words: list[str], mode: Mode, message: Path) -> None:
        """Starts a run that reads its message from that file: as an argument it would arrive in quotes."""
        directory = checked_directory(worker)
        argv = ["/bin/sh", "-c", 'exec "$@" < "$0"', str(message), program(self._environment), *words]
        environment = {**self._environment, **QUIET, **modes.variables(mode)}
        await self.holders.start(run.holder, argv, cwd=Path(directory), environment=environment)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Goes on after the cursor; there is nothing to start before somebody speaks."""
        checked_directory(worker)
        program(self._environment)
        yield ExecLink(self, worker, Runs(self.folder(worker)), _spot(cursor))

    async def end(self, worker: Worker) -> None:
        """Ends a run that is left, and removes what was kept."""
        for name in await self.holders.names():
            if name.rpartition(".")[0] == f"{worker.name}-{worker.since}":
                await self.holders.forget(name)
        folder = self.folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))

    async def sessions(self, directory: str) -> list[SessionFound]:
        """OpenCode's conversations of that folder, or of every folder for "", newest first."""
        return await anyio.to_thread.run_sync(sessions.sessions, self._database, directory)

    def resume_command(self, worker: Worker) -> str:
        """The shell command that goes on with the worker's session at the desk."""
        return sessions.resume_command(worker)


def _spot(cursor: str) -> OpenCodeRunCursor:
    try:
        return msgspec.json.decode(cursor, type=OpenCodeRunCursor) if cursor else OpenCodeRunCursor()
    except msgspec.MsgspecError:
        return OpenCodeRunCursor()

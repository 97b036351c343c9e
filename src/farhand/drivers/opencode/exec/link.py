"""A link to a worker that runs a process a turn: errands start or stop a run, facts are its lines and its end."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.exec.state import OpenCodeRun, OpenCodeRunCursor, OpenCodeRunLog, OpenCodeRunState
from farhand.drivers.opencode.exec.translate import ended, translate_line
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.holder.process import LineSplitter, sentence
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.model.errors import DriverError
from farhand.model.folder_trust import FolderNotTrusted
from farhand.model.holder_ports import Exit, Held, Holders
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop, Taken
from farhand.model.present import Worker
from farhand.model.words import HowEnded, Mode, replace

BUSY = "OpenCode runs one command a turn: it takes a message when the turn is over."
CANNOT_ASK = "A run cannot wait for an answer: what would have asked was refused."


class RunProcesses:
    """The processes of one worker's runs, each in a holder."""

    def __init__(self, holders: Holders, worker: Worker, environment: Mapping[str, str]) -> None:
        self._holders = holders
        self._worker = worker
        self._environment = environment
        self._prefix = worker.hiring_id

    def run_of(self, errand: Deliver) -> OpenCodeRun:
        """The run for a message; it has the same name however often it is delivered."""
        short = hashlib.sha256(errand.turn.encode(errors="surrogatepass")).hexdigest()[:12]
        return OpenCodeRun(holder=f"{self._prefix}.{short}", turn=errand.turn, message=errand.message.id)

    async def find(self, run: OpenCodeRun) -> AbstractAsyncContextManager[Held] | None:
        """The process of that run, if it was started."""
        return await self._holders.attach(run.holder)

    async def start(self, run: OpenCodeRun, command: list[str], mode: Mode, message: Path) -> None:
        """Starts a run, or finds it started."""
        # Over its standard input: as an argument the message would arrive in quotes.
        argv = ["/bin/sh", "-c", 'exec "$@" < "$0"', str(message), launch.program(self._environment), *command]
        directory = Path(launch.directory_of(self._worker))
        environment = {**self._environment, **launch.variables(mode, self._environment)}
        try:
            await self._holders.start(run.holder, argv, cwd=directory, environment=environment)
        except DriverError:
            if await self.find(run) is None:
                raise

    async def forget(self, run: OpenCodeRun) -> None:
        """Removes what is left of a run."""
        await self._holders.forget(run.holder)

    async def end(self) -> None:
        """Ends what still runs, and removes what is left of every run."""
        for name in await self._holders.names():
            if name.rpartition(".")[0] == self._prefix:
                await self._holders.forget(name)


class OpenCodeExecLink:
    """One worker's runs, one after the other."""

    def __init__(
        self,
        processes: RunProcesses,
        worker: Worker,
        runs: OpenCodeRunLog,
        cursor: OpenCodeRunCursor,
        may_start: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._processes = processes
        self._worker = worker
        self._runs = runs
        self._cursor = cursor
        # Asked before every run: each reads the folder anew.
        self._may_start = may_start
        self._mode, self._model, self._effort = worker.mode, worker.model, worker.effort
        self._started = anyio.Event()

    @property
    def _session(self) -> str:
        return self._cursor.state.session or self._worker.session

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """The lines of each run, and how it ended."""
        while True:
            run = self._next()
            found = await self._processes.find(run) if run else None
            if run is None or found is None:
                # Written down and not begun: it begins when its message is delivered, after a kill once more.
                await self._started.wait()
                self._started = anyio.Event()
                continue
            if self._cursor.run != run:
                state = OpenCodeRunState(session=self._session, message=run.message)
                self._cursor = OpenCodeRunCursor(run=run, state=state)
            async with found as held:
                async for batch in self._follow(run, held):
                    yield batch

    def _next(self) -> OpenCodeRun | None:
        """The run to read: the one that is not over, or the next."""
        current = self._cursor.run
        return current if current is not None and not self._cursor.over else self._runs.after(current)

    async def _follow(self, run: OpenCodeRun, held: Held) -> AsyncIterator[Batch]:
        lines = LineSplitter()
        async for chunk, offset in held.follow(self._cursor.offset):
            whole = lines.add(chunk)
            if whole:
                heard = self._translate(run, whole)
                unfinished = len(chunk) - chunk.rfind(b"\n") - 1
                self._cursor = replace(self._cursor, offset=offset - unfinished)
                yield self._batch(heard)
        yield self._over(run, await held.wait_exit())

    def _translate(self, run: OpenCodeRun, lines: list[bytes]) -> list[Heard]:
        heard: list[Heard] = []
        for line in lines:
            facts, state = translate_line(line, self._cursor.state)
            self._cursor = replace(self._cursor, state=state)
            heard += [Heard(fact=fact, turn=run.turn) for fact in facts]
        return heard

    def _over(self, run: OpenCodeRun, process: Exit) -> Batch:
        how, why = HowEnded.FAILED, sentence(process)
        if self._runs.is_stopped(run):
            how, why = HowEnded.INTERRUPTED, ""
        elif process.code == 0:
            how, why = HowEnded.COMPLETED, ""
        facts = ended(self._cursor.state, how, why, time.time())
        self._cursor = replace(self._cursor, over=True)
        return self._batch([Heard(fact=fact, turn=run.turn) for fact in facts])

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._cursor))

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
            case Change(model=model, mode=mode, effort=effort):
                self._model, self._effort = model or self._model, effort or self._effort
                self._mode = Mode(mode) if mode else self._mode
                return Taken()

    async def _deliver(self, errand: Deliver) -> Outcome:
        run = self._processes.run_of(errand)
        if await self._processes.find(run) is not None:
            return Taken()
        try:
            if self._may_start is not None:
                await self._may_start()
        except FolderNotTrusted as untrusted:
            return NotTaken(why=untrusted.not_run)
        if run not in self._runs.all():
            for old in self._runs.add(run, prompt_text(errand.message)):
                await self._processes.forget(old)
        pictures = [one.path for one in errand.message.attachments if one.media_type.startswith("image/")]
        command = launch.turn_arguments(self._mode, self._model, self._session, pictures, self._effort)
        await self._processes.start(run, command, self._mode, self._runs.message_file(run))
        self._started.set()
        return Taken()

    async def _stop(self, turn: str) -> Outcome:
        run = self._runs.of_turn(turn)
        found = await self._processes.find(run) if run else None
        if run is None or found is None:
            return NotTaken(why="That turn is not running.")
        self._runs.add_stop(run)
        async with found as held:
            await held.signal("TERM")
        return Taken()

"""An agent that runs a CLI process for each turn: its queue of prompts, how a turn is stopped, how output is read."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, TypeAlias

from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.lines.async_agent import LINE_LIMIT, AsyncAgent, read_lines
from farhand.drivers.wires.lines.stop_process import end, stop

GRACE_SECONDS = 5.0
ERROR_BYTES = 64 * 1024
# The lines of the line protocol that one line of a CLI's output means.
TranslateOutput: TypeAlias = Callable[[bytes], list[JsonObject]]


class ExecTurn:
    """One turn: the prompt, the mode, model and effort it runs with, and the process that runs it."""

    def __init__(
        self, prompt: AgentPrompt, mode: str, model: str, write: Callable[[JsonObject], None], effort: str = ""
    ) -> None:
        self.prompt = prompt
        self.mode = mode
        self.model = model
        self.effort = effort
        self.process: Process | None = None
        self.stopped = False
        self.ended = False
        self._write = write

    def write(self, line: JsonObject) -> None:
        """Writes a line; the end of a turn that was stopped is written by whoever stopped it."""
        if "ended" not in line:
            self._write(line)
        elif not self.stopped:
            self.ended = True
            self._write(line)

    async def run(self, words: Sequence[str], given: bytes | None, translate: TranslateOutput) -> tuple[int, str]:
        """Runs the CLI to its end, writing what its output means; returns its exit code and the end of its stderr."""
        source = DEVNULL if given is None else PIPE
        process = self.process = await asyncio.create_subprocess_exec(
            *words, stdin=source, stdout=PIPE, stderr=PIPE, limit=LINE_LIMIT
        )
        errors = asyncio.create_task(last_errors(process.stderr), name="errors")
        if process.stdin is not None and given is not None:
            with suppress(OSError):
                process.stdin.write(given)
                await process.stdin.drain()
            process.stdin.close()
        while process.stdout is not None and (line := await process.stdout.readline()):
            for one in translate(line) if line.startswith(b"{") else ():
                self.write(one)
        return await process.wait(), await errors


class ExecCli(Protocol):
    """How one CLI plays a turn."""

    @property
    def title(self) -> str:
        """What a person calls it."""
        ...

    async def play(self, turn: ExecTurn) -> str:
        """Runs the turn; why it ended, in case that the output did not say."""
        ...


class ExecAgent:
    """One session of a CLI behind the line protocol: a process for each prompt, one after the other."""

    def __init__(
        self, cli: ExecCli, mode: str, model: str, write: Callable[[JsonObject], None], effort: str = ""
    ) -> None:
        self._cli = cli
        self._mode, self._model, self._effort = mode, model, effort
        self._write = write
        self._turn: ExecTurn | None = None
        # Turns that are to stop before they have begun.
        self._stopped: set[str] = set()

    async def run(self) -> int:
        """Plays prompts until the input ends; leaves no process behind."""
        try:
            await AsyncAgent(self._play, self._take, self._write).run(read_lines(0))
        finally:
            await end(self._turn.process if self._turn else None)
        return 0

    async def _play(self, prompt: AgentPrompt) -> None:
        turn = self._turn = ExecTurn(prompt, self._mode, self._model, self._write, self._effort)
        turn.stopped = prompt.id in self._stopped
        try:
            why = "" if turn.stopped else await self._cli.play(turn)
        except OSError as error:
            why = f"{self._cli.title} cannot be started: {error}"
        if turn.stopped:
            self._write({"ended": prompt.id, "how": "interrupted"})
        elif not turn.ended:
            self._write({"ended": prompt.id, "how": "failed", "error": why})
        self._stopped.discard(prompt.id)
        self._turn = None

    async def _take(self, fields: JsonObject) -> bool:
        """A line that comes while a turn runs; false for one that is not known."""
        match fields:
            case {"interrupt": str(name)}:
                self._stopped.add(name)
                if self._turn is not None and name == self._turn.prompt.id:
                    self._turn.stopped = True
                    stop(self._turn.process, GRACE_SECONDS)
            case {"change": _}:
                self._model = str(fields.get("model") or self._model)
                self._mode = str(fields.get("mode") or self._mode)
                self._effort = str(fields.get("effort") or self._effort)
            case {"answer": str(), "choice": str()}:
                pass
            case _:
                return False
        return True


async def last_errors(stream: asyncio.StreamReader | None) -> str:
    """The end of what a CLI writes to stderr."""
    last = b""
    while stream is not None and (piece := await stream.read(65536)):
        last = (last + piece)[-ERROR_BYTES:]
    return last.decode("utf-8", "replace")

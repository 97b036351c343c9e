"""Turns that are a process each: what comes while one runs, how it is stopped, and what it said at the end."""

from __future__ import annotations

import argparse
import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from farhand.drivers.wires.lines.async_agent import AsyncAgent, read_lines
from farhand.drivers.wires.lines.stop_process import end, stop

Line = dict[str, Any]
GRACE_SECONDS = 5.0
ERRORS_KEPT = 64 * 1024


class ExecAgent:
    """One session of a CLI: a process for each prompt, one after the other. Playing one is the CLI's own."""

    def __init__(self, options: argparse.Namespace, write: Callable[[Line], None]) -> None:
        self._program: str = options.program
        self._mode, self._model = str(options.mode), str(options.model)
        self._write = write
        self._running = ""
        self._stopped: set[str] = set()
        self._process: asyncio.subprocess.Process | None = None

    @abstractmethod
    async def play(self, prompt: Line) -> None:
        """One turn, from the prompt to its end."""

    async def take(self, said: Line) -> bool:
        """What comes while a turn runs; false for a line that is not known."""
        match said:
            case {"interrupt": str(prompt)}:
                self._stopped.add(prompt)
                if prompt == self._running:
                    stop(self._process, GRACE_SECONDS)
            case {"change": _}:
                self._model = str(said.get("model") or self._model)
                self._mode = str(said.get("mode") or self._mode)
            case {"answer": str(), "choice": str()}:
                pass
            case _:
                return False
        return True

    def _tell(self, told: list[Line]) -> None:
        """What the CLI said; of a turn that was stopped, its end is told by whoever stopped it."""
        for one in told:
            if "ended" not in one or self._running not in self._stopped:
                self._write(one)

    async def heard(self) -> int:
        """Plays prompts until the input ends; leaves no process behind."""
        try:
            await AsyncAgent(self.play, self.take, self._write).run(read_lines(0))
        finally:
            await end(self._process)
        return 0


async def last_errors(stream: asyncio.StreamReader | None) -> str:
    """The end of what a CLI says on stderr."""
    kept = b""
    while stream is not None and (piece := await stream.read(65536)):
        kept = (kept + piece)[-ERRORS_KEPT:]
    return kept.decode("utf-8", "replace")

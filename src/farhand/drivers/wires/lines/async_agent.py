"""The agent's side of the line protocol on an event loop: prompts one after the other, everything else at once."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Line = dict[str, Any]
LINE_LIMIT = 2**26


class AsyncAgent:
    """Hears lines: prompts are played in turn, other lines are taken as they come, unknown ones are told."""

    def __init__(
        self,
        play: Callable[[Line], Awaitable[None]],
        take: Callable[[Line], Awaitable[bool]],
        write: Callable[[Line], None],
    ) -> None:
        self._play = play
        self._take = take
        self._write = write
        self._prompts: asyncio.Queue[Line | None] = asyncio.Queue()

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Works until the input has ended and every prompt is played."""
        hearing = asyncio.create_task(self._hear(lines), name="hear")
        try:
            while (prompt := await self._prompts.get()) is not None:
                await self._play(prompt)
        finally:
            hearing.cancel()
            await asyncio.wait([hearing])

    async def _hear(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
            try:
                said = json.loads(line)
            except (ValueError, RecursionError):
                said = None
            match said:
                case {"prompt": str(), "text": str()}:
                    self._prompts.put_nowait(said)
                case dict() if await self._take(said):
                    pass
                case _:
                    self._write({"problem": "", "text": f"No such line is known: {line[:200]!r}"})
        self._prompts.put_nowait(None)


async def read_lines(descriptor: int) -> AsyncIterator[bytes]:
    """The lines of a pipe, as they come; at its end no more."""
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    with os.fdopen(os.dup(descriptor), "rb") as pipe:
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
        try:
            while line := await reader.readline():
                yield line
        finally:
            transport.close()


def write_line(line: Line) -> None:
    """One line on stdout, whole."""
    data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]

"""The agent's side of the line protocol on an event loop: prompts are queued, all other lines are taken at once."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable

from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt, decode_line, read_prompt, unknown_line

LINE_LIMIT = 2**26


class AsyncAgent:
    """Reads lines: prompts are played one after the other, other lines are taken as they come."""

    def __init__(
        self,
        play: Callable[[AgentPrompt], Awaitable[None]],
        take: Callable[[JsonObject], Awaitable[bool]],
        write: Callable[[JsonObject], None],
    ) -> None:
        self._play = play
        self._take = take
        self._write = write
        self._prompts: asyncio.Queue[AgentPrompt | None] = asyncio.Queue()

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Works until the input has ended and every prompt is played."""
        reader = asyncio.create_task(self._read(lines), name="read lines")
        try:
            while (prompt := await self._prompts.get()) is not None:
                await self._play(prompt)
        finally:
            reader.cancel()
            await asyncio.wait([reader])

    async def _read(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
            fields = decode_line(line)
            prompt = read_prompt(fields)
            if prompt is not None:
                self._prompts.put_nowait(prompt)
            elif fields is None or not await self._take(fields):
                self._write(unknown_line("", line))
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


def write_line(line: JsonObject) -> None:
    """One line on stdout, whole."""
    data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]

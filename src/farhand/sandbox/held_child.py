"""The node's side of a holder: follows, feeds and ends a child that another process owns."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.buffered import BufferedByteReceiveStream

from farhand.model.errors import DriverError, TooLarge
from farhand.model.holder_ports import Exit, Fed
from farhand.model.words import Word
from farhand.sandbox.connection import HolderConnection
from farhand.sandbox.feed_tap import FEEDS
from farhand.sandbox.folder import Folder
from farhand.sandbox.sweep import sweep

CHUNK = 64 * 1024
LINE_LIMIT = 64 * 1024
FEED_LIMIT = 64 * 1024 * 1024
LOST = "The holder of this agent was killed, and the agent with it."


class HolderStatus(Word):
    """How a held child is; `trouble` says why its output cannot be written down."""

    pid: int
    alive: bool
    code: int | None = None
    signal: int | None = None
    size: int = 0
    trouble: str = ""


class NoHolder(Exception):
    """Nobody answers at the socket, or whoever did is gone."""


class HeldChild:
    """A child in its holder, alive or not. Each operation has its own connection, so that none waits for another."""

    def __init__(self, folder: Folder, on_ended: Callable[[], Awaitable[None]] | None = None) -> None:
        self._folder = folder
        # What must follow when the child was ended, or lost with its holder.
        self._on_ended = on_ended

    async def follow(self, offset: int) -> AsyncIterator[tuple[bytes, int]]:
        """The child's output from that byte on: each piece with the offset after it. Ends with the child."""
        over = False
        while not over:
            try:
                async for chunk in self._stream(offset):
                    offset += len(chunk)
                    yield chunk, offset
            except NoHolder:
                over = True
            over = over or self._folder.exit() is not None
        for chunk in self._folder.output(offset):
            offset += len(chunk)
            yield chunk, offset
            await anyio.lowlevel.checkpoint()

    async def release(self, offset: int) -> None:
        """Gives the room of the output before that byte back to the disk; offsets stay as they are."""
        await anyio.to_thread.run_sync(self._folder.release, offset)

    async def feed(self, key: str, data: bytes) -> Fed:
        """Writes the bytes to the child's input, once for each key however often it is asked.

        Waits while the child does not read. Cancelled, it takes the bytes back if none of them was written.
        """
        if len(data) > FEED_LIMIT:
            raise TooLarge("The input for the agent", FEED_LIMIT)
        # Before it is written: the answer to it is shown below it.
        FEEDS.tell(self._folder.path, data)
        try:
            return _feed_outcome(await self._request_reply({"op": "feed", "id": key, "size": len(data)}, data))
        except NoHolder:
            return self._folder.feed_outcome(key)

    async def fed(self, key: str) -> Fed:
        """The outcome of a feed, without feeding; waits for one that is in progress."""
        try:
            return _feed_outcome(await self._request_reply({"op": "fed", "id": key}))
        except NoHolder:
            return self._folder.feed_outcome(key)

    async def signal(self, name: str) -> None:
        """Sends a signal such as INT to the child's process group; nothing when it is gone."""
        await self._request_if_held({"op": "signal", "name": name})

    async def close(self) -> None:
        """Ends the child's input."""
        await self._request_if_held({"op": "close"})

    async def status(self) -> HolderStatus:
        """How it is now; from its files when the holder is gone."""
        try:
            return HolderStatus(**(await self._request_reply({"op": "status"}))["status"])
        except NoHolder:
            life, ended = self._folder.life(), self._folder.exit() or Exit()
            pid = life.child if life else 0
            return HolderStatus(pid=pid, alive=False, code=ended.code, signal=ended.signal, size=self._folder.size())

    async def end(self, grace_seconds: float = 5.0) -> None:
        """Ends the child and its holder, and whatever a killed holder left of it."""
        try:
            async with await self._connect() as stream:
                await _request(stream, {"op": "end", "grace_seconds": grace_seconds})
                while True:
                    await stream.receive(CHUNK)
        except (NoHolder, anyio.EndOfStream, anyio.BrokenResourceError):
            self._sweep()
        if self._on_ended is not None:
            await self._on_ended()

    async def ended(self) -> Exit | None:
        """How the child ended, without waiting; None while it lives, or when its holder was killed."""
        return self._folder.exit()

    async def wait_exit(self) -> Exit:
        """Returns when the child is gone."""
        await self._request_if_held({"op": "wait"})
        ended = self._folder.exit()
        if ended is None:
            self._sweep()
            if self._on_ended is not None:
                await self._on_ended()
            ended = Exit(errors="\n".join(filter(None, (self._folder.errors(), LOST))))
        return ended

    def _sweep(self) -> None:
        life = self._folder.life()
        if life is not None and self._folder.exit() is None:
            sweep(life)

    async def _stream(self, offset: int) -> AsyncIterator[bytes]:
        async with await self._connect() as stream:
            _, rest = await _request(stream, {"op": "follow", "from": offset})
            if rest:
                yield rest
            try:
                while True:
                    yield await stream.receive(CHUNK)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return

    async def _request_if_held(self, request: dict[str, Any]) -> None:
        try:
            await self._request_reply(request)
        except NoHolder:
            return

    async def _request_reply(self, request: dict[str, Any], data: bytes = b"") -> dict[str, Any]:
        async with await self._connect() as stream:
            return (await _request(stream, request, data))[0]

    async def _connect(self) -> HolderConnection:
        try:
            return await HolderConnection.to(self._folder.socket)
        except (FileNotFoundError, ConnectionError):
            raise NoHolder from None


async def _request(
    stream: HolderConnection, request: dict[str, Any], data: bytes = b""
) -> tuple[dict[str, Any], bytes]:
    """The answer, and what came behind it."""
    buffered = BufferedByteReceiveStream(stream)
    try:
        # A holder that hangs up has said why before.
        with suppress(anyio.BrokenResourceError):
            await stream.send(json.dumps(request).encode() + b"\n" + data)
        line = await buffered.receive_until(b"\n", LINE_LIMIT)
    except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead):
        raise NoHolder from None
    reply: dict[str, Any] = json.loads(line)
    if "error" in reply:
        raise DriverError(f"The holder refused '{request['op']}': {reply['error']}.")
    return reply, buffered.buffer


def _feed_outcome(reply: dict[str, Any]) -> Fed:
    return Fed(reply["fate"] if reply["reply"] == "gone" else reply["reply"])

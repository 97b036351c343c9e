"""Pairs of byte streams that a connection can run over: standard input and output, a child process, memory."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

CHUNK_BYTES = 65_536
ERRORS_KEPT_BYTES = 16_384
GRACE_SECONDS = 5.0


class ByteStream(Protocol):
    """Bytes in and bytes out. `receive` returns nothing at the end; `send` raises OSError when nobody reads."""

    async def receive(self) -> bytes: ...
    async def send(self, data: bytes) -> None: ...


class PipeStream:
    """A reader and a writer of asyncio as one stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> bytes:
        """What came; nothing at the end."""
        return await self._reader.read(CHUNK_BYTES)

    async def send(self, data: bytes) -> None:
        """Writes, and waits while the other side is slow."""
        if self._writer.is_closing():
            raise BrokenPipeError("the pipe is closed")
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        """Closes the writing side."""
        self._writer.close()


class FileStream:
    """Two descriptors that are no pipes (files, a terminal): read and written in threads."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink

    async def receive(self) -> bytes:
        """What came; nothing at the end."""
        import anyio.to_thread

        return await anyio.to_thread.run_sync(os.read, self._source, CHUNK_BYTES, abandon_on_cancel=True)

    async def send(self, data: bytes) -> None:
        """Writes all of it."""
        import anyio.to_thread

        while data:
            data = data[await anyio.to_thread.run_sync(os.write, self._sink, data) :]


class MemoryStream:
    """One end of a pair in one process; what is sent at one end is received at the other."""

    def __init__(self) -> None:
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1000)
        self.other = self
        self._closed = False

    async def receive(self) -> bytes:
        """What the other end sent; nothing after it was closed."""
        if self._closed and self._arrived.empty():
            return b""
        return await self._arrived.get()

    async def send(self, data: bytes) -> None:
        """Brings bytes to the other end."""
        if self._closed:
            raise BrokenPipeError("the stream is closed")
        await self.other._arrived.put(data)

    async def close(self) -> None:
        """Ends both directions."""
        for end in (self, self.other):
            if not end._closed:
                end._closed = True
                await end._arrived.put(b"")


def memory_pair() -> tuple[MemoryStream, MemoryStream]:
    """Two ends that are joined."""
    one, two = MemoryStream(), MemoryStream()
    one.other, two.other = two, one
    return one, two


@asynccontextmanager
async def standard_streams() -> AsyncGenerator[ByteStream]:
    """This process's own input and output, for the connection alone.

    Whatever else reads input finds none, and whatever else prints, prints to the error output: a stray `print` in a
    tool would otherwise break the protocol.
    """
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    kept = os.dup(0), os.dup(1)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    os.close(empty)
    try:
        if _is_pipe(source) and _is_pipe(sink):
            async with _pipes(source, sink) as stream:
                yield stream
        else:
            with os.fdopen(source, "rb"), os.fdopen(sink, "wb"):
                yield FileStream(source, sink)
    finally:
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@asynccontextmanager
async def _pipes(source: int, sink: int) -> AsyncGenerator[PipeStream]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with os.fdopen(source, "rb") as incoming, os.fdopen(sink, "wb") as outgoing:
        reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
        writing, protocol = await loop.connect_write_pipe(lambda: asyncio.streams.FlowControlMixin(loop=loop), outgoing)
        stream = PipeStream(reader, asyncio.StreamWriter(writing, protocol, None, loop))
        try:
            yield stream
        finally:
            reading.close()
            stream.close()


class ProcessStream(PipeStream):
    """A child process as a stream; `errors` is the end of what it printed to its error output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        reader, writer, errors = process.stdout, process.stdin, process.stderr
        if reader is None or writer is None or errors is None:
            raise ValueError("the process was started without pipes")
        super().__init__(reader, writer)
        self.process = process
        self._error_output = errors
        self._errors = bytearray()

    @property
    def errors(self) -> str:
        """The end of its error output."""
        return self._errors.decode(errors="replace")

    async def keep_errors(self) -> None:
        """Reads the error output, so that the child never waits for a reader of it."""
        while piece := await self._error_output.read(CHUNK_BYTES):
            self._errors += piece
            del self._errors[:-ERRORS_KEPT_BYTES]


@asynccontextmanager
async def spawn(
    argv: Sequence[str],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    own_group: bool = True,
) -> AsyncGenerator[ProcessStream]:
    """Starts a program in a process group of its own, and ends the whole group when the block is left.

    With `own_group=False` it stays in ours: whoever ends us ends it, too.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=own_group
    )
    stream = ProcessStream(process)
    errors = asyncio.create_task(stream.keep_errors(), name="error output")
    try:
        yield stream
    finally:
        stream.close()
        await _end(process, own_group=own_group)
        errors.cancel()
        await asyncio.wait([errors])


async def _end(process: asyncio.subprocess.Process, *, own_group: bool) -> None:
    """The child sees its input end; one that stays is told to go, then made to."""
    import anyio

    with anyio.CancelScope(shield=True):
        for signal_number in (None, signal.SIGTERM):
            if signal_number is not None:
                _signal(process, signal_number, own_group=own_group)
            with anyio.move_on_after(GRACE_SECONDS):
                await process.wait()
                break
        _signal(process, signal.SIGKILL, own_group=own_group)
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


def _signal(process: asyncio.subprocess.Process, number: signal.Signals, *, own_group: bool) -> None:
    with suppress(ProcessLookupError):
        if own_group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)

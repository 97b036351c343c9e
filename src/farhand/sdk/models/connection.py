"""HTTP/1.1 to a model's server on asyncio alone: to load a library for it would cost more than the turn that waits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol
from urllib.parse import urlsplit

CONNECT_SECONDS = 30.0
# How long one of a server's addresses is tried before the next one is tried beside it.
EYEBALLS_SECONDS = 0.25
# For the lines of a head and of a chunk; bodies are of any length.
LINE_BYTES = 256 * 1024
_PIECE_BYTES = 64 * 1024
_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")
_EMPTY = frozenset({204, 304})


class HttpFailed(Exception):
    """The server was not reached, or what it sent is no answer; repeating helps unless the request itself is wrong."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class HttpAnswer(Protocol):
    """An answer whose head has come and whose body comes as it is read."""

    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...
    async def aread(self) -> bytes: ...
    async def aclose(self) -> None: ...


class HttpClient(Protocol):
    """Posts to servers and keeps connections to them. Raises HttpFailed, also while an answer is read."""

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> HttpAnswer: ...
    async def close(self) -> None: ...


class DirectClient:
    """The connections of one event loop, kept open between requests."""

    def __init__(self, timeout_seconds: float, tls: Callable[[], Any]) -> None:
        self._timeout_seconds = timeout_seconds
        self._tls = tls
        self.idle: dict[tuple[str, str, int], list[Connection]] = {}
        self._closed = False

    async def post(self, url: str, content: bytes, headers: Mapping[str, str]) -> DirectAnswer:
        """Sends a body; the answer's head has come when this returns."""
        with _failing():
            parts = urlsplit(url)
            host = parts.hostname or ""
            if parts.scheme not in ("http", "https") or not host:
                raise HttpFailed(f"{url!r} is no address of a server", retryable=False)
            path = f"{parts.path or '/'}?{parts.query}".rstrip("?")
            head = _head(parts.netloc.rpartition("@")[2], path, content, headers)
            server = (parts.scheme, host, parts.port or (443 if parts.scheme == "https" else 80))
            kept = self._take_idle(server)
            if kept is not None:
                # The server may hang up at the very moment; then it has not read the request.
                with suppress(ConnectionError, asyncio.IncompleteReadError):
                    return await self._ask(server, kept, head + content)
            return await self._ask(server, await self._opened(*server), head + content)

    async def _ask(self, server: tuple[str, str, int], connection: Connection, request: bytes) -> DirectAnswer:
        try:
            return await connection.ask(request, lambda: self._keep(server, connection))
        except BaseException:
            connection.close()
            raise

    def _take_idle(self, server: tuple[str, str, int]) -> Connection | None:
        idle = self.idle.get(server, [])
        while idle:
            connection = idle.pop()
            if connection.is_fit:
                return connection
            connection.close()
        return None

    def _keep(self, server: tuple[str, str, int], connection: Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self.idle.setdefault(server, []).append(connection)

    async def _opened(self, scheme: str, host: str, port: int) -> Connection:
        async with asyncio.timeout(CONNECT_SECONDS):
            loop = asyncio.get_running_loop()
            reader = _Incoming(limit=LINE_BYTES, loop=loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
            tls = self._tls() if scheme == "https" else None
            transport, _ = await loop.create_connection(
                lambda: protocol, host, port, ssl=tls, happy_eyeballs_delay=EYEBALLS_SECONDS
            )
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        return Connection(reader, writer, self._timeout_seconds)

    async def close(self) -> None:
        """Closes what is kept open."""
        self._closed = True
        idle, self.idle = self.idle, {}
        for each in idle.values():
            for connection in each:
                connection.close()
        # So that the transports hear of it while their loop runs.
        await asyncio.sleep(0)


class _Incoming(asyncio.StreamReader):
    """What comes in; knows how much of it nobody has read."""

    unread = 0

    def feed_data(self, data: Any) -> None:
        self.unread += len(data)
        super().feed_data(data)

    async def read(self, n: int = -1) -> bytes:
        found = await super().read(n)
        self.unread -= len(found)
        return found

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        found = await super().readuntil(separator)
        self.unread -= len(found)
        return found


class Connection:
    """One connection, which answers one request at a time."""

    def __init__(self, reader: _Incoming, writer: asyncio.StreamWriter, timeout_seconds: float) -> None:
        self.reader = reader
        self._writer = writer
        self.timeout_seconds = timeout_seconds

    @property
    def is_fit(self) -> bool:
        """Whether a request may be sent: the server has neither hung up nor said anything unasked."""
        return not (self.reader.unread or self.reader.at_eof() or self._writer.is_closing())

    async def ask(self, request: bytes, give_back: Callable[[], None]) -> DirectAnswer:
        """Sends a request and reads the head of its answer."""
        async with asyncio.timeout(self.timeout_seconds):
            self._writer.write(request)
            # A server that refuses a body may answer before it has read it.
            with suppress(ConnectionError):
                await self._writer.drain()
            status, headers = await self._read_head()
        return DirectAnswer(self, status, headers, give_back)

    async def _read_head(self) -> tuple[int, dict[str, str]]:
        while True:
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
            found = _STATUS.fullmatch(first)
            if found is None:
                raise HttpFailed("what the server sent is no HTTP")
            status = int(found[1])
            # Only a final answer counts; we ask for no other protocol.
            if status >= 200:
                return status, _headers(lines)

    def close(self) -> None:
        """Hangs up at once."""
        self._writer.transport.abort()


class DirectAnswer:
    """The answer to one request. Read to its end, its connection can be used again; closed before, it cannot."""

    def __init__(
        self, connection: Connection, status_code: int, headers: dict[str, str], give_back: Callable[[], None]
    ) -> None:
        self.status_code = status_code
        self.headers = headers
        self._connection = connection
        self._give_back = give_back
        self._is_chunked = _is_chunked(headers)
        # What is left of the body, or of its chunk; None when only the end of the connection ends it.
        self._left: int | None = 0 if self._is_chunked or status_code in _EMPTY else _length(headers)
        self._ended = False

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body, in pieces as they come."""
        return self

    def __aiter__(self) -> DirectAnswer:
        return self

    async def __anext__(self) -> bytes:
        with _failing():
            piece = b"" if self._ended else await self._piece()
        if not piece:
            self._ended = True
            raise StopAsyncIteration
        return piece

    async def aread(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self])

    async def aclose(self) -> None:
        """Done with it."""
        is_kept = self._ended and self._left is not None and "close" not in self.headers.get("connection", "").lower()
        if is_kept and self._connection.is_fit:
            self._give_back()
        else:
            self._connection.close()

    async def _piece(self) -> bytes:
        if self._is_chunked and not self._left:
            self._left = await self._chunk_size()
        if self._left == 0:
            return b""
        async with asyncio.timeout(self._connection.timeout_seconds):
            piece = await self._connection.reader.read(min(self._left or _PIECE_BYTES, _PIECE_BYTES))
        if self._left is None:
            return piece
        if not piece:
            raise HttpFailed("the server hung up in the middle of its answer")
        self._left -= len(piece)
        if self._is_chunked and not self._left and await self._line():
            raise HttpFailed("the server sent a chunk of another size")
        return piece

    async def _chunk_size(self) -> int:
        """The size of the next chunk; nothing at the end, behind which come lines that nobody needs."""
        found = _SIZE.fullmatch((await self._line()).partition(b";")[0].strip())
        if found is None:
            raise HttpFailed("the server sent a chunk without a size")
        size = int(found[0], 16)
        while not size and await self._line():
            pass
        return size

    async def _line(self) -> bytes:
        async with asyncio.timeout(self._connection.timeout_seconds):
            return (await self._connection.reader.readuntil(b"\r\n"))[:-2]


def _is_chunked(headers: Mapping[str, str]) -> bool:
    coding = headers.get("transfer-encoding", "").lower()
    if headers.get("content-encoding", "identity").lower() != "identity" or coding not in ("", "chunked"):
        raise HttpFailed("the server sent an encoding that was not asked for")
    return bool(coding)


def _length(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        raise HttpFailed("the server sent a length that is none")
    return int(text)


def _head(host: str, path: str, content: bytes, headers: Mapping[str, str]) -> bytes:
    usual = {"host": host, "accept": "*/*", "accept-encoding": "identity", "content-length": str(len(content))}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in {**usual, **headers}.items())]
    if any("\r" in line or "\n" in line or "\0" in line for line in lines):
        # Without the value: it may be a key.
        raise HttpFailed("the address or a header, such as the key, has a line break in it", retryable=False)
    if not all(line.isascii() for line in lines):
        raise HttpFailed("the address or a header, such as the key, has a character that is no ASCII", retryable=False)
    return "\r\n".join([*lines, "", ""]).encode()


def _headers(lines: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name.strip():
            raise HttpFailed("the server sent a header that is none")
        key, text = name.strip().lower(), value.strip()
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


@contextmanager
def _failing() -> Generator[None]:
    """Tells what can go wrong on the way as one error."""
    try:
        yield
    except TimeoutError as error:
        raise HttpFailed("it took too long") from error
    except asyncio.IncompleteReadError as error:
        raise HttpFailed("the server hung up without an answer") from error
    except (OSError, asyncio.LimitOverrunError, ValueError) as error:
        raise HttpFailed(str(error) or type(error).__name__) from error

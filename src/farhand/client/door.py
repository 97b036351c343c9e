"""The hub of a node on this machine, over its unix socket."""

import asyncio
import itertools
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from farhand.model import frames
from farhand.model.commands import Accepted, Command
from farhand.model.devices import Device, DevicePairing
from farhand.model.digest import DigestLine
from farhand.model.errors import NodeNotRunning, NodeUnreachable
from farhand.model.facts import Event
from farhand.model.frames import DoorReply, DoorRequest
from farhand.model.history import Found, HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.present import Present
from farhand.model.wire import decode_event, encode, raise_remote
from farhand.model.words import Sender, Seq

_CLOSED = "The node closed the connection; it may have been stopped."


def connect(path: Path) -> socket.socket:
    """A connected socket, also where the path is longer than a unix socket's address may be."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        raise NodeNotRunning(f"No node runs at {path.parent}.", path=str(path)) from None
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(f"/proc/self/fd/{folder}/{path.name}" if Path("/proc/self/fd").exists() else str(path))
    except OSError:
        link.close()
        raise NodeNotRunning(f"No node runs at {path.parent}.", path=str(path)) from None
    finally:
        os.close(folder)
    link.setblocking(False)
    return link


class DoorConnection:
    """One connection to the door: a request, then its replies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)

    async def ask(self, request: DoorRequest) -> DoorReply:
        """Sends the request and returns its first reply; raises the error that the node tells."""
        number = next(self._numbers)
        self._writer.write(frames.write(msgspec.structs.replace(request, id=number)))
        try:
            await self._writer.drain()
        except ConnectionError:
            raise NodeUnreachable(_CLOSED) from None
        # A request that was given up leaves its reply behind; 0 is a reply to what could not be read.
        while (reply := await self._read()).id not in (number, 0):
            continue
        return _checked(reply)

    async def receive(self) -> DoorReply:
        """The next reply."""
        return _checked(await self._read())

    async def _read(self) -> DoorReply:
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
            raise NodeUnreachable(_CLOSED) from None
        return frames.read_reply(line)


def _checked(reply: DoorReply) -> DoorReply:
    if reply.error is not None:
        raise raise_remote(reply.error)
    return reply


@asynccontextmanager
async def open_connection(path: Path) -> AsyncIterator[DoorConnection]:
    """An open connection to the node's door."""
    # Replies carry events of many requests: they may be longer than any one request.
    reader, writer = await asyncio.open_unix_connection(sock=connect(path), limit=16 * frames.LONGEST)
    try:
        yield DoorConnection(reader, writer)
    finally:
        writer.close()


class SocketHub:
    """Speaks to the node over one connection for commands, and one for each watch."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = asyncio.Lock()
        self._connection: DoorConnection | None = None
        self._close: Any = None

    async def __aenter__(self) -> "SocketHub":
        self._close = open_connection(self._path)
        self._connection = await self._close.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._close.__aexit__(None, None, None)

    async def send(self, command: Command, sender: Sender) -> Accepted:
        """As `Hub.send`."""
        raw = msgspec.Raw(encode(command))
        reply = await self._ask(DoorRequest(do="send", command=raw, via=sender.via, who=sender.who))
        if reply.accepted is None:
            raise NodeUnreachable("The node did not say whether it took the command.")
        return reply.accepted

    async def look(self) -> Present:
        """As `Hub.look`."""
        return (await self._ask(DoorRequest(do="look"))).present or Present()

    async def status(self) -> dict[str, Any]:
        """What the node says of itself."""
        return (await self._ask(DoorRequest(do="status"))).status or {}

    async def sessions(self, backend: str = "", directory: str = "") -> list[SessionFound]:
        """As `Hub.sessions`."""
        return (await self._ask(DoorRequest(do="sessions", backend=backend, directory=directory))).sessions or []

    async def history(self, worker: str, before: Seq | None = None, limit: int = 60) -> HistoryPage:
        """As `Hub.history`."""
        reply = await self._ask(DoorRequest(do="history", worker=worker, before=before, limit=limit))
        return reply.history or HistoryPage()

    async def search(self, query: str, worker: str = "", limit: int = 50) -> list[Found]:
        """As `Hub.search`."""
        return (await self._ask(DoorRequest(do="search", query=query, worker=worker, limit=limit))).found or []

    async def pair(self, *, read_only: bool = False) -> DevicePairing:
        """A one-time code that makes one device."""
        reply = await self._ask(DoorRequest(do="pair", read_only=read_only))
        if reply.pairing is None:
            raise NodeUnreachable("The node did not say a code.")
        return reply.pairing

    async def devices(self) -> list[Device]:
        """The devices that are paired, the newest first."""
        return (await self._ask(DoorRequest(do="devices"))).devices or []

    async def revoke(self, device: str) -> None:
        """Ends a device at once."""
        await self._ask(DoorRequest(do="revoke", device=device))

    async def digest(self) -> tuple[DigestLine, ...]:
        """What happened while nobody was there."""
        return (await self._ask(DoorRequest(do="digest"))).digest or ()

    async def watch(self, after: Seq | None = None) -> AsyncIterator[Event]:
        """As `Hub.watch`, over a connection of its own."""
        async with open_connection(self._path) as connection:
            await connection.ask(DoorRequest(do="watch", after=after))
            while True:
                for body in (await connection.receive()).events or ():
                    yield decode_event(bytes(body))

    async def _ask(self, request: DoorRequest) -> DoorReply:
        async with self._lock:
            if self._close is None:
                raise NodeUnreachable("The connection is not open.")
            if self._connection is None:
                # The node was restarted since.
                await self.__aenter__()
            connection = self._connection
            if connection is None:
                raise NodeUnreachable(_CLOSED)
            try:
                return await connection.ask(request)
            except NodeUnreachable:
                self._connection = None
                await self._close.__aexit__(None, None, None)
                raise

"""Accepts connections, and keeps each as a bare socket until the head of its first request is there.

A connection that sends slowly, or nothing, costs a socket and a timer; only one that has sent a head costs a parser and
all that belongs to it. Thousands of slow ones leave the loop to those who work."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TypeAlias

from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.logger import get_logger
from farhand.server.connections import LONGEST_HEAD, ConnectionLimits, GuardedProtocol

log = get_logger("http")
# So many in a row, then everybody else has a turn.
ACCEPTED_AT_ONCE = 8
# How long nobody is accepted when the system has no descriptor left.
PAUSE_SECONDS = 1.0
_END = lazy_pattern(rb"\n\r?\n")
# The protocol of an admitted connection: of that address, with what it has sent by now.
Protocols: TypeAlias = Callable[[str, bytes], GuardedProtocol]


class Acceptor:
    """Accepts the connections of one listener for as long as it is open."""

    def __init__(self, listener: socket.socket, limits: ConnectionLimits, protocols: Protocols) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._protocols = protocols
        self._connecting: set[asyncio.Task[None]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self.limits = limits
        self.held: set[HeldConnection] = set()

    def open(self) -> None:
        """Accepts from now on."""
        self._pause = None
        self._loop.add_reader(self._listener, self._accept)

    def close(self) -> None:
        """Accepts no more, and lets go of whoever has not sent a request."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()
        for held in list(self.held):
            held.give_way()
        for task in self._connecting:
            task.cancel()

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                log.warning("cannot accept", why=error.strerror)
                self._loop.remove_reader(self._listener)
                self._pause = self._loop.call_later(PAUSE_SECONDS, self.open)
                return
            address = str(peer[0]) if isinstance(peer, tuple) else ""
            if self.limits.admit(address):
                connection.setblocking(False)
                HeldConnection(self, self._loop, connection, address).begin()
            else:
                connection.close()

    def pass_on(self, connection: socket.socket, address: str, received: bytes) -> None:
        """Makes a protocol of a connection whose head is there."""
        protocol = self._protocols(address, received)
        task = self._loop.create_task(self._connect(connection, protocol), name="http connection")
        self._connecting.add(task)

        def connected(done: asyncio.Task[None]) -> None:
            self._connecting.discard(done)
            # Here and not in the task: one that is cancelled before its first step never runs.
            if done.cancelled() or done.exception() is not None:
                protocol.leave()
                connection.close()

        task.add_done_callback(connected)

    async def _connect(self, connection: socket.socket, protocol: GuardedProtocol) -> None:
        await self._loop.connect_accepted_socket(lambda: protocol, connection)


class HeldConnection:
    """A connection whose first request has not come as far as the end of its head."""

    __slots__ = ("_address", "_connection", "_loop", "_owner", "_received", "_timer")

    def __init__(
        self, owner: Acceptor, loop: asyncio.AbstractEventLoop, connection: socket.socket, address: str
    ) -> None:
        self._owner = owner
        self._loop = loop
        self._connection = connection
        self._address = address
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Waits for the head, as long as a head may take. Most have sent it by now."""
        limits = self._owner.limits
        self._owner.held.add(self)
        limits.wait_for(self)
        self._timer = self._loop.call_later(limits.deadlines.header_seconds, self.give_way)
        self._loop.add_reader(self._connection, self._read)
        self._read()

    def _read(self) -> None:
        try:
            data = self._connection.recv(LONGEST_HEAD)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.give_way()
            return
        before = max(0, len(self._received) - 2)
        self._received += data
        # What is too long, or no text at all, is the parser's to refuse.
        if _END.search(self._received, before) or len(self._received) > LONGEST_HEAD or self._received[0] < 0x21:
            self._stop()
            self._owner.pass_on(self._connection, self._address, bytes(self._received))

    def give_way(self) -> None:
        """Closes it and gives its place back."""
        self._stop()
        self._connection.close()
        self._owner.limits.release(self._address)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._connection)
        self._owner.limits.wait_no_more(self)
        self._owner.held.discard(self)

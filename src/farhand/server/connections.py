"""HTTP connections that cannot hurt: deadlines for slow senders, caps on how many there are, descriptors kept free."""

from __future__ import annotations

import asyncio
import resource
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from farhand.model.logger import get_logger
from farhand.server.strict_requests import StrictConnection

log = get_logger("http")
MOST_CONNECTIONS = 2000
# For one address out there. A tunnel on this machine brings everybody from one address, which has no cap of its own.
MOST_OF_ONE_ADDRESS = 64
OWN_ADDRESSES = frozenset({"", "127.0.0.1", "::1"})
# Left for the door, the store, tmux and the agents, however many connect.
RESERVED_DESCRIPTORS = 256
# Of one worker in a sandbox: its open questions, and some reports and answers at the same time.
MOST_OF_ONE_WORKER = 32
WARN_EVERY_SECONDS = 60.0
LONGEST_HEAD = 16 * 1024
_NO_LINGER = struct.pack("ii", 1, 0)


def most_connections() -> int:
    """As many as leave enough descriptors for everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, soft - min(RESERVED_DESCRIPTORS, soft // 2))


@dataclass(frozen=True)
class RequestDeadlines:
    """How long a client may take to send its request."""

    header_seconds: float = 10.0
    body_seconds: float = 30.0
    # And how long it may leave an answer unread.
    unread_seconds: float = 30.0


class GivesWay(Protocol):
    """A connection that can be closed in favour of another one."""

    def give_way(self) -> None:
        """Closes it and gives its place back, at once."""
        ...


@dataclass
class ConnectionLimits:
    """Counts the connections of a listener. Of one address no more than its cap; when all places are taken, a new
    connection gets the place of the one that has let us wait longest: whoever sends its request at once is served.

    Listeners of one process share one count, or each would take all descriptors that may be taken: a listener with a
    smaller cap of its own counts `within` the others' limits."""

    most: int = field(default_factory=most_connections)
    most_of_one: int = MOST_OF_ONE_ADDRESS
    deadlines: RequestDeadlines = field(default_factory=RequestDeadlines)
    within: ConnectionLimits | None = None
    _open: Counter[str] = field(default_factory=Counter)
    _count: int = 0
    # Those that we wait for, the longest first.
    _waiting: dict[GivesWay, None] = field(default_factory=dict)
    _refused: int = 0
    _warned_at: float = -WARN_EVERY_SECONDS

    @property
    def count(self) -> int:
        """How many are open."""
        return self._count

    def admit(self, address: str) -> bool:
        """Counts a connection, unless it is one too many; says so in the log once a minute at most."""
        allowed = address in OWN_ADDRESSES or self._open[address] < self.most_of_one
        full = self._count >= self.most
        if full and allowed and (slowest := next(iter(self._waiting), None)):
            slowest.give_way()
        if allowed and self._count < self.most and (self.within is None or self.within.admit(address)):
            self._open[address] += 1
            self._count += 1
            self._warn(address, refused=full)
            return True
        self._warn(address, refused=True)
        return False

    def _warn(self, address: str, *, refused: bool) -> None:
        self._refused += refused
        now = time.monotonic()
        if self._refused and now - self._warned_at >= WARN_EVERY_SECONDS:
            log.warning("connections refused", count=self._refused, address=address, open=self._count)
            self._warned_at, self._refused = now, 0

    def wait_for(self, connection: GivesWay) -> None:
        """From now on we wait for what this one sends."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if self.within is not None:
            self.within.wait_for(connection)

    def wait_no_more(self, connection: GivesWay) -> None:
        """It has sent what we waited for, or is gone."""
        self._waiting.pop(connection, None)
        if self.within is not None:
            self.within.wait_no_more(connection)

    def release(self, address: str) -> None:
        """A counted connection is gone."""
        self._count -= 1
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]
        if self.within is not None:
            self.within.release(address)


class UnreadTimer:
    """The time-out of a client that does not read what it is sent."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop, seconds: float, cut_off: Callable[[], object]) -> None:
        """Cuts it off unless it reads by then."""
        self.stop()
        self._timer = loop.call_later(seconds, cut_off)

    def stop(self) -> None:
        """It reads, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class GuardedProtocol(H11Protocol):
    """Uvicorn's protocol for one connection, with a deadline for each request and a place among the limits."""

    def __init__(self, limits: ConnectionLimits, address: str, received: bytes, **options: Any) -> None:
        super().__init__(**options)
        self.conn = StrictConnection(LONGEST_HEAD)
        self._limits = limits
        # A WebSocket goes on in the place of the connection that it came over.
        self.ws_protocol_class: Any = partial(guarded_socket, self)
        # That of a connection that was admitted; None when it has given its place back.
        self._address: str | None = address
        self._received = received
        self._timer: asyncio.TimerHandle | None = None
        self._unread = UnreadTimer()
        # What we wait for, and until when.
        self._waits_for: object = None
        self._due = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes the connection, and what it has sent before."""
        super().connection_made(transport)
        if self.client is None and self._address:
            # It was reset already, and the system no longer tells who it was: nobody may take it for the unix socket.
            transport.abort()
            return
        # Behind the transport's own first steps: it may be told at once to read no further.
        self.loop.call_soon(self.data_received, self._received)
        self._received = b""

    def data_received(self, data: bytes) -> None:
        """Reads on; the deadline of a request does not move with what trickles in."""
        if self._address is None or self.transport.is_closing():
            return
        super().data_received(data)
        if self._address is not None:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives its place back."""
        if self._address is None:
            return
        self.leave()
        super().connection_lost(exc)

    def give_way(self) -> None:
        """Another one gets this place."""
        if self._address is not None:
            self.leave()
            self.transport.abort()
            super().connection_lost(None)

    def hand_over(self) -> tuple[ConnectionLimits, str]:
        """Its place is another protocol's from now on: the limits, and the address that it is counted for."""
        self._stop_timer()
        self._unread.stop()
        self._limits.wait_no_more(self)
        address, self._address = self._address or "", None
        return self._limits, address

    def on_response_complete(self) -> None:
        """What comes next is waited for again: as uvicorn has it, but without a timer of its own for every request,
        since the deadline of the next one is that of an idle connection, too."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        connection = self.conn
        if connection.our_state is h11.DONE and connection.their_state is h11.DONE:
            connection.start_next_cycle()
            if connection.trailing_data[0]:
                self.handle_events()
        if self._address is not None and not self.transport.is_closing():
            # A request that came together with the last one has its deadline from now on.
            self._set_deadline()

    def send_400_response(self, msg: str) -> None:
        """Refuses what makes no sense; where an answer has begun, or is given, there is none to be added."""
        if self.conn.our_state is h11.IDLE or self.conn.our_state is h11.SEND_RESPONSE:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def leave(self) -> None:
        """Stops what runs for it, and gives its place back."""
        self._stop_timer()
        self._unread.stop()
        self._limits.wait_no_more(self)
        if self._address is not None:
            self._limits.release(self._address)
            self._address = None

    def pause_writing(self) -> None:
        """The client does not read: it has so long to begin."""
        super().pause_writing()
        self._unread.start(self.loop, self._limits.deadlines.unread_seconds, self._cut_off)

    def resume_writing(self) -> None:
        """It reads again."""
        self._unread.stop()
        super().resume_writing()

    def _set_deadline(self) -> None:
        """A deadline for the headers, then one for the body; none while we answer."""
        state = self.conn.their_state
        if state is not h11.IDLE and state is not h11.SEND_BODY:
            if self._waits_for is not None:
                self._waits_for = None
                self._limits.wait_no_more(self)
        elif state is not self._waits_for:
            deadlines = self._limits.deadlines
            self._waits_for = state
            self._limits.wait_for(self)
            self._due = self.loop.time() + (deadlines.header_seconds if state is h11.IDLE else deadlines.body_seconds)
            self._set_timer()

    def _set_timer(self) -> None:
        """One timer a connection, which is moved when it goes off and not with every request."""
        if self._timer is not None and self._timer.when() <= self._due:
            return
        self._stop_timer()
        self._timer = self.loop.call_at(self._due, self._check_deadline)

    def _check_deadline(self) -> None:
        self._timer = None
        if self._waits_for is None:
            return
        if self.loop.time() < self._due:
            self._set_timer()
        else:
            self._cut_off()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def cut_unread(self) -> None:
        """Cuts the client off if it leaves unread what was sent to it; as a WebSocket, too."""
        if self.transport.get_write_buffer_size():
            # What waits in the system is dropped with it.
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.transport.abort()

    def _cut_off(self) -> None:
        self.transport.abort()


def guarded_socket(before: GuardedProtocol, **options: Any) -> object:
    """The connection as a WebSocket. Its library is loaded when the first one comes: no start waits for it."""
    from farhand.server.websocket_connections import GuardedSocket

    return GuardedSocket(before, **options)

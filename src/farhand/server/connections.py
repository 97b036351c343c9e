"""HTTP connections that cannot hurt: deadlines for slow senders, caps on how many there are, descriptors kept free."""

import asyncio
import resource
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

log = structlog.get_logger("http")
MOST_CONNECTIONS = 2000
# For one address out there. A tunnel on this machine brings everybody from one address: loopback has no cap of its own.
MOST_OF_ONE_ADDRESS = 64
# Left for the door, the store, tmux and the agents, however many connect.
RESERVED_DESCRIPTORS = 256
WARN_EVERY_SECONDS = 60.0


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


@dataclass
class ConnectionLimits:
    """Counts the connections of a listener; what is over a cap is closed at once."""

    most: int = field(default_factory=most_connections)
    most_of_one: int = MOST_OF_ONE_ADDRESS
    deadlines: RequestDeadlines = field(default_factory=RequestDeadlines)
    _open: Counter[str] = field(default_factory=Counter)
    _refused: int = 0
    _warned_at: float = -WARN_EVERY_SECONDS

    def admit(self, address: str) -> bool:
        """Counts a connection, unless it is one too many; says so in the log once a minute at most."""
        local = not address or address.startswith("127.")
        if self._open.total() < self.most and (local or self._open[address] < self.most_of_one):
            self._open[address] += 1
            return True
        self._refused += 1
        now = time.monotonic()
        if now - self._warned_at >= WARN_EVERY_SECONDS:
            log.warning("connections refused", count=self._refused, address=address, open=self._open.total())
            self._warned_at, self._refused = now, 0
        return False

    def release(self, address: str) -> None:
        """A counted connection is gone."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


class GuardedProtocol(H11Protocol):
    """Uvicorn's protocol for one connection, with a deadline for each request and a place among the limits."""

    def __init__(self, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(**options)
        self._limits = limits
        self._address: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._waits_for: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes the connection, or closes it when there are too many."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        if not self._limits.admit(address):
            transport.abort()
            return
        self._address = address
        super().connection_made(transport)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Reads on; the deadline of a request does not move with what trickles in."""
        if self._address is None:
            return
        super().data_received(data)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives its place back."""
        if self._address is None:
            return
        self._stop_timer()
        self._stop_unread()
        self._limits.release(self._address)
        self._address = None
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read: it has so long to begin."""
        super().pause_writing()
        self._unread = self.loop.call_later(self._limits.deadlines.unread_seconds, self._cut_off)

    def resume_writing(self) -> None:
        """It reads again."""
        self._stop_unread()
        super().resume_writing()

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _set_deadline(self) -> None:
        """A deadline for the headers, then one for the body; none while we answer."""
        state = self.conn.their_state
        if state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_timer()
        elif state is not self._waits_for:
            self._stop_timer()
            deadlines = self._limits.deadlines
            seconds = deadlines.header_seconds if state is h11.IDLE else deadlines.body_seconds
            self._waits_for = state
            self._timer = self.loop.call_later(seconds, self._cut_off)

    def _stop_timer(self) -> None:
        self._waits_for = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut_off(self) -> None:
        self._timer = None
        self.transport.abort()

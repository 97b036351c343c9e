"""WebSocket connections, under the same limits as the HTTP connections that they began as."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from farhand.server.connections import GuardedProtocol, UnreadTimer


class GuardedSocket(WebSocketsSansIOProtocol):
    """Uvicorn's protocol for one WebSocket, in the place among the limits that its HTTP connection had."""

    def __init__(self, before: GuardedProtocol, **options: Any) -> None:
        super().__init__(**options)
        self._limits, self._address = before.hand_over()
        self._unread = UnreadTimer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives its place back."""
        self._unread.stop()
        self._limits.release(self._address)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read: it has so long to begin."""
        super().pause_writing()
        self._unread.start(self.loop, self._limits.deadlines.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        self._unread.stop()
        super().resume_writing()

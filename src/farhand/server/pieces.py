"""An answer in pieces: of what somebody does not read, little waits in memory."""

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PIECE_BYTES = 64 * 1024


class PiecedResponse(Response):
    """Bytes that may be shared by many answers. The next piece is handed on when the one before was read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the head, then piece after piece."""
        del scope, receive
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        content = memoryview(self.body)
        for start in range(0, max(len(content), 1), PIECE_BYTES):
            piece, end = bytes(content[start : start + PIECE_BYTES]), start + PIECE_BYTES
            await send({"type": "http.response.body", "body": piece, "more_body": end < len(content)})

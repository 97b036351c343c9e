"""A connection to a holder's socket, which may be cancelled at any moment.

The one that anyio makes of a unix socket complains to the loop when it is cancelled in the pass that brings bytes.
"""

import socket

import anyio
from anyio.abc import ByteStream

POLL_SECONDS = 0.01


class HolderConnection(ByteStream):
    """A stream of bytes over a unix socket."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened

    @classmethod
    async def to(cls, path: str) -> "HolderConnection":
        """Connects; retries while the socket's backlog is full."""
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.setblocking(False)
        try:
            while True:
                try:
                    opened.connect(path)
                    return cls(opened)
                except BlockingIOError:
                    await anyio.sleep(POLL_SECONDS)
        except BaseException:
            opened.close()
            raise

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """What has come; waits for something."""
        await anyio.lowlevel.checkpoint()
        while True:
            try:
                data = self._socket.recv(max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
            except OSError as error:
                raise anyio.BrokenResourceError from error
            else:
                if not data:
                    raise anyio.EndOfStream
                return data

    async def send(self, item: bytes) -> None:
        """Sends all of it; at once, where the socket takes it: a message must not wait for a pass of the loop."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        left = memoryview(item)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError as error:
                raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        """Nothing more will be sent."""
        self._socket.shutdown(socket.SHUT_WR)

    async def aclose(self) -> None:
        """Closes it."""
        self._socket.close()
        await anyio.lowlevel.checkpoint()

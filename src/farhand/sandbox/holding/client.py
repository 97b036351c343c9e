"""One connection to the holder: lines of JSON, each with as many raw bytes after it as its `size` says."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable

from farhand.sandbox.holding.files import Json, Output
from farhand.sandbox.holding.poll import BROKEN, READ, WRITE, Poll

LINE_LIMIT = 65_536
DATA_LIMIT = 64 * 1024 * 1024
RECEIVE_CHUNK = 65_536
SEND_CHUNK = 1 << 20


class HolderRefused(Exception):
    """A request that cannot be served; its text is the answer."""


class Client:
    """Requests are served one after the other; nothing is read while one is unanswered, nothing kept but its bytes."""

    __slots__ = (
        "_closing", "_finished", "_gone", "_output", "_poll", "_position", "_received", "_replies", "_request",
        "_serve", "_sock", "busy", "over",
    )  # fmt: skip

    def __init__(
        self,
        poll: Poll,
        sock: socket.socket,
        serve: Callable[[Client, Json, bytes], None],
        gone: Callable[[Client], None],
    ) -> None:
        self._poll, self._sock, self._serve, self._gone = poll, sock, serve, gone
        self._received = bytearray()
        self._replies = b""
        self._request: Json | None = None  # its data is still coming
        self._output: Output | None = None
        self._position = 0
        self._finished = False
        self._closing = False
        self.busy = False
        self.over = False  # nothing will be added to the output any more
        self._watch()

    def answer(self, reply: Json) -> None:
        self.busy = False
        self._replies += json.dumps(reply).encode() + b"\n"
        self._watch()

    def refuse(self, why: str) -> None:
        """Says why and closes, once that is sent."""
        self._closing = True
        self.answer({"error": why})

    def follow(self, output: Output, offset: int) -> None:
        """From now on this connection carries output, straight from the file."""
        self._output, self._position = output, offset
        self.busy = True

    def send(self) -> None:
        """As much as the other side takes now: its replies, then output."""
        try:
            if self._replies:
                self._replies = self._replies[self._sock.send(self._replies) :]
            if self._behind() and self._output is not None and not self._replies:
                count = min(SEND_CHUNK, self._output.size - self._position)
                self._position += os.sendfile(self._sock.fileno(), self._output.file, self._position, count)
        except BlockingIOError:
            self._watch()
            return
        except OSError:
            self.drop()
            return
        through = self._closing or (self.over and self._output is not None and not self._behind())
        if through and not self._replies:
            self.drop()
        else:
            self._watch()

    def drop(self) -> None:
        if self._sock.fileno() >= 0:
            self._poll.unwatch(self._sock.fileno())
            self._sock.close()
            self._gone(self)

    def go_on(self) -> None:
        """Serves everything that is whole in what was received."""
        while not (self.busy or self._closing):
            try:
                if self._request is None and not self._next_line():
                    break
                if self._request is not None and not self._perform(self._request):
                    break
            except HolderRefused as refusal:
                self.answer({"error": str(refusal)})
        if self._finished and not self.busy:
            self._closing = True

    def _behind(self) -> bool:
        return self._output is not None and self._position < self._output.size

    def _watch(self) -> None:
        if self._sock.fileno() < 0:
            return
        reading = not (self.busy or self._finished or self._closing or self._replies)
        sending = bool(self._replies) or self._behind()
        self._poll.watch(self._sock.fileno(), (READ if reading else 0) | (WRITE if sending else 0), self._handle)

    def _handle(self, events: int) -> None:
        if events & BROKEN:
            self.drop()
            return
        if events & READ:
            self._receive()
        self.send()

    def _receive(self) -> None:
        try:
            data = self._sock.recv(RECEIVE_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._finished = not data
        self._received += data
        self.go_on()

    def _next_line(self) -> bool:
        end = self._received.find(b"\n")
        if end < 0 and len(self._received) <= LINE_LIMIT:
            return False
        if not 0 <= end <= LINE_LIMIT:
            self.refuse(f"a request is one line of at most {LINE_LIMIT} bytes")
            return False
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            self.refuse("a request is one line of JSON, an object with an 'op'")
            return False
        self._request = request
        return True

    def _perform(self, request: Json) -> bool:
        """Serves the request at hand; False while its data is still coming."""
        size = request.get("size", 0)
        if not isinstance(size, int) or not 0 <= size <= DATA_LIMIT:  # what follows can be data or requests
            self.refuse(f"'size' is the number of bytes that follow the line, at most {DATA_LIMIT}")
            return False
        if len(self._received) < size:
            return False
        data = bytes(self._received[:size])
        del self._received[:size]
        self._request = None
        self._serve(self, request, data)
        return True

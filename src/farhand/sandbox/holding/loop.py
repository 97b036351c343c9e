"""The holder's event loop: reads the child's output, serves clients, and ends after the child."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable

from farhand.sandbox.holding.child import Child
from farhand.sandbox.holding.client import Client, HolderRefused
from farhand.sandbox.holding.feeds import Feeds
from farhand.sandbox.holding.files import Errors, Json, Output, write_whole
from farhand.sandbox.holding.poll import READ, Poll

CHUNK = 65_536
PIPEFULS = 16  # the largest pipe that an unprivileged process may make, in chunks
CLIENTS = 64
ID_LIMIT = 512
LINGER_SECONDS = 2.0
RETRY_SECONDS = 1.0
SIGNALS = ("HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2", "STOP", "CONT", "TSTP", "WINCH")


class Holder:
    """Owns the child until it is gone, and for a short while after."""

    def __init__(self, child: Child, listener: socket.socket, output: Output, errors: Errors, wake: int) -> None:
        self._child, self._listener, self._output, self._errors, self._wake = child, listener, output, errors, wake
        self._poll = Poll()
        self._feeds = Feeds(self._poll, child.stdin)
        self._clients: list[Client] = []
        self._waiting: list[Client] = []
        self._reading = {child.stdout, child.stderr}
        self._exit: Json | None = None  # how the child ended
        self._exit_written = False  # ... and that is on disk, after the whole output
        self._ending = False
        self._asked = False  # a client wanted the end while the child lived
        self._poll.watch(wake, READ, self._on_signal)
        self._poll.watch(listener.fileno(), READ, self._accept)
        self._poll.watch(child.stdout, READ, self._read_output)
        self._poll.watch(child.stderr, READ, self._read_errors)

    def run(self) -> None:
        self._reap()
        self._poll.run()
        self._child.signal(signal.SIGKILL)
        self._drain(self._child.stderr, self._read_errors)
        self._child.reap()

    def end_with(self, owner: int) -> None:
        """Ends the child when that pipe is at its end: whoever held the other one is gone."""

        def gone(_events: int) -> None:
            self._poll.unwatch(owner)
            self._end(LINGER_SECONDS)

        self._poll.watch(owner, READ, gone)

    # --- the child

    def _on_signal(self, _events: int) -> None:
        if signal.SIGTERM in os.read(self._wake, 512):
            self._end(LINGER_SECONDS)
        self._reap()

    def _read(self, descriptor: int) -> bytes | None:
        """What is there now: None for nothing, empty when the other side is closed, and then so is this one."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return None
        if not data:
            self._close(descriptor)
        return data

    def _close(self, descriptor: int) -> None:
        if descriptor in self._reading:
            self._reading.discard(descriptor)
            self._poll.unwatch(descriptor)
            os.close(descriptor)

    def _drain(self, descriptor: int, read: Callable[[int], None]) -> None:
        for _ in range(PIPEFULS):
            if descriptor in self._reading and not self._output.waiting:
                read(READ)

    def _read_errors(self, _events: int) -> None:
        data = self._read(self._child.stderr)
        if data:
            self._errors.append(data)

    def _read_output(self, _events: int) -> None:
        data = self._read(self._child.stdout)
        if data:
            self._append(data)
        elif data is not None:
            self._write_exit()

    def _append(self, data: bytes) -> None:
        self._output.append(data)
        if self._output.waiting:  # the child waits too: its pipe is read again when the disk has room
            self._poll.unwatch(self._child.stdout)
            self._poll.after("append", RETRY_SECONDS, self._append_again)
        for client in list(self._clients):
            client.send()

    def _append_again(self) -> None:
        self._append(b"")
        if not self._output.waiting and self._child.stdout in self._reading:
            self._poll.watch(self._child.stdout, READ, self._read_output)
        self._write_exit()

    def _reap(self) -> None:
        if self._exit is not None:
            return
        self._exit = self._child.ended()
        if self._exit is None:
            return
        self._exit["at"] = time.time()
        self._exit["asked"] = self._asked
        self._feeds.lose()
        # What the child leaves in its process group ends with it: asked first, killed when the holder leaves.
        self._child.signal(signal.SIGKILL if self._ending else signal.SIGTERM)
        self._poll.after("cut", LINGER_SECONDS, self._close_output)
        self._write_exit()

    def _close_output(self) -> None:
        """Somebody still holds the child's stdout: take what is in the pipe, and no more."""
        self._child.signal(signal.SIGKILL)
        self._drain(self._child.stdout, self._read_output)
        if self._output.waiting:
            self._poll.after("cut", RETRY_SECONDS, self._close_output)
        else:
            self._close(self._child.stdout)
            self._write_exit()

    def _write_exit(self) -> None:
        """Once the child is gone and its output is whole: the exit file, the waiting clients, and time to leave."""
        if self._exit is None or self._exit_written or self._child.stdout in self._reading or self._output.waiting:
            return
        try:
            os.fsync(self._output.file)
            write_whole("exit", {**self._exit, "pid": self._child.pid, "size": self._output.size})
        except FileNotFoundError:
            sys.stderr.write("the folder is gone: nobody can be told how the child ended\n")
        except OSError as error:
            sys.stderr.write(f"the exit could not be written, trying again: {error}\n")
            self._poll.after("tell", RETRY_SECONDS, self._write_exit)
            return
        self._exit_written = True
        self._poll.after("leave", 0 if self._ending else LINGER_SECONDS, self._poll.stop)
        for client in self._waiting:
            client.answer({"status": self._status()})
            client.go_on()
        for client in list(self._clients):
            client.over = True
            client.send()

    def _end(self, grace_seconds: float) -> None:
        self._ending = True
        if self._exit is None:
            self._child.signal(signal.SIGTERM)
            self._poll.after("kill", grace_seconds, lambda: self._child.signal(signal.SIGKILL))
        elif self._exit_written:
            self._poll.after("leave", 0, self._poll.stop)
        else:
            self._poll.after("cut", 0, self._close_output)

    def _status(self) -> Json:
        ended = self._exit or {"code": None, "signal": None}
        return {
            "pid": self._child.pid,
            "alive": self._exit is None,
            "code": ended["code"],
            "signal": ended["signal"],
            "size": self._output.size,
            "trouble": self._output.trouble,
        }

    # --- the clients

    def _accept(self, _events: int) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        client = Client(self._poll, sock, self._serve, self._on_client_gone)
        client.over = self._exit_written
        self._clients.append(client)
        if len(self._clients) > CLIENTS:
            client.refuse(f"the holder serves {CLIENTS} clients at once")

    def _on_client_gone(self, client: Client) -> None:
        self._clients.remove(client)
        if client in self._waiting:
            self._waiting.remove(client)
        self._feeds.withdraw(client)

    def _serve(self, client: Client, request: Json, data: bytes) -> None:
        match request.get("op"):
            case "follow":
                self._follow(client, request)
            case "feed":
                self._feeds.feed(client, wanted_id(request), data)
            case "fed":
                self._feeds.fed(client, wanted_id(request))
            case "signal":
                self._signal(client, request)
            case "close":
                self._feeds.close()
                client.answer({"reply": "done"})
            case "status":
                client.answer({"status": self._status()})
            case "wait":
                self._wait(client)
            case "end":
                self._asked = self._asked or self._exit is None
                self._end(wanted_grace(request))
                client.answer({"reply": "done"})
            case _:
                raise HolderRefused("'op' is one of follow, feed, fed, signal, close, status, wait, end")

    def _follow(self, client: Client, request: Json) -> None:
        offset = request.get("from")
        if not isinstance(offset, int) or not 0 <= offset <= self._output.size:
            raise HolderRefused(f"'from' is an offset from 0 to {self._output.size}, where the output ends")
        client.answer({"reply": "following", "size": self._output.size})
        client.follow(self._output, offset)

    def _signal(self, client: Client, request: Json) -> None:
        name = request.get("name")
        if name not in SIGNALS:
            raise HolderRefused(f"'name' is one of {', '.join(SIGNALS)}")
        if self._exit is None:
            self._child.signal(getattr(signal, f"SIG{name}"))
        client.answer({"reply": "done" if self._exit is None else "gone"})

    def _wait(self, client: Client) -> None:
        if self._exit_written:
            client.answer({"status": self._status()})
        else:
            client.busy = True
            self._waiting.append(client)


def wanted_id(request: Json) -> str:
    feed_id = request.get("id")
    if not isinstance(feed_id, str) or not 0 < len(feed_id) <= ID_LIMIT:
        raise HolderRefused(f"'id' is a string of 1 to {ID_LIMIT} characters")
    return feed_id


def wanted_grace(request: Json) -> float:
    grace = request.get("grace_seconds")
    if not isinstance(grace, int | float) or not 0 <= grace <= 3600:
        raise HolderRefused("'grace_seconds' is a number from 0 to 3600")
    return grace

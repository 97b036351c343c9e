"""Thousands of connections that send their request a byte at a time, as a program of its own; its figures as JSON.

Run as `python -m bench.slow_clients PORT COUNT`; it ends when its input does. It takes as little of the processor as it
can, so that what is measured beside it is the node and not the attack."""

from __future__ import annotations

import heapq
import json
import os
import resource
import select
import socket
import sys
import time
from dataclasses import asdict, dataclass

# Each address is one caller: none may have more than its share.
ADDRESSES = tuple(f"127.1.0.{number + 1}" for number in range(100))
# A connection that was cut is opened again after this long, and each sends another byte so often.
AGAIN_SECONDS = 5.0
BYTE_SECONDS = 3.0
START = b"POST /response HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@dataclass
class Held:
    """How the attack went."""

    opened: int = 0
    cut: int = 0
    now: int = 0
    most: int = 0


class SlowClients:
    """All connections of the attack, by one loop."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._links: dict[int, tuple[int, socket.socket]] = {}
        self._begun: set[int] = set()
        self._poll = select.epoll()
        now = time.monotonic()
        # When each is to be opened, or to send a byte: its number, and the descriptor that it had then.
        self._due = [(now + number / 1000, number, -1) for number in range(count)]
        self.held = Held()

    def run(self) -> None:
        """Holds them until the input ends."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN | select.EPOLLHUP)
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else 1.0
            for descriptor, _ in self._poll.poll(wait):
                if descriptor == sys.stdin.fileno():
                    return
                self._read(descriptor)
            while self._due and self._due[0][0] <= time.monotonic():
                _, number, descriptor = heapq.heappop(self._due)
                if descriptor < 0:
                    self._open(number)
                else:
                    self._send(descriptor, number)

    def _open(self, number: int) -> None:
        link = socket.socket()
        link.setblocking(False)
        link.bind((ADDRESSES[number % len(ADDRESSES)], 0))
        link.connect_ex(("127.0.0.1", self._port))
        self._links[link.fileno()] = (number, link)
        self._poll.register(link.fileno(), select.EPOLLIN | select.EPOLLHUP | select.EPOLLRDHUP)
        self.held.opened += 1
        self.held.now += 1
        self.held.most = max(self.held.most, self.held.now)
        heapq.heappush(self._due, (time.monotonic() + 0.2, number, link.fileno()))

    def _send(self, descriptor: int, number: int) -> None:
        owner, link = self._links.get(descriptor, (-1, None))
        if link is None or owner != number:
            return
        try:
            link.send(b"x" if descriptor in self._begun else START)
            self._begun.add(descriptor)
        except OSError:
            self._cut(descriptor)
        else:
            heapq.heappush(self._due, (time.monotonic() + BYTE_SECONDS, number, descriptor))

    def _read(self, descriptor: int) -> None:
        try:
            closed = not self._links[descriptor][1].recv(4096)
        except BlockingIOError:
            closed = False
        except OSError:
            closed = True
        if closed:
            self._cut(descriptor)

    def _cut(self, descriptor: int) -> None:
        number, link = self._links.pop(descriptor)
        self._begun.discard(descriptor)
        self._poll.unregister(descriptor)
        link.close()
        self.held.cut += 1
        self.held.now -= 1
        heapq.heappush(self._due, (time.monotonic() + AGAIN_SECONDS, number, -1))


def main(port: int, count: int) -> None:
    """Holds that many, then prints how it went."""
    os.nice(10)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 200)), hard))
    clients = SlowClients(port, count)
    clients.run()
    print(json.dumps(asdict(clients.held)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

"""The cable between phone and node, which can be pulled out: a browser's own offline mode lets WebSockets through."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

HERE = "127.0.0.1"


class Cable:
    """Passes every connection to its port on to the node, while it is plugged in."""

    def __init__(self, node_port: int) -> None:
        self._node_port = node_port
        self._lock = threading.Lock()
        self._is_in = True
        self._ends: list[socket.socket] = []
        self._copying: list[threading.Thread] = []
        self._listening = socket.create_server((HERE, 0))
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._accept)

    def __enter__(self) -> Cable:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.pull_out()
        self._listening.shutdown(socket.SHUT_RDWR)
        for thread in (self._thread, *self._copying):
            thread.join()
        for one in (self._listening, *self._ends):
            one.close()

    def pull_out(self) -> None:
        """Cuts what is open; whoever comes now gets no answer."""
        with self._lock:
            self._is_in = False
            for one in self._ends:
                _cut(one)

    def plug_in(self) -> None:
        """From now on all is passed on again."""
        with self._lock:
            self._is_in = True

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._pass_on(self._listening.accept()[0])

    def _pass_on(self, phone: socket.socket) -> None:
        with self._lock:
            if not self._is_in:
                phone.close()
                return
            node = socket.create_connection((HERE, self._node_port))
            self._ends += [phone, node]
        for source, target in ((phone, node), (node, phone)):
            self._copying.append(threading.Thread(target=_copy, args=(source, target)))
            self._copying[-1].start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _cut(source)
    _cut(target)


def _cut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)

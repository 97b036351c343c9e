"""Whose the other end of a local connection is: a socket that was closed is nobody's, least of all root's."""

import socket
import sys

import pytest

from farhand.server import tcp_peer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own table of sockets")


@pytest.mark.parametrize("ask", [tcp_peer._asked, tcp_peer._looked_up])
def test_a_closed_socket_has_no_user(ask: object) -> None:
    assert callable(ask)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = listener.getsockname()
        client = socket.create_connection(server)
        name = client.getsockname()
        taken, _ = listener.accept()
        with taken:
            assert ask(name, server) is not None
            client.sendall(b"the rest of a request")
            client.close()
            # The end has come through, and was acknowledged, when it is read.
            while taken.recv(100):
                continue
            assert ask(name, server) is None

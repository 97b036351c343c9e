"""A program in a sandbox that shares the network runs as the node's user, and is not taken for the node's user."""

import socket
import subprocess
import sys

import pytest

from farhand.cli.remote_control import own_user
from farhand.server.tcp_peer import is_own_user

DIAL = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
WAIT = "print('ready', flush=True); sys.stdin.read()"
BWRAP = ["bwrap", "--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--"]
# Its files are then hidden from its own user.
HIDE = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); "
# Nobody has it open: it is on its way between two sockets of the program, which takes it back for the answer.
IN_FLIGHT = DIAL + "here, there = socket.socketpair(); socket.send_fds(here, [b'x'], [s.fileno()]); s.close(); "


@pytest.mark.parametrize(
    ("wrapped", "program", "own"),
    [([], DIAL, True), (BWRAP, DIAL, False), (BWRAP, HIDE + DIAL, False), (BWRAP, IN_FLIGHT, False)],
    ids=["outside", "in a sandbox", "in a sandbox, hidden", "in a sandbox, in flight"],
)
def test_who_calls_from_a_sandbox(wrapped: list[str], program: str, own: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = listener.getsockname()
        argv = [*wrapped, sys.executable, "-c", program + WAIT, str(server[1])]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as caller:
            assert caller.stdin
            assert caller.stdout
            taken, client = listener.accept()
            assert caller.stdout.readline() == b"ready\n"
            with taken:
                assert is_own_user(client, server)
                assert is_own_user(client, server, among_sandboxes=True) is own
                # What a terminal listens to beside a conversation.
                assert own_user(client, server) is own
            caller.stdin.close()

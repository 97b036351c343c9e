"""Which user of this machine is at the other end of a local TCP connection, as the kernel tells of its sockets.

Asked for that one socket (sock_diag(7)); where that is not to be had, looked up in the table of all of them."""

import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

TABLE = Path("/proc/net/tcp")
# Numbers of linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
_HEADER, _QUESTION, _ANSWER = struct.Struct("=IHHII"), struct.Struct("=BBBBI"), struct.Struct("=4x48x12xII")
_ANY_COOKIE = b"\xff" * 8


def is_own_user(client: tuple[str, int], server: tuple[str, int | None] | None) -> bool:
    """Whether the caller runs as the node's own user, or as root. One that cannot be looked up is a stranger; on a
    system without such a table everybody is taken at their address."""
    if sys.platform != "linux":
        return True
    if server is None or server[1] is None:
        return False
    return tcp_peer(client, (server[0], server[1])) in (os.geteuid(), 0)


def tcp_peer(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """The user who has the socket that is connected from `client` to `server`; None when nobody has."""
    with suppress(OSError, struct.error):
        return _asked(client, server)
    return _looked_up(client, server)


def _asked(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """What the kernel says of that one socket; OSError where it cannot be asked."""
    ports = struct.pack("!HH", client[1], server[1])
    addresses = b"".join(socket.inet_aton(one).ljust(16, b"\0") for one in (client[0], server[0]))
    question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    body = question + ports + addresses + bytes(4) + _ANY_COOKIE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, _SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        kernel.send(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body)
        answer = kernel.recv(4096)
    _, kind, _, _, _ = _HEADER.unpack_from(answer)
    if kind != _BY_FAMILY:
        raise OSError("the kernel knows no such socket, or does not tell")
    user, inode = _ANSWER.unpack_from(answer, _HEADER.size)
    # A socket that was closed belongs to nobody any more, and the kernel says root of it.
    return int(user) if inode else None


def _looked_up(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    try:
        here, there = _address(*client), _address(*server)
        rows = TABLE.read_text("ascii").splitlines()[1:]
    except OSError:
        # No such table, or an address that is not in it: the node listens on IPv4 alone.
        return None
    for row in rows:
        fields = row.split()
        if len(fields) > 9 and fields[1] == here and fields[2] == there:
            return int(fields[7]) if fields[9] != "0" else None
    return None


def _address(host: str, port: int) -> str:
    """An address as the table has it: the bytes of the machine's own order, in hexadecimal."""
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"

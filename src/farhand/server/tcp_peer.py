"""Which user of this machine is at the other end of a local TCP connection, as the kernel's table of sockets tells."""

import os
import socket
import struct
import sys
from pathlib import Path

TABLE = Path("/proc/net/tcp")


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
    try:
        here, there = _address(*client), _address(*server)
        rows = TABLE.read_text("ascii").splitlines()[1:]
    except OSError:
        # No such table, or an address that is not in it: the node listens on IPv4 alone.
        return None
    for row in rows:
        fields = row.split()
        if len(fields) > 7 and fields[1] == here and fields[2] == there:
            return int(fields[7])
    return None


def _address(host: str, port: int) -> str:
    """An address as the table has it: the bytes of the machine's own order, in hexadecimal."""
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"

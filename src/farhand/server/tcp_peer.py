"""Which user of this machine is at the other end of a local TCP connection, as the kernel tells of its sockets.

Asked for that one socket (sock_diag(7)); where that is not to be had, looked up in the table of all of them. A process
in a sandbox that shares the network runs as the node's user, too: it is known by its own pid namespace."""

import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROCESSES = Path("/proc")
TABLE = PROCESSES / "net" / "tcp"
# Numbers of linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
_HEADER, _QUESTION, _ANSWER = struct.Struct("=IHHII"), struct.Struct("=BBBBI"), struct.Struct("=4x48x12xII")
_LONGEST_STATUS = 16_384
_ANY_COOKIE = b"\xff" * 8


class TcpPeer(NamedTuple):
    """Who has a socket: the user, and the socket's number in the kernel."""

    user: int
    inode: int


def is_own_user(
    client: tuple[str, int], server: tuple[str, int | None] | None, *, among_sandboxes: bool = False
) -> bool:
    """Whether the caller runs as the node's own user, or as root, and in no sandbox where there are any. One that
    cannot be looked up is a stranger; on a system without such a table everybody is taken at their address."""
    if sys.platform != "linux":
        return True
    if server is None or server[1] is None:
        return False
    peer = tcp_peer(client, (server[0], server[1]))
    if peer is None or peer.user not in (os.geteuid(), 0):
        return False
    return not (among_sandboxes and is_in_pid_namespace(peer))


def is_in_pid_namespace(peer: TcpPeer) -> bool:
    """Whether a process in a pid namespace below ours has the socket, or may have: one that does not let us look, and
    one whose socket no process has, as it is on its way between two sockets of its own."""
    wanted = f"socket:[{peer.inode}]"
    nested, others = _processes(peer.user)
    if any(_may_hold(folder, wanted, hidden=True) for folder in nested):
        return True
    return bool(nested) and not any(_may_hold(folder, wanted, hidden=False) for folder in others)


def _processes(user: int) -> tuple[list[str], list[str]]:
    """The processes of that user which have a pid namespace below ours, with a number in each, and all others."""
    nested: list[str] = []
    others: list[str] = []
    for name in os.listdir(PROCESSES):
        if not name.isdigit():
            continue
        folder = f"{PROCESSES}/{name}"
        with suppress(OSError, ValueError, IndexError):
            told = _read(f"{folder}/status")
            # Each is there once: the kernel escapes the line breaks in a process's name.
            if int(told.split(b"\nUid:", 1)[1].split(None, 2)[1]) == user:
                numbers = told.split(b"\nNSpid:", 1)[1].split(b"\n", 1)[0].split()
                (nested if len(numbers) > 1 else others).append(folder)
    return nested, others


def _read(path: str) -> bytes:
    """A short file of the kernel's; a request reads one for each process, which takes twice as long with pathlib."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _LONGEST_STATUS)
    finally:
        os.close(descriptor)


def _may_hold(folder: str, wanted: str, *, hidden: bool) -> bool:
    """Whether the process has that socket open; `hidden` is what is said of one that does not let us look."""
    try:
        names = os.listdir(f"{folder}/fd")
    except FileNotFoundError:
        return False
    except OSError:
        # A process can hide its files from its own user, and not that it is in a namespace.
        return hidden
    for name in names:
        with suppress(OSError):
            if os.readlink(f"{folder}/fd/{name}") == wanted:
                return True
    return False


def tcp_peer(client: tuple[str, int], server: tuple[str, int]) -> TcpPeer | None:
    """Who has the socket that is connected from `client` to `server`; None when nobody has."""
    with suppress(OSError, struct.error):
        return _asked(client, server)
    return _looked_up(client, server)


def _asked(client: tuple[str, int], server: tuple[str, int]) -> TcpPeer | None:
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
    return TcpPeer(int(user), int(inode)) if inode else None


def _looked_up(client: tuple[str, int], server: tuple[str, int]) -> TcpPeer | None:
    try:
        here, there = _address(*client), _address(*server)
        rows = TABLE.read_text("ascii").splitlines()[1:]
    except OSError:
        # No such table, or an address that is not in it: the node listens on IPv4 alone.
        return None
    for row in rows:
        fields = row.split()
        if len(fields) > 9 and fields[1] == here and fields[2] == there:
            return TcpPeer(int(fields[7]), int(fields[9])) if fields[9] != "0" else None
    return None


def _address(host: str, port: int) -> str:
    """An address as the table has it: the bytes of the machine's own order, in hexadecimal."""
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"

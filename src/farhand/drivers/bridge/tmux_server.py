"""Finds the tmux server that an agent runs in, and tells whether it may be spoken to: a client does what its server
says, and reads and writes files for it."""

from __future__ import annotations

import os
import socket
import stat
import struct
from pathlib import Path

_ENVIRONMENT_BYTES = 1024 * 1024
_NAMESPACES = ("pid", "mnt", "user")
_CONNECT_SECONDS = 2.0


def own_server(agent: int, project: Path) -> str:
    """The socket of the server in which that agent runs; empty unless the agent is a process of this user's, in that
    project, outside of every sandbox, and so is the server.

    What a project's files say of a server is no more than a project's word, so the agent's own variables are read."""
    if agent <= 1 or not _is_agent(agent, project):
        return ""
    path = _variable(agent, b"TMUX").partition(",")[0]
    is_of_project = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(project))
    return path if is_own_socket(path) and not is_of_project and is_outside(_listener(path)) else ""


def is_own_socket(path: str) -> bool:
    """Whether it is a socket of this very user's."""
    try:
        about = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(about.st_mode) and about.st_uid == os.getuid()


def is_outside(process: int) -> bool:
    """Whether that process is this user's, and in no namespace of its own: it sees what the node sees."""
    try:
        own = Path(f"/proc/{process}").stat().st_uid == os.getuid()
        return process > 1 and own and all(_namespace(process, one) == _namespace("self", one) for one in _NAMESPACES)
    except OSError:
        return False


def _is_agent(agent: int, project: Path) -> bool:
    try:
        fields = Path(f"/proc/{agent}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        is_in_project = Path(f"/proc/{agent}/cwd").readlink() == project
        return is_outside(agent) and is_in_project and int(fields[4]) != 0
    except (OSError, ValueError, IndexError):
        return False


def _namespace(process: int | str, name: str) -> Path:
    return Path(f"/proc/{process}/ns/{name}").readlink()


def _variable(process: int, name: bytes) -> str:
    """A variable that the process was started with; empty when it has none."""
    try:
        with Path(f"/proc/{process}/environ").open("rb") as file:
            words = file.read(_ENVIRONMENT_BYTES).split(b"\0")
    except OSError:
        return ""
    found = next((word for word in words if word.startswith(name + b"=")), b"")
    return os.fsdecode(found.partition(b"=")[2])


def _listener(path: str) -> int:
    """Who listens there, as the kernel tells; 0 when nobody does, or it is not seen from here."""
    wanted = struct.calcsize("3i")
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.settimeout(_CONNECT_SECONDS)
            end.connect(path)
            process, _, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, wanted))
    except (OSError, ValueError):
        return 0
    return int(process)

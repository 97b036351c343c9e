"""Unix sockets whose path may be long: a socket's own address holds only about a hundred bytes."""

import os
import socket
import stat
from pathlib import Path

from farhand.model.errors import NodeError


def private_folder(folder: Path) -> None:
    """Makes the folder for its owner alone; refuses one that somebody else made."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.getuid():
        raise NodeError(f"{folder} belongs to somebody else; farhand does not use it.", path=str(folder))
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)


def listen(path: Path, backlog: int = 128) -> socket.socket:
    """A listening socket at that path, 0600. The caller holds the node's lock, so what lies there is a leftover."""
    private_folder(path.parent)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    before = os.umask(0o177)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}" if Path("/proc/self/fd").exists() else str(path))
        listener.listen(backlog)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
        os.close(folder)
    listener.setblocking(False)
    return listener

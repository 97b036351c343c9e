"""Reads files that somebody else writes, an agent in a sandbox among them: plain ones alone, and never without end.

A pipe in the place of a file would stop whoever opens it, a device or a file full of holes would fill the memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


class NotPlain(OSError):
    """What lies there is no plain file, a link where none may be, or too long."""


def open_plain(path: Path | str, *, folder: int | None = None, links: bool = True) -> int:
    """A descriptor of the plain file, which never waits for anybody; raises OSError, NotPlain for anything else.

    With `links=False` a link in its place is not followed; `folder` is one that is open, in which the name is."""
    follow = 0 if links else os.O_NOFOLLOW
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | follow, dir_fd=folder)
    except ValueError:
        raise NotPlain(errno.EINVAL, "no file has such a name") from None
    except OSError as error:
        # A socket, or a link that is not followed.
        if error.errno in (errno.ENXIO, errno.ELOOP):
            raise NotPlain(error.errno, "it is no plain file", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlain(errno.EINVAL, "it is no plain file", str(path))
    return descriptor


def read_plain(path: Path | str, most: int, *, folder: int | None = None, links: bool = True) -> bytes:
    """The whole file; raises OSError, NotPlain for one that has more bytes than that."""
    with os.fdopen(open_plain(path, folder=folder, links=links), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        # A file that grows meanwhile is too long, too.
        content = file.read(most + 1) if size <= most else b""
    if size > most or len(content) > most:
        raise NotPlain(errno.EFBIG, f"it is longer than {most:,} bytes", str(path))
    return content

"""Files that travel with messages: what kind they are, and where those that came in are kept."""

import os
import stat
from pathlib import Path, PurePath

from farhand.disk.atomic import write_private

PICTURES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


def is_picture(path: str) -> bool:
    """Whether a surface can show the file as a picture, by its name."""
    return PurePath(path).suffix.lower() in PICTURES


def safe_suffix(name: str, media_type: str) -> str:
    """The ending for a file that somebody sent: theirs if it is an ordinary one, never a part of a path."""
    suffix = PurePath(name.replace("\0", "")).suffix.lower()
    if suffix.isascii() and suffix[1:].isalnum() and len(suffix) <= 10:
        return suffix
    return ".jpg" if media_type.startswith("image/") else ".bin"


def keep(path: Path, content: bytes) -> None:
    """Writes a file that only its owner can read; where the folder is open to its group, that group reads it, too."""
    write_private(path, content)
    folder = path.parent.stat()
    if folder.st_mode & stat.S_IRGRP:
        os.chown(path, -1, folder.st_gid)
        path.chmod(0o640)

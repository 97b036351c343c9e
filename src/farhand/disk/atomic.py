"""Writes a file for its owner alone, whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_private(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Puts the file in its place at once; with `sync` its content is on the disk before that."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise

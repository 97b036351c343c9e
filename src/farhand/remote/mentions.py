"""The files that a message names as `@path`."""

from __future__ import annotations

import re
from pathlib import Path

_MENTION = re.compile(r"(?<!\S)@(\S+)")


def mentioned_files(text: str, directory: Path) -> list[Path]:
    """Each file once, in their order; a word that names none, or is no path at all, is a word."""
    found = (_mentioned(word, directory) for word in _MENTION.findall(text))
    return list(dict.fromkeys(path for path in found if path is not None))


def _mentioned(word: str, directory: Path) -> Path | None:
    try:
        path = directory / Path(word).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None

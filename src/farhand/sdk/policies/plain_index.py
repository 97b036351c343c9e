"""Reads the paths in a git index: git opens them as they are, also one that leads out of the working tree. Pure."""

from __future__ import annotations

from farhand.model.git_index import index_entries


def is_plain_index(content: bytes) -> bool:
    """Whether every path stays in the working tree; an index that cannot be read to its last byte is none."""
    try:
        return all(_stays_inside(path) for path, _ in index_entries(content))
    except (ValueError, IndexError):
        return False


def _stays_inside(path: bytes) -> bool:
    if path and not path.startswith((b".", b"/")) and b"/." not in path and b"//" not in path:
        return not path.endswith(b"/")
    return all(part and part not in (b".", b"..") and part.lower() != b".git" for part in path.split(b"/"))

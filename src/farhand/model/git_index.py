"""Reads the entries of a git index, strictly: what git itself might read in another way is none. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

_HEADER = Struct(">4sLL")
_FLAGS = Struct(">H")
_MODE = Struct(">L")
# What stands before an entry's mode: times, device and number.
_BEFORE_MODE = 24
SUBMODULE = 0o160000
_EXTENSION = Struct(">4sL")
_HASH_BYTES = 20
# What stands before an entry's flags: times, mode, owner, size and the object's name.
_STAT_BYTES = 40 + _HASH_BYTES
_EXTENDED = 0x4000
_NAME_BYTES = 0x0FFF
# Extensions that are either harmless or switched off for the calls that run unasked; any other may name more files.
_HARMLESS = frozenset({b"TREE", b"REUC", b"EOIE", b"IEOT", b"UNTR", b"FSMN"})


def index_entries(content: bytes) -> Iterator[tuple[bytes, int]]:
    """The paths in order, each with its mode; raises ValueError for what git itself might read in another way."""
    if len(content) < _HEADER.size + _HASH_BYTES:
        raise ValueError("too short")
    signature, version, count = _HEADER.unpack_from(content)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index of a known version")
    position, end = _HEADER.size, len(content) - _HASH_BYTES
    path = b""
    for _ in range(count):
        if position + _STAT_BYTES + _FLAGS.size >= end:
            raise ValueError("entries end early")
        (mode,) = _MODE.unpack_from(content, position + _BEFORE_MODE)
        path, position = _entry(content, position, version, path)
        yield path, mode
    while position < end:
        name, size = _EXTENSION.unpack_from(content, position)
        if name not in _HARMLESS:
            raise ValueError("an unknown extension")
        position += _EXTENSION.size + size
    if position != end:
        raise ValueError("something is left over")


def _entry(content: bytes, position: int, version: int, previous: bytes) -> tuple[bytes, int]:
    """The path of the entry at that position, and where the next one begins."""
    (flags,) = _FLAGS.unpack_from(content, position + _STAT_BYTES)
    if flags & _EXTENDED and version == 2:
        raise ValueError("an extended entry of version 2")
    start = position + _STAT_BYTES + (4 if flags & _EXTENDED else 2)
    kept = b""
    if version == 4:
        removed, start = _number(content, start)
        if removed > len(previous):
            raise ValueError("more removed than there was")
        kept = previous[: len(previous) - removed]
    stop = content.index(0, start)
    path = kept + content[start:stop]
    if flags & _NAME_BYTES != min(len(path), _NAME_BYTES):
        raise ValueError("a path of another length")
    # Up to version 3 an entry is filled up to a multiple of eight, with one byte at least.
    return path, stop + 1 if version == 4 else position + ((stop - position + 8) & ~7)


def _number(content: bytes, position: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    byte = content[position]
    value = byte & 127
    while byte & 128:
        position += 1
        byte = content[position]
        value = ((value + 1) << 7) + (byte & 127)
    return value, position + 1

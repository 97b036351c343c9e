"""Follows a session file of the Gemini CLI in either format, at the cost of what was added."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from farhand.disk.tail import read_lines
from farhand.drivers.gemini.asks import GeminiQuestion
from farhand.drivers.gemini.tmux.translate import GeminiState, Translated, translate, translate_message
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.ports import Heard
from farhand.model.words import Word, replace

HEAD_BYTES = 4096
WHOLE = ".json"
LONGEST_PLAN = 20_000


class GeminiCursor(Word):
    """Where a link stands: the file, how far it was read, and what its translation remembers."""

    path: str = ""
    # Of lines: after the last one. Of a whole file: where its newest message begins.
    offset: int = 0
    # Of a whole file: what it was when it was last read (inode, size, time), and how its newest message begins.
    stamp: tuple[int, int, int] = (0, 0, 0)
    newest: str = ""
    state: GeminiState = GeminiState()


class _Whole(msgspec.Struct):
    """A session in one piece; its messages are not looked into before they are needed."""

    messages: list[msgspec.Raw] = []


def read_spot(cursor: str) -> GeminiCursor:
    """The spot of a cursor; a fresh one when there is none, or it is not ours."""
    try:
        return msgspec.json.decode(cursor, type=GeminiCursor) if cursor else GeminiCursor()
    except msgspec.MsgspecError:
        return GeminiCursor()


def follow(spot: GeminiCursor, at: float) -> tuple[list[Heard], GeminiCursor]:
    """Everything that was written since the spot. A file that is being written waits until it is whole."""
    if not spot.path:
        return [], spot
    if spot.path.endswith(WHOLE):
        return _follow_whole(spot, at)
    return _follow_lines(spot, at)


def _follow_lines(spot: GeminiCursor, at: float) -> tuple[list[Heard], GeminiCursor]:
    heard: list[Heard] = []
    while True:
        found = read_lines(Path(spot.path), spot.offset)
        state = spot.state
        for line in found.lines:
            told, state = translate(line, state, at)
            heard += told
        if found.offset != spot.offset or state is not spot.state:
            spot = replace(spot, offset=found.offset, state=state)
        if not found.more:
            return heard, spot


def _follow_whole(spot: GeminiCursor, at: float) -> tuple[list[Heard], GeminiCursor]:
    try:
        descriptor = os.open(spot.path, os.O_RDONLY)
    except OSError:
        return [], spot
    try:
        status = os.fstat(descriptor)
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if stamp == spot.stamp:
            return [], spot
        read = _tail(descriptor, spot, status.st_size) or _all(descriptor, status.st_size)
        if read is None or _stamped(descriptor) != stamp:
            # Half written, or written once more meanwhile: the next change tells.
            return [], spot
    finally:
        os.close(descriptor)
    messages, offset = read
    state, heard = spot.state, []
    for raw in messages:
        told, state = _message(bytes(raw), state, at)
        heard += told
    newest = bytes(messages[-1])[:HEAD_BYTES].decode("utf-8", "replace") if messages else ""
    newest = newest[: _id_end(newest)]
    return heard, replace(spot, stamp=stamp, offset=offset, newest=newest, state=state)


def _stamped(descriptor: int) -> tuple[int, int, int]:
    status = os.fstat(descriptor)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _id_end(text: str) -> int:
    """Behind the message's id, which is what it is known by and never changes."""
    place = text.find('"id"')
    end = text.find('"', text.find('"', place + 4) + 1) if place >= 0 else -1
    return end + 1 if end > 0 else len(text)


def _message(raw: bytes, state: GeminiState, at: float) -> Translated:
    message = parse(raw)
    return translate_message(message, state, at) if message is not None else ([], state)


def _tail(descriptor: int, spot: GeminiCursor, size: int) -> tuple[list[msgspec.Raw], int] | None:
    """The messages from the newest known one on, if it still stands where it stood; the rest is not read."""
    head = spot.newest.encode()
    if not spot.offset or not head or os.pread(descriptor, len(head), spot.offset) != head:
        return None
    opening = b'{"messages":['
    data = opening + _read(descriptor, spot.offset, size)
    whole = _decoded(data)
    return (whole.messages, spot.offset + _place(data, whole) - len(opening)) if whole and whole.messages else None


def _all(descriptor: int, size: int) -> tuple[list[msgspec.Raw], int] | None:
    data = _read(descriptor, 0, size)
    whole = _decoded(data)
    return None if whole is None else (whole.messages, _place(data, whole))


def _place(data: bytes, whole: _Whole) -> int:
    """Where the newest message begins; 0 when there is none."""
    return max(0, data.rfind(bytes(whole.messages[-1]))) if whole.messages else 0


def _decoded(data: bytes) -> _Whole | None:
    try:
        return msgspec.json.decode(data, type=_Whole)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _read(descriptor: int, offset: int, size: int) -> bytes:
    pieces = []
    while offset < size:
        piece = os.pread(descriptor, size - offset, offset)
        if not piece:
            break
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


def passed(spot: GeminiCursor) -> GeminiCursor:
    """The spot at the end of its file: what is there was told before, or is of a time before ours."""
    _, end = follow(replace(spot, state=GeminiState(session=spot.state.session)), 0.0)
    known = replace(spot.state, known=end.state.known, last=end.state.last, tools=end.state.tools)
    return replace(end, state=known)


def behind(path: str, spot: GeminiCursor) -> GeminiCursor:
    """The spot in another file of the same session (the CLI moves an old one into lines): after what is known there."""
    moved, known = replace(spot, path=path, offset=0, stamp=(0, 0, 0), newest=""), spot.state.known
    if not known or path.endswith(WHOLE):
        return moved
    for record, end in _lines_of(Path(path)):
        if any(f'"{name}"'.encode() in record for name in known):
            moved = replace(moved, offset=end)
    return moved


def _lines_of(path: Path) -> Iterator[tuple[bytes, int]]:
    try:
        with path.open("rb") as file:
            end = 0
            for line in file:
                end += len(line)
                if line.endswith(b"\n"):
                    yield line, end
    except OSError:
        return


def plan_of(spot: GeminiCursor, question: GeminiQuestion) -> str:
    """The plan that a person is asked about, where the CLI keeps plans; '' when it is not there."""
    name = Fields(question.call.arguments).text("plan_filename")
    kept = Path(spot.path).parent.parent / spot.state.session / "plans"
    try:
        return (kept / Path(name).name).read_text("utf-8", "replace")[:LONGEST_PLAN] if name else ""
    except OSError:
        return ""

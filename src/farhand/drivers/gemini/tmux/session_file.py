"""Follows a session file of the Gemini CLI in either format, at the cost of what was added."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from farhand.disk.plain_files import open_plain, read_plain
from farhand.drivers.gemini.asks import GeminiQuestion
from farhand.drivers.gemini.tmux.state import GeminiCursor, GeminiState, GeminiTranslated
from farhand.drivers.gemini.tmux.translate import translate, translate_message
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.tmux.transcript import read_on
from farhand.model.ports import Heard
from farhand.model.words import replace

HEAD_BYTES = 4096
WHOLE = ".json"
LARGEST_BYTES = 512 * 1024 * 1024
LONGEST_PLAN = 20_000
LARGEST_PLAN_BYTES = 16 * 1024 * 1024


class _Whole(msgspec.Struct):
    """A session in one piece; its messages are not looked into before they are needed."""

    messages: list[msgspec.Raw] = []


def follow(cursor: GeminiCursor, at: float) -> tuple[list[Heard], GeminiCursor]:
    """Everything that was written after the cursor. A file that is being written waits until it is whole."""
    if not cursor.path:
        return [], cursor
    if cursor.path.endswith(WHOLE):
        return _follow_whole(cursor, at)
    heard, offset, state = read_on(cursor.path, cursor.offset, cursor.state, translate, at)
    if offset != cursor.offset or state is not cursor.state:
        cursor = replace(cursor, offset=offset, state=state)
    return heard, cursor


def _follow_whole(cursor: GeminiCursor, at: float) -> tuple[list[Heard], GeminiCursor]:
    try:
        # Most looks find nothing new, and need not open it.
        if _stamp(os.stat(cursor.path)) == cursor.stamp:  # noqa: PTH116 - a Path would cost more than the look
            return [], cursor
        descriptor = open_plain(cursor.path)
    except (OSError, ValueError):
        return [], cursor
    try:
        status = os.fstat(descriptor)
        stamp = _stamp(status)
        if stamp == cursor.stamp or status.st_size > LARGEST_BYTES:
            return [], cursor
        read = _tail(descriptor, cursor, status.st_size) or _all(descriptor, status.st_size)
        if read is None or _stamp(os.fstat(descriptor)) != stamp:
            # Half written, or written once more meanwhile: the next change tells.
            return [], cursor
    finally:
        os.close(descriptor)
    messages, offset = read
    state, heard = cursor.state, []
    for raw in messages:
        more, state = _message(bytes(raw), state, at)
        heard += more
    newest = bytes(messages[-1])[:HEAD_BYTES].decode("utf-8", "replace") if messages else ""
    newest = newest[: _id_end(newest)]
    return heard, replace(cursor, stamp=stamp, offset=offset, newest=newest, state=state)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _id_end(text: str) -> int:
    """Behind the message's id, which is what it is known by and never changes."""
    place = text.find('"id"')
    end = text.find('"', text.find('"', place + 4) + 1) if place >= 0 else -1
    return end + 1 if end > 0 else len(text)


def _message(raw: bytes, state: GeminiState, at: float) -> GeminiTranslated:
    message = parse(raw)
    return translate_message(message, state, at) if message is not None else ([], state)


def _tail(descriptor: int, cursor: GeminiCursor, size: int) -> tuple[list[msgspec.Raw], int] | None:
    """The messages from the newest known one on, if it still stands where it stood; the rest is not read."""
    head = cursor.newest.encode()
    if not cursor.offset or not head or os.pread(descriptor, len(head), cursor.offset) != head:
        return None
    opening = b'{"messages":['
    data = opening + _read(descriptor, cursor.offset, size)
    whole = _decoded(data)
    return (whole.messages, cursor.offset + _place(data, whole) - len(opening)) if whole and whole.messages else None


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


def at_end(cursor: GeminiCursor) -> GeminiCursor:
    """The cursor at the end of its file: what is there was told before, or is of a time before ours."""
    _, end = follow(replace(cursor, state=GeminiState(session=cursor.state.session)), 0.0)
    known = replace(cursor.state, known=end.state.known, last=end.state.last, tools=end.state.tools)
    return replace(end, state=known)


def moved_to(path: str, cursor: GeminiCursor) -> GeminiCursor:
    """The cursor in another file of the session (the CLI moves an old one into lines): after what is known there."""
    moved, known = replace(cursor, path=path, offset=0, stamp=(0, 0, 0), newest=""), cursor.state.known
    if not known or path.endswith(WHOLE):
        return moved
    for record, end in _lines_of(Path(path)):
        if any(f'"{name}"'.encode() in record for name in known):
            moved = replace(moved, offset=end)
    return moved


def _lines_of(path: Path) -> Iterator[tuple[bytes, int]]:
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            end = 0
            for line in file:
                end += len(line)
                if line.endswith(b"\n"):
                    yield line, end
    except OSError:
        return


def plan_of(cursor: GeminiCursor, question: GeminiQuestion) -> str:
    """The plan that a person is asked about, where the CLI keeps plans; '' when it is not there."""
    name = Fields(question.call.arguments).text("plan_filename")
    kept = Path(cursor.path).parent.parent / cursor.state.session / "plans"
    try:
        plan = read_plain(kept / Path(name).name, LARGEST_PLAN_BYTES) if name else b""
        return plan.decode("utf-8", "replace")[:LONGEST_PLAN]
    except OSError:
        return ""

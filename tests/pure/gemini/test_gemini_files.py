"""Session files of the Gemini CLI, followed as they grow: in lines, in one piece, half-written, moved."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from farhand.drivers.gemini.tmux.session_file import at_end, follow, moved_to
from farhand.drivers.gemini.tmux.state import GeminiCursor, GeminiState
from farhand.drivers.wires.cursor import read_cursor
from farhand.model.facts import Said, ToolEnded, ToolStarted, TurnStarted
from farhand.model.ports import Heard

HERE = Path(__file__).parent


def at(second: int) -> str:
    return f"2026-11-15T19:14:{second:02d}.000Z"


def user(number: int, text: str) -> dict[str, Any]:
    return {"id": f"u{number}", "timestamp": at(number), "type": "user", "content": [{"text": text}]}


def answer(number: int, text: str, **more: Any) -> dict[str, Any]:
    tokens = {"input": 1, "output": 2}
    return {"id": f"g{number}", "timestamp": at(number), "type": "gemini", "content": text, "tokens": tokens, **more}


def call(status: str) -> dict[str, Any]:
    result = [{"functionResponse": {"id": "c1", "name": "glob", "response": {"output": "a.txt"}}}]
    return {"id": "c1", "name": "glob", "args": {"pattern": "*"}, "status": status, "result": result}


def whole(messages: list[dict[str, Any]]) -> bytes:
    head = {"sessionId": "5ee704df-1", "projectHash": "x", "startTime": at(0), "lastUpdated": at(len(messages))}
    return json.dumps({**head, "messages": messages, "kind": "main"}, indent=2).encode()


def said(heard: list[Heard]) -> list[str]:
    return [one.fact.text for one in heard if isinstance(one.fact, Said)]


def names(heard: list[Heard]) -> list[str]:
    return [type(one.fact).__name__ for one in heard]


def test_a_whole_file_is_told_message_by_message(tmp_path: Path) -> None:
    path = tmp_path / "session-x.json"
    cursor, messages = GeminiCursor(path=str(path), state=GeminiState(session="5ee704df-1")), []
    for number, message in enumerate([user(1, "one"), answer(2, "first"), user(3, "two"), answer(4, "second")]):
        messages.append(message)
        path.write_bytes(whole(messages))
        heard, cursor = follow(read_cursor(msgspec.json.encode(cursor).decode(), GeminiCursor), 0.0)
        assert bool(said(heard)) == bool(number % 2)
    assert cursor.state.turns == 2
    assert follow(cursor, 0.0) == ([], cursor)


def test_a_whole_file_is_read_from_its_newest_message_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "session-x.json"
    messages = [one for number in range(1, 41, 2) for one in (user(number, "x" * 5000), answer(number + 1, "y" * 5000))]
    path.write_bytes(whole(messages))
    _, cursor = follow(GeminiCursor(path=str(path)), 0.0)
    read: list[int] = []
    real = os.pread

    def counted(descriptor: int, length: int, offset: int) -> bytes:
        data = real(descriptor, length, offset)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    path.write_bytes(whole([*messages, user(41, "and"), answer(42, "so")]))
    heard, cursor = follow(cursor, 0.0)
    assert said(heard) == ["so"]
    assert sum(read) < 12_000


def test_a_half_written_file_is_never_misread(tmp_path: Path) -> None:
    path = tmp_path / "session-x.json"
    before, after = [user(1, "one"), answer(2, "first")], [user(3, "two"), answer(4, 'se"cond, {"id": "u9"}')]
    path.write_bytes(whole(before))
    _, known = follow(GeminiCursor(path=str(path)), 0.0)
    data = whole([*before, *after])
    for length in range(len(data)):
        path.write_bytes(data[:length])
        heard, cursor = follow(known, 0.0)
        assert heard == []
        assert cursor == known
    path.write_bytes(data)
    heard, _ = follow(known, 0.0)
    assert said(heard) == ['se"cond, {"id": "u9"}']


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_message_that_is_written_again_brings_only_what_is_new_in_it(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"session-x{ending}"
    steps = [
        [user(1, "one"), answer(2, "I look")],
        [user(1, "one"), answer(2, "I look", toolCalls=[call("executing")])],
        [user(1, "one"), answer(2, "I look", toolCalls=[call("success")])],
    ]
    response = {"id": "u3", "timestamp": at(3), "type": "user", "content": call("success")["result"]}
    steps.append([*steps[-1], response, answer(4, "done")])
    cursor, heard = GeminiCursor(path=str(path), state=GeminiState(session="5ee704df-1")), []
    written = b""
    for step in steps:
        if ending == ".json":
            path.write_bytes(whole(step))
        else:
            written += b"".join(json.dumps(one).encode() + b"\n" for one in step[1:] if step is not steps[0])
            written += b"".join(json.dumps(one).encode() + b"\n" for one in step if step is steps[0])
            path.write_bytes(written)
        more, cursor = follow(cursor, 0.0)
        heard += more
    assert said(heard) == ["I look", "\n\ndone"]
    assert [type(one.fact) for one in heard if isinstance(one.fact, ToolStarted | ToolEnded)] == [
        ToolStarted,
        ToolEnded,
    ]
    assert names(heard).count("Used") == 2


def test_lines_that_are_cut_wait(tmp_path: Path) -> None:
    path, recording = tmp_path / "session.jsonl", (HERE / "recordings/session-tool-yolo.jsonl").read_bytes()
    expected, _ = follow(GeminiCursor(path=str(HERE / "recordings/session-tool-yolo.jsonl")), 0.0)
    cursor, heard = GeminiCursor(path=str(path)), []
    for end in range(0, len(recording) + 97, 97):
        path.write_bytes(recording[:end])
        more, cursor = follow(cursor, 0.0)
        heard += more
    assert heard == expected
    assert expected


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_what_was_there_before_is_not_told(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"session{ending}"
    old, new = [user(1, "one"), answer(2, "first")], [user(3, "two"), answer(4, "second")]

    def written(messages: list[dict[str, Any]]) -> bytes:
        lines = b"".join(json.dumps(one).encode() + b"\n" for one in messages)
        return whole(messages) if ending == ".json" else lines

    path.write_bytes(written(old))
    cursor = at_end(GeminiCursor(path=str(path), state=GeminiState(session="5ee704df-1")))
    assert follow(cursor, 0.0)[0] == []
    path.write_bytes(written([*old, *new]))
    heard, _ = follow(cursor, 0.0)
    assert said(heard) == ["second"]
    assert sum(isinstance(one.fact, TurnStarted) for one in heard) == 1


def test_a_session_that_moves_into_lines_goes_on_where_it_was(tmp_path: Path) -> None:
    old, new = tmp_path / "session-x.json", tmp_path / "session-x.jsonl"
    messages = [user(1, "one"), answer(2, "first")]
    old.write_bytes(whole(messages))
    _, cursor = follow(GeminiCursor(path=str(old), state=GeminiState(session="5ee704df-1")), 0.0)
    head = {"sessionId": "5ee704df-1", "projectHash": "x", "startTime": at(0), "kind": "main"}
    lines = [head, *messages, {"$set": {"sessionId": "5ee704df-1"}}, user(3, "two"), answer(4, "second")]
    new.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in lines))
    heard, _ = follow(moved_to(str(new), cursor), 0.0)
    assert said(heard) == ["second"]


def test_a_rewound_conversation_is_told(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    lines = [user(1, "one"), answer(2, "first"), {"$rewindTo": "u1"}, user(3, "other"), answer(4, "second")]
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in lines))
    heard, _ = follow(GeminiCursor(path=str(path)), 0.0)
    assert names(heard) == [
        *["TurnStarted", "Said", "Used", "Noted"],
        *["TurnEnded", "TurnStarted", "Said", "Used"],
    ]

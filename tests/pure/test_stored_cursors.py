"""Cursors and small files as earlier versions wrote them: they are read with the same meaning, and written the same."""

import json
from pathlib import Path

import msgspec
import pytest

from farhand.drivers.claude.headless.state import ClaudeStreamCursor
from farhand.drivers.codex.headless.state import CodexHeadlessCursor
from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.cursor import read_cursor, write_cursor
from farhand.drivers.wires.holder.process import HolderCursor
from farhand.drivers.wires.oneshot.runner import OneshotCall
from farhand.model.words import Word

CLAUDE = {
    "wire": "2:517",
    "session": "s-1",
    "state": {
        "session": "s-1",
        "running": True,
        "turn": "t-1",
        "spoke": True,
        "text": "half a",
        "expected": [{"message": "m-1", "text": "hello", "turn": "t-1"}],
        "usage": {"input_tokens": 3},
        "cost_before": 0.25,
        "resets_at": 1800000000.0,
        "skipped": 2,
    },
    "asks": {"r-1": {"question": {"tool": "Bash", "arguments": {"command": "ls", "timeout": None}}}},
}
CODEX = {
    "wire": "1:90",
    "state": {
        "session": "thread",
        "turns": {"theirs": "ours"},
        "running": "theirs",
        "begun": ["ours"],
        "told": {"item": 12},
        "tools": ["call"],
        "changes": {"item": {"title": "Write a", "detail": "+a"}},
        "total": {"input_tokens": 7},
        "answered": {"open": ""},
    },
    "asks": {"theirs:0": {"request": 0, "question": {"method": "item/x", "params": {"a": [1, None]}}}},
}
CALL = {"id": "c", "message": "hi", "directory": "/d", "bridge_url": "http://x", "session": "s", "at": 5.0}


@pytest.mark.parametrize(("stored", "kind"), [(CLAUDE, ClaudeStreamCursor), (CODEX, CodexHeadlessCursor)])
def test_a_cursor_of_an_earlier_version_is_read_and_written_the_same(
    stored: dict[str, object], kind: type[Word]
) -> None:
    assert json.loads(write_cursor(read_cursor(json.dumps(stored), kind))) == stored


def test_what_was_streamed_of_an_item_is_known_after_an_upgrade() -> None:
    assert read_cursor(json.dumps(CODEX), CodexHeadlessCursor).state.streamed == {"item": 12}


def test_a_place_in_a_holder_and_a_call_are_read_as_before() -> None:
    assert HolderCursor.read("3:42") == HolderCursor(life=3, offset=42)
    assert HolderCursor(life=3, offset=42).cursor == "3:42"
    assert json.loads(msgspec.json.encode(msgspec.json.decode(json.dumps(CALL), type=OneshotCall))) == CALL


def test_answers_to_parts_of_a_question_are_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "picks").write_text('{"ask":"a.1","picked":{"choice":"2","note":"soon"}}\n')
    assert PartAnswers(tmp_path / "picks").all() == {"a.1": PartAnswer(choice="2", note="soon")}

"""What was said in a conversation at the desk is read from each CLI's own records, in pages, however long it is."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.claude.launch import ClaudePaths
from farhand.drivers.claude.past import _read as read_claude
from farhand.drivers.codex.sessions import _past as read_codex
from farhand.drivers.gemini.past import read_past as read_gemini
from farhand.drivers.opencode.past import read_past as read_opencode
from farhand.drivers.wires.past import WINDOW_BYTES
from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.ports import SessionFound
from farhand.model.words import HowEnded
from farhand.sdk.projects import project_folder

HERE = Path(__file__).parent
Read = Callable[[int | None, int], HistoryPage]


def turns(page: HistoryPage) -> list[TurnEntry]:
    found = [entry for entry in page.entries if isinstance(entry, TurnEntry)]
    assert len(found) == len(page.entries)
    return found


def claude(folder: Path, recording: Path, session: SessionFound) -> Read:
    places = ClaudePaths.of({"HOME": str(folder)})
    target = places.transcript(session.directory, session.id)
    target.parent.mkdir(parents=True)
    shutil.copy(recording, target)
    return lambda before, limit: read_claude(places, session, before, limit)


def codex(folder: Path, recording: Path, session: SessionFound) -> Read:
    target = folder / "sessions" / "2026" / "11" / "15" / f"rollout-2026-11-15T19-27-53-{session.id}.jsonl"
    target.parent.mkdir(parents=True)
    shutil.copy(recording, target)
    return lambda before, limit: read_codex(folder, session, before, limit)


def gemini(folder: Path, recording: Path, session: SessionFound) -> Read:
    chats = project_folder(folder / "project", folder) / "chats"
    chats.mkdir(parents=True)
    name = f"session-2026-11-15T19-15-{session.id[:8]}.jsonl"
    shutil.copy(recording, chats / name)
    return lambda before, limit: read_gemini(folder / ".gemini", session, before, limit)


RECORDED = [
    (claude, "claude/recordings/transcript-tui.jsonl"),
    (claude, "claude/recordings/transcript-resumed.jsonl"),
    (codex, "codex/recordings/rollout-resumed.jsonl"),
    (codex, "codex/recordings/rollout-tools.jsonl"),
    (gemini, "gemini/recordings/session-resumed.jsonl"),
    (gemini, "gemini/recordings/session-tool-yolo.jsonl"),
]


def session_of(recording: Path) -> SessionFound:
    """As the driver would list it: its id stands in the recording."""
    for line in recording.read_text().splitlines():
        record = json.loads(line)
        found = record.get("sessionId") or record.get("payload", {}).get("id")
        if found:
            return SessionFound(id=found, directory="/srv/shop", open=False)
    raise AssertionError("no session")


@pytest.mark.parametrize(("place", "name"), RECORDED, ids=lambda one: one if isinstance(one, str) else "")
def test_a_recording_is_read_as_turns_with_what_was_asked_and_answered(place: Any, name: str, tmp_path: Path) -> None:
    recording = HERE / name
    read = place(tmp_path, recording, session_of(recording))
    page = read(None, 60)
    found = turns(page)
    assert found
    assert not page.more
    assert all(one.view.typed for one in found)
    assert all(one.view.ended is not None for one in found)
    assert any(one.view.text or one.view.tools for one in found)
    assert [one.seq for one in found] == sorted({one.seq for one in found})
    assert found[0].view.started_at > 1_700_000_000
    # Page by page it is the same.
    paged: list[TurnEntry] = []
    before: int | None = None
    while True:
        page = read(before, 1)
        paged = [*turns(page), *paged]
        if not page.more:
            break
        before = page.entries[0].seq
    assert [one.view.typed for one in paged] == [one.view.typed for one in found]
    assert [one.view.text for one in paged] == [one.view.text for one in found]


def test_a_long_file_is_read_from_its_end_and_never_begins_in_mid_turn(tmp_path: Path) -> None:
    recording = tmp_path / "long.jsonl"
    lines: list[dict[str, Any]] = []
    for number in range(40):
        at = {"timestamp": "2026-11-15T19:15:02.898Z", "sessionId": "s" * 36}
        content = [{"type": "text", "text": f"answer {number} " + "x" * (WINDOW_BYTES // 10)}]
        lines.append({**at, "type": "user", "uuid": f"u{number}", "message": {"content": f"ask {number}"}})
        lines.append(
            {**at, "type": "assistant", "uuid": f"a{number}", "message": {"id": f"m{number}", "content": content}}
        )
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = claude(tmp_path, recording, SessionFound(id="s" * 36, directory="/srv/shop"))
    seen: list[str] = []
    before: int | None = None
    pages = 0
    while True:
        page = read(before, 60)
        seen = [f"{one.view.typed}/{one.view.text.split(' x')[0]}" for one in turns(page)] + seen
        pages += 1
        if not page.more:
            break
        before = page.entries[0].seq
    assert seen == [f"ask {number}/answer {number}" for number in range(40)]
    assert pages >= 4


def test_what_is_open_at_the_desk_may_still_run(tmp_path: Path) -> None:
    recording = tmp_path / "open.jsonl"
    asked = {"type": "user", "uuid": "u", "timestamp": "2026-11-15T19:15:02Z", "message": {"content": "still at it?"}}
    recording.write_text(json.dumps(asked) + "\n")
    for is_open, folder in ((True, "one"), (False, "two")):
        read = claude(tmp_path / folder, recording, SessionFound(id="s", directory="/srv/shop", open=is_open))
        (found,) = turns(read(None, 60))
        assert (found.view.ended is None) is is_open


def test_opencode_is_read_from_its_database(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    tool = {
        "type": "tool",
        "tool": "bash",
        "callID": "c1",
        "state": {"status": "completed", "input": {}, "output": "ok"},
    }
    said: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
        ("user", {}, [{"type": "text", "text": "hello"}, {"type": "text", "text": "hidden", "synthetic": True}]),
        (
            "assistant",
            {},
            [{"type": "reasoning", "text": "hm"}, tool, {"type": "text", "text": "done"}, {"nonsense": 1}],
        ),
        ("user", {}, [{"type": "text", "text": "again"}]),
        ("assistant", {"error": {"name": "MessageAbortedError", "data": {}}}, [{"type": "text", "text": "par"}]),
    ]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE message (id text, session_id text, time_created integer, data text)")
        database.execute("CREATE TABLE part (id text, message_id text, session_id text, data text)")
        for number, (role, more, parts) in enumerate(said, start=1000):
            message = (f"msg_{number}", "ses_1", number, json.dumps({"role": role, **more}))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
            for place, part in enumerate(parts):
                row = (f"prt_{number}_{place}", f"msg_{number}", "ses_1", json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
    session = SessionFound(id="ses_1", directory="/srv/shop")
    first, second = turns(read_opencode(path, session, None, 60))
    assert (first.view.typed, first.view.text, first.view.thought, first.view.tools[0].output) == (
        "hello",
        "done",
        "hm",
        "ok",
    )
    assert (second.view.typed, second.view.text) == ("again", "par")
    assert second.view.ended is not None
    assert second.view.ended.how is HowEnded.INTERRUPTED
    assert [one.view.typed for one in turns(read_opencode(path, session, second.seq, 60))] == ["hello"]
    assert read_opencode(tmp_path / "none.db", session, None, 60) == HistoryPage()

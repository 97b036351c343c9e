"""The conversations of Claude Code on this machine are found by its own files, cheaply and without mixing folders."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from farhand.disk.head_tail import HeadAndTail
from farhand.drivers.claude import launch
from farhand.drivers.claude.launch import ClaudePaths
from farhand.drivers.claude.sessions import find_sessions, resume_command, session_of
from farhand.model.present import Worker
from farhand.model.words import Mode

RECORDED = Path(__file__).parent / "recordings" / "transcript-resumed.jsonl"
SESSION = "aaaaaaaa-2222-4333-8444-555555555555"


@pytest.fixture
def places(tmp_path: Path) -> ClaudePaths:
    return ClaudePaths(tmp_path / "config", tmp_path / "config" / ".claude.json")


def user(text: str, directory: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "cwd": directory, "message": {"role": "user", "content": text}, **more}


def assistant(*texts: str, message: str = "m") -> list[dict[str, Any]]:
    return [
        {"type": "assistant", "message": {"id": message, "content": [{"type": "text", "text": text}]}} for text in texts
    ]


def keep(places: ClaudePaths, directory: str, session: str, *lines: dict[str, Any], at: float = 0.0) -> Path:
    path = places.transcript(directory, session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.utime(path, (at, at))
    return path


def test_a_recorded_conversation_is_told_with_its_first_words_and_its_last_answer() -> None:
    lines = tuple(RECORDED.read_bytes().splitlines())
    found = session_of(SESSION, HeadAndTail(lines, lines, written_at=7.0))
    assert found is not None
    assert (found.directory, found.title, found.at) == ("/home/dev/project", "say: first", 7.0)
    assert (found.answer, found.open) == ("second", False)


def test_the_newest_come_first_and_only_those_of_the_folder(places: ClaudePaths) -> None:
    # Both folders have one name in Claude Code's own house.
    keep(places, "/a/b", "one", user("first", "/a/b"), at=1.0)
    keep(places, "/a/b", "two", user("second", "/a/b"), at=2.0)
    keep(places, "/a-b", "other", user("elsewhere", "/a-b"), at=3.0)
    assert [one.id for one in find_sessions(places, "/a/b")] == ["two", "one"]
    assert [one.id for one in find_sessions(places, "/a-b")] == ["other"]
    assert [one.id for one in find_sessions(places, "")] == ["other", "two", "one"]
    assert find_sessions(places, "/nowhere") == []


def test_a_conversation_in_which_nobody_spoke_is_none(places: ClaudePaths) -> None:
    meta = user("Caveat: not typed by a person", "/a", isMeta=True)
    keep(places, "/a", "empty", {"type": "mode", "mode": "normal"}, meta, user("<command-name>/clear", "/a"))
    keep(places, "/a", "agent-7", user("a task of a subagent", "/a", isSidechain=True))
    places.transcript("/a", "broken").write_bytes(b"\xff\xfe{{{\n[1, 2]\n")
    assert find_sessions(places, "/a") == []


def test_a_name_that_was_given_is_the_title(places: ClaudePaths) -> None:
    summary, named = {"type": "summary", "summary": "sums up"}, {"type": "custom-title", "customTitle": "mine"}
    keep(places, "/a", "one", summary, user("hello", "/a"), at=2.0)
    keep(places, "/a", "two", summary, user("hello", "/a"), named, at=1.0)
    assert [one.title for one in find_sessions(places, "/a")] == ["sums up", "mine"]


def test_the_last_answer_is_all_of_its_message(places: ClaudePaths) -> None:
    keep(places, "/a", "one", user("hi", "/a"), *assistant("old", message="x"), *assistant("in two", "parts"))
    assert find_sessions(places, "/a")[0].answer == "in two\nparts"


def test_a_long_conversation_costs_its_ends(places: ClaudePaths) -> None:
    filler = {"type": "api-request-blob", "message": "x" * 1000}
    path = keep(places, "/a", "one", user("how it began", "/a"), *[filler] * 2000, *assistant("how it ended"))
    assert path.stat().st_size > 2_000_000
    (found,) = find_sessions(places, "/a")
    assert (found.title, found.answer) == ("how it began", "how it ended")


def test_a_session_that_is_open_at_the_desk_says_so(places: ClaudePaths) -> None:
    keep(places, "/a", "here", user("hi", "/a"), at=3.0)
    keep(places, "/a", "gone", user("hi", "/a"), at=2.0)
    keep(places, "/a", "shut", user("hi", "/a"), at=1.0)
    standing = places.config / "sessions"
    standing.mkdir()
    nobody = next(pid for pid in range(4_000_000, 4_100_000) if not Path(f"/proc/{pid}").exists())
    (standing / f"{os.getpid()}.json").write_text(json.dumps({"sessionId": "here", "status": "idle"}))
    (standing / f"{nobody}.json").write_text(json.dumps({"sessionId": "gone", "status": "idle"}))
    (standing / "broken.json").write_text("{")
    assert {one.id: one.open for one in find_sessions(places, "/a")} == {"here": True, "gone": False, "shut": False}


def test_the_way_back_to_the_desk_is_a_command_that_a_shell_understands() -> None:
    worker = Worker(name="ann", since=1, backend="any", directory="/my work", session=SESSION)
    assert resume_command(worker, {}) == f"cd '/my work' && claude --resume {SESSION}"
    elsewhere = resume_command(worker, {"CLAUDE_CONFIG_DIR": "/other house"})
    assert elsewhere == f"cd '/my work' && CLAUDE_CONFIG_DIR='/other house' claude --resume {SESSION}"


def test_a_transcript_without_a_conversation_is_set_aside(tmp_path: Path) -> None:
    transcript = tmp_path / "id.jsonl"
    assert not launch.resumes(transcript)
    transcript.write_text('{"type":"mode"}\n')
    assert not launch.resumes(transcript)
    assert not transcript.exists()
    assert (tmp_path / "id.jsonl.unused").read_text() == '{"type":"mode"}\n'
    transcript.write_text('{"type":"user"}\n')
    assert launch.resumes(transcript)
    assert transcript.exists()


@pytest.mark.parametrize(
    ("written", "mode"),
    [("default", Mode.DEFAULT), ("acceptEdits", Mode.AUTO_EDIT), ("plan", Mode.PLAN), ("bypassPermissions", Mode.YOLO)],
)
def test_a_conversation_keeps_its_mode_and_model(places: ClaudePaths, written: str, mode: Mode) -> None:
    answer = assistant("hi")[0]
    answer["message"]["model"] = "claude-opus-9"
    keep(places, "/a", SESSION, user("hello", "/a", permissionMode="default"), answer)
    keep(places, "/a", SESSION, user("hello", "/a", permissionMode=written), answer)
    (found,) = find_sessions(places, "/a")
    assert (found.mode, found.model) == (mode, "claude-opus-9")

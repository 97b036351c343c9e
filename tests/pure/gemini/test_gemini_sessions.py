"""The sessions of a folder from the Gemini CLI's own files, its settings beside the person's, and its limits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.gemini.launch import GeminiPaths, prepare, session_settings
from farhand.drivers.gemini.limits import limit
from farhand.drivers.gemini.sessions import (
    HEAD_BYTES,
    TAIL_BYTES,
    age,
    find_file,
    has_conversation,
    list_sessions,
    remove_empty_twins,
    session_to_start,
)
from farhand.model.errors import DriverError
from farhand.sdk.projects import project_folder

A, B, C = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "abc")


def message(text: str, kind: str = "user") -> dict[str, Any]:
    return {"id": text[:4], "timestamp": "2026-11-15T19:15:02.898Z", "type": kind, "content": [{"text": text}]}


def head(session: str, **more: str) -> dict[str, Any]:
    return {"sessionId": session, "projectHash": "x", "startTime": "2026-11-15T19:15:02.881Z", "kind": "main", **more}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A home with four sessions of one folder, in both formats, and one of another."""
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project, other):
        folder.mkdir()
    chats = project_folder(project, tmp_path) / "chats"
    chats.mkdir(parents=True)

    def lines(name: str, at: int, *records: dict[str, Any]) -> None:
        (chats / name).write_text("".join(json.dumps(one) + "\n" for one in records))
        os.utime(chats / name, (at, at))

    context = {"$set": {"messages": [message("<session_context>\nhello\n</session_context>")]}}
    lines("session-2026-11-15T19-15-aaaaaaaa.jsonl", 3000, head(A), context, message("fix the tests\nplease"))
    whole = {
        **head(B),
        # So long that it is not read whole.
        "messages": [message("make it blue"), message("x" * (HEAD_BYTES + TAIL_BYTES), "gemini")],
        "summary": "Blue things",
    }
    (chats / "session-2026-11-15T19-14-bbbbbbbb.json").write_text(json.dumps(whole, indent=2))
    os.utime(chats / "session-2026-11-15T19-14-bbbbbbbb.json", (2000, 2000))
    lines("session-2026-11-15T19-16-cccccccc.jsonl", 4000, head(C), context)
    lines("session-2026-11-15T19-17-dddddddd.jsonl", 5000, head("d" * 36, kind="subagent"), message("inner"))
    (project_folder(other, tmp_path) / "chats").mkdir()
    return tmp_path / ".gemini"


def test_sessions_are_listed_newest_first_by_what_they_are_about(kept: Path) -> None:
    project = kept.parent / "project"
    found = list_sessions(str(project), kept)
    assert [(one.id, one.title, one.at) for one in found] == [
        (A, "fix the tests please", 3000.0),
        (B, "Blue things", 2000.0),
    ]
    assert {one.directory for one in found} == {str(project)}
    assert list_sessions(str(kept.parent / "other"), kept) == []
    assert list_sessions(str(kept.parent / "nowhere"), kept) == []
    assert [one.id for one in list_sessions("", kept)] == [A, B]


def test_a_session_is_found_by_its_id_and_never_by_its_folder(kept: Path) -> None:
    found = find_file(A, kept)
    assert found is not None
    assert found.name == "session-2026-11-15T19-15-aaaaaaaa.jsonl"
    assert find_file("aaaaaaaa-other", kept) is None
    assert has_conversation(B, kept)
    assert not has_conversation(C, kept)
    assert not has_conversation("", kept)


def test_a_session_in_which_nobody_spoke_is_left_for_a_new_one(kept: Path) -> None:
    assert session_to_start(A, kept) == (A, True)
    fresh = "e" * 36
    assert session_to_start(fresh, kept) == (fresh, False)
    begun, resumed = session_to_start(C, kept)
    assert (len(begun), resumed) == (36, False)
    assert begun not in (C, session_to_start(C, kept)[0])
    # What was said is taken back, as after a model that could not be reached.
    path = find_file(A, kept)
    assert path is not None
    with path.open("a") as file:
        file.write(json.dumps({"$set": {"messages": [message("<session_context>\nhello\n</session_context>")]}}) + "\n")
    assert session_to_start(A, kept)[0] != A


def test_a_session_of_this_minute_gets_an_older_name_and_an_older_one_keeps_its_own(kept: Path) -> None:
    age(A, kept, "2026-11-15T19-16")
    assert (found := find_file(A, kept)) is not None
    assert found.name == "session-2026-11-15T19-15-aaaaaaaa.jsonl"
    age(A, kept, "2026-11-15T19-15")
    assert (found := find_file(A, kept)) is not None
    assert found.name == "session-2026-11-15T19-14-aaaaaaaa.jsonl"


HOOKS = {"BeforeAgent": [{"hooks": [{"type": "command", "name": "farhand", "command": "x"}]}]}


def test_the_empty_twin_of_a_session_goes_and_nothing_else(kept: Path) -> None:
    own = find_file(A, kept)
    assert own is not None
    before = sorted(own.parent.iterdir())
    twin = own.with_name("session-2026-11-15T19-16-aaaaaaaa.jsonl")
    context = {"$set": {"messages": [message("<session_context>\nhello\n</session_context>")]}}
    twin.write_text("".join(json.dumps(one) + "\n" for one in (head(A), context)))
    # Another session whose id begins the same, in which nobody has spoken yet.
    other = own.with_name("session-2026-11-15T19-17-aaaaaaaa.jsonl")
    other.write_text(json.dumps(head("aaaaaaaa-another")) + "\n")
    remove_empty_twins(kept)
    assert sorted(own.parent.iterdir()) == sorted([*before, other])
    assert find_file(A, kept) == own


def test_the_persons_settings_stay_and_ours_lie_over_a_copy(tmp_path: Path) -> None:
    kept = tmp_path / "home/.gemini"
    kept.mkdir(parents=True)
    own = (
        '// mine\n{"ui": {"theme": "Dracula"}, "hooks": {"BeforeAgent": [{"hooks": []}]}, "general": {"vimMode": true}}'
    )
    (kept / "settings.json").write_text(own)
    (kept / "oauth_creds.json").write_text("secret")
    places = GeminiPaths.of({"HOME": str(tmp_path / "home")}, tmp_path / "view")
    for _ in range(2):
        prepare(places, tmp_path, {"GEMINI_API_KEY": "x"}, HOOKS)
    seen = json.loads((tmp_path / "view/.gemini/settings.json").read_text())
    assert seen["ui"]["theme"] == "Dracula"
    assert seen["general"]["vimMode"] is False
    assert seen["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert [len(group["hooks"]) for group in seen["hooks"]["BeforeAgent"]] == [0, 1]
    assert (kept / "settings.json").read_text() == own
    assert (tmp_path / "view/.gemini/oauth_creds.json").resolve() == kept / "oauth_creds.json"
    assert (tmp_path / "view/.gemini/tmp").resolve() == kept / "tmp"


def test_the_way_in_that_a_person_chose_is_theirs() -> None:
    chosen = {"security": {"auth": {"selectedType": "vertex-ai"}}}
    assert session_settings(chosen, {"GEMINI_API_KEY": "x"}, {})["security"] == chosen["security"]
    assert "security" not in session_settings({}, {}, {})
    assert "hooks" not in session_settings({}, {}, {})


def test_settings_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    kept = tmp_path / ".gemini"
    kept.mkdir()
    (kept / "settings.json").write_text("{")
    with pytest.raises(DriverError, match=r"settings cannot be read: .*settings\.json"):
        prepare(GeminiPaths.of({"HOME": str(tmp_path)}, tmp_path / "view"), tmp_path, {}, {})


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ('[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]', None),
        ('{"error":{"code":429,"details":[{"retryDelay":"36s"}]}}', 1036.0),
        ("Quota exceeded for metric. Please retry in 12.5s.", 1012.5),
        ("Quota exceeded for metric. Please retry in 13h5m2.5s.", 48102.5),
        ("Quota exceeded for metric. Please retry in 250ms.", 1000.25),
        ("Quota exceeded.\nPlease retry in 4000s.\nSuggested retry after 4000s.", 5000.0),
        ("You have exhausted your daily quota on this model.", None),
        ("You have exhausted your capacity on this model. Your quota will reset after 1h2m3s.", 4723.0),
    ],
)
def test_a_limit_is_known_with_its_end(text: str, until: float | None) -> None:
    found = limit(text, 1000.0)
    assert found is not None
    assert (found.until, found.text) == (until, text)


def test_another_error_is_no_limit() -> None:
    assert limit('[API Error: {"error":{"code":400,"message":"not in the mood"}}]', 1000.0) is None

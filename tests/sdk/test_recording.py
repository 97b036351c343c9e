"""Sessions are written as the CLI writes them, read as it reads them, and lose nothing that a sidecar can hold."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Error, Finish, Notice, SessionNotFound, wire
from farhand.sdk.conversation import apply_records, read_conversation, read_sidecar, restore
from farhand.sdk.projects import find_slug, project_folder, project_hash
from farhand.sdk.recording import Recording, new_id
from farhand.testing.models.gemini import FakeGemini, answers, calls, chunk, says

RECORDINGS = Path(__file__).parent / "recordings"


def look() -> str:
    """Looks."""
    return "seen"


def lines(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.mark.anyio
async def test_a_session_is_recorded_as_the_cli_does_it(
    make_agent: MakeAgent, fake: FakeGemini, home: Path, project: Path
) -> None:
    fake.expect(calls("look", text="I look.", call_id="c1"), says("done"))
    session = make_agent(tools=[look]).session()
    await session.send("go")
    path = Path(session.transcript_path)
    assert path.parent == home / ".gemini" / "tmp" / "project" / "chats"
    assert path.name.endswith(f"-{session.id[:8]}.jsonl")
    first, opening, prompt, *_ = lines(path)
    assert first["sessionId"] == session.id
    assert first["projectHash"] == project_hash(project)
    assert first["kind"] == "main"
    assert opening["$set"]["messages"][0]["content"][0]["text"].startswith("<session_context>")
    assert (prompt["type"], prompt["content"]) == ("user", [{"text": "go"}])
    messages = read_conversation(path).messages
    assert [message["type"] for message in messages] == ["user", "user", "gemini", "gemini"]
    called = messages[2]
    assert (called["content"], called["toolCalls"][0]["status"]) == ("I look.", "success")
    assert called["toolCalls"][0]["result"][0]["functionResponse"]["id"] == "c1"
    assert called["tokens"]["total"] == 110
    assert json.loads((home / ".gemini" / "projects.json").read_text()) == {"projects": {str(project): "project"}}


@pytest.mark.anyio
async def test_a_resumed_session_is_the_same_to_the_last_byte(make_agent: MakeAgent, fake: FakeGemini) -> None:
    parts: list[dict[str, Any]] = [
        {"text": "**Plan** it", "thought": True},
        {"functionCall": {"name": "look", "args": {}, "id": "c1"}, "thoughtSignature": "c2ln"},
    ]
    fake.expect(answers(chunk(*parts, finish="STOP")), says("done"), says("still here"))
    agent = make_agent(tools=[look])
    session = agent.session()
    await session.send("go")
    again = await agent.resume_session(session.id)
    await again.send("and?")
    assert again.id == session.id
    assert again.losses == ()
    assert again.transcript_path == session.transcript_path
    assert fake.last["contents"][1:-1] == session.transcript[1:]
    assert fake.last["contents"][2]["parts"] == parts


@pytest.mark.anyio
async def test_without_the_sidecar_the_loss_is_told(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(calls("look", call_id="c1", signature="c2ln"), says("done"), says("still here"))
    agent = make_agent(tools=[look])
    session = agent.session()
    await session.send("go")
    Path(session.transcript_path + ".wire").unlink()
    again = await agent.resume_session("latest")
    assert len(again.losses) == 1
    assert "thought signatures" in again.losses[0]
    events = [event async for event in again.send_stream("and?")]
    assert Notice(again.losses[0], "resume") in events
    assert "thoughtSignature" not in json.dumps(fake.last)


@pytest.mark.anyio
async def test_an_unknown_session_is_refused_with_those_that_are_there(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("hi"))
    agent = make_agent()
    session = agent.session()
    await session.send("hi")
    with pytest.raises(SessionNotFound) as raised:
        await agent.resume_session("11111111-0000-0000-0000-000000000000")
    assert session.id in str(raised.value)


@pytest.mark.anyio
async def test_a_call_that_was_running_when_the_process_died_is_answered(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    fake.expect(calls("look", call_id="c1", signature="c2ln"), says("done"), says("I see."))
    agent = make_agent(tools=[look])
    session = agent.session()
    await session.send("go")
    path = Path(session.transcript_path)
    recorded = path.read_text().splitlines(keepends=True)
    cut = next(index for index, line in enumerate(recorded) if "toolCalls" in line)
    path.write_text("".join(recorded[:cut]) + recorded[cut][:40])
    again = await agent.resume_session(session.id)
    assert any("no recorded result" in loss for loss in again.losses)
    await again.send("what happened?")
    assert "interrupted" not in json.dumps(fake.requests[1].body)
    response = wire.responses_of(fake.last["contents"][3])[0]
    assert response["id"] == "c1"
    assert "unknown" in response["response"]["error"]


def test_the_clis_own_session_is_read_without_doubled_responses() -> None:
    conversation = read_conversation(RECORDINGS / "session-tool-yolo.jsonl")
    restored = restore(conversation, {})
    assert [content["role"] for content in restored.contents] == ["user", "model", "user", "model"]
    responses = [response for content in restored.contents for response in wire.responses_of(content)]
    assert len(responses) == 1
    assert restored.contents[0] == wire.user("tool: ls")
    assert len(restored.losses) == 1


def test_the_clis_resumed_session_is_read() -> None:
    restored = restore(read_conversation(RECORDINGS / "session-resumed.jsonl"), {})
    assert [wire.text_of(content) for content in restored.contents] == ["say: first", "first", "say: second", "second"]
    assert restored.losses == ()


def test_records_are_applied_in_order() -> None:
    def line(value: dict[str, Any]) -> str:
        return json.dumps(value)

    def message(name: str, text: str) -> dict[str, Any]:
        return {"id": name, "type": "user", "content": [{"text": text}]}

    base = [line({"sessionId": "s", "projectHash": "h"}), line(message("a", "1")), line(message("b", "2"))]
    assert [m["id"] for m in apply_records(base).messages] == ["a", "b"]
    assert [m["content"][0]["text"] for m in apply_records([*base, line(message("a", "9"))]).messages] == ["9", "2"]
    assert [m["id"] for m in apply_records([*base, line({"$rewindTo": "b"})]).messages] == ["a"]
    assert apply_records([*base, line({"$rewindTo": "unknown"})]).messages == ()
    checkpoint = line({"$set": {"messages": [message("c", "3")], "summary": "short"}})
    applied = apply_records([*base, checkpoint, "{half a li"])
    assert [m["id"] for m in applied.messages] == ["c"]
    assert applied.metadata["summary"] == "short"
    assert applied.damaged_lines == 1


def test_two_projects_of_one_name_get_two_folders(tmp_path: Path) -> None:
    first, second, home = tmp_path / "a" / "My App!", tmp_path / "b" / "my-app", tmp_path / "home"
    assert project_folder(first, home).name == "my-app"
    assert project_folder(second, home).name == "my-app-1"
    assert project_folder(first, home).name == "my-app"
    (home / ".gemini" / "projects.json").write_text("{broken")
    assert find_slug(second, home / ".gemini") == "my-app-1"


def test_a_device_without_room_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    path = tmp_path / "session.jsonl"
    path.symlink_to("/dev/full")
    recording = Recording(path, told.append)
    recording.start("s", tmp_path)
    recording.said(wire.user("lost"))
    assert len(told) == 1
    assert "No space left on device" in told[0]


@pytest.mark.anyio
async def test_a_full_disk_ends_the_recording_and_not_the_turn(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    try:
        fake.expect(says("short"), says("x" * 100_000), says("and on"))
        session = make_agent(home=small).session()
        await session.send("hi")
        whole = Path(session.transcript_path).read_text()
        events = [event async for event in session.send_stream("fill it")]
        errors = [event for event in events if isinstance(event, Error)]
        assert [(error.kind, error.fatal) for error in errors] == [("recording", False)]
        assert "No space left on device" in errors[0].message
        assert isinstance(events[-1], Finish)
        assert events[-1].reason == "stop"
        after = Path(session.transcript_path).read_text()
        assert after.startswith(whole)
        assert all(json.loads(line) for line in after.splitlines())
        assert after.endswith("\n")
        assert (await session.send("go on")).text == "and on"
        assert len(fake.last["contents"]) == 6
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_sidecar_that_is_damaged_costs_its_damaged_lines(tmp_path: Path) -> None:
    sidecar = tmp_path / "s.jsonl.wire"
    sidecar.write_text('{"id":"a","content":{"role":"model","parts":[]}}\n{"id":"b","cont')
    assert list(read_sidecar(sidecar)) == ["a"]


def test_a_line_stays_a_line_for_every_reader(tmp_path: Path) -> None:
    odd = "one\u2028two\u2029three\x85four\x0bfive"
    recording = Recording(tmp_path / "session.jsonl")
    recording.start("s", tmp_path)
    recording.said(wire.user(odd))
    text = (tmp_path / "session.jsonl").read_text()
    assert "\u2028" not in text
    assert "\u2029" not in text
    assert restore(read_conversation(tmp_path / "session.jsonl"), {}).contents == (wire.user(odd),)


@pytest.mark.anyio
async def test_a_session_of_an_older_version_is_moved_to_the_newer_form(
    make_agent: MakeAgent, fake: FakeGemini, home: Path, project: Path
) -> None:
    chats = project_folder(project, home) / "chats"
    chats.mkdir()
    messages = [
        {"id": "a", "type": "user", "content": "hello"},
        {"id": "b", "type": "gemini", "content": "hi there", "toolCalls": []},
    ]
    old = {"sessionId": "01234567-old", "projectHash": project_hash(project), "startTime": "2025", "messages": messages}
    (chats / "session-2025-01-01T00-00-01234567.json").write_text(json.dumps(old))
    fake.expect(says("one"), says("two"))
    agent = make_agent()
    session = await agent.resume_session("01234567-old")
    await session.send("again")
    assert [wire.text_of(content) for content in fake.last["contents"][1:]] == ["hello", "hi there", "again"]
    path = Path(session.transcript_path)
    assert path.suffix == ".jsonl"
    assert read_conversation(path).session_id == "01234567-old"
    again = await agent.resume_session("01234567-old")
    await again.send("and again")
    assert [wire.text_of(content) for content in fake.last["contents"][1:]] == [
        "hello",
        "hi there",
        "again",
        "one",
        "and again",
    ]


@pytest.mark.anyio
async def test_an_empty_file_of_a_later_minute_does_not_hide_the_session(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    """As the Gemini CLI leaves one when it resumes a session in another minute than it was begun in."""
    fake.expect(says("Hello."), says("Again."))
    agent = make_agent()
    session = agent.session()
    await session.send("first words")
    agent.rename_session(session.id, "The first")
    [recorded] = agent.sessions()
    first = json.loads(Path(recorded.path).read_text().splitlines()[0])
    empty = Path(recorded.path).with_name(f"session-2099-01-01T00-00-{session.id[:8]}.jsonl")
    empty.write_text(json.dumps({**first, "startTime": "2099-01-01T00:00:00.000Z", "lastUpdated": "2099"}) + "\n")
    assert [(one.id, one.name) for one in agent.sessions()] == [(session.id, "The first")]
    again = await agent.resume_session(session.id)
    await again.send("second words")
    assert [part["text"] for one in fake.last["contents"][-3:] for part in one["parts"]] == [
        "first words",
        "Hello.",
        "second words",
    ]


def test_ids_are_uuids() -> None:
    made = {new_id() for _ in range(100)}
    assert len(made) == 100
    assert {uuid.UUID(each).version for each in made} == {4}
    assert {uuid.UUID(each).variant for each in made} == {uuid.RFC_4122}

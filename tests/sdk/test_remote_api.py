"""A program outside types into a live conversation and reads its history: the remote control over HTTP."""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.remote_desk import SAFETY_SECONDS, RemoteDesk, events, remote_desk

from farhand.cli.remote_control import remote_control
from farhand.model.errors import PortTaken
from farhand.remote.openapi import document
from farhand.sdk import Approval, SessionContext, ToolCall
from farhand.testing.http import local_client
from farhand.testing.models.gemini import FakeGemini, calls, held, says

pytestmark = pytest.mark.anyio


async def test_a_message_is_in_the_history_at_once_and_is_answered(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "Hi there!"))
    async with remote_desk(make_agent(), tmp_path) as desk:
        assert (await desk.post("/message", {"message": "Hello"})).status_code == 200
        assert (await desk.get("/history"))[0] == {"role": "user", "text": "Hello"}
        gate.set()
        await desk.stable()
        assert await desk.get("/history") == [{"role": "user", "text": "Hello"}, {"role": "model", "text": "Hi there!"}]
        assert await desk.get("/history", params={"limit": "1"}) == [{"role": "model", "text": "Hi there!"}]
        assert await desk.get("/history", params={"limit": "0"}) == []


async def test_what_the_screen_itself_says_is_not_in_the_history(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    fake.expect(says("Yes."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        desk.session.notice("Type /help for help.")
        await desk.post("/message", {"message": "Are you there?"})
        await desk.stable()
        assert [one["text"] for one in await desk.get("/history")] == ["Are you there?", "Yes."]
        assert [one["content"] for one in (await desk.get("/messages"))["messages"]] == ["Are you there?", "Yes."]


async def test_nothing_is_taken_while_the_screen_is_not_ready(make_agent: MakeAgent, tmp_path: Path) -> None:
    async with remote_desk(make_agent(), tmp_path, ready=False) as desk:
        refused = await desk.post("/message", {"message": "Hello"})
        assert refused.status_code == 503
        assert "screen" in refused.json()["detail"]
        assert await desk.get("/history") == []


WRONG: dict[str, bytes] = {
    "no JSON": b"{",
    "no object": b"[]",
    "nothing": b"",
    "another field": b'{"text": "x"}',
    "no text": b'{"message": 1}',
    "an empty text": b'{"message": "  "}',
    "both forms": b'{"message": "a", "content": "b"}',
    "an unknown type": b'{"content": "a", "type": "system"}',
    "half a character": b'{"message": "\\ud800"}',
    "no UTF-8": b'{"message": "\xff"}',
    "a deep list": b"[" * 100_000,
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
async def test_what_is_no_message_is_refused_with_a_reason(make_agent: MakeAgent, tmp_path: Path, body: bytes) -> None:
    async with remote_desk(make_agent(), tmp_path) as desk:
        refused = await desk.client.post("/message", content=body)
        assert refused.status_code == 400, refused.text
        assert refused.json()["detail"]
        assert desk.session.log.messages == ()


@pytest.mark.parametrize("limit", ["-1", "x", "1.5", "", "9" * 30])
async def test_a_limit_that_is_no_number_is_refused(make_agent: MakeAgent, tmp_path: Path, limit: str) -> None:
    async with remote_desk(make_agent(), tmp_path) as desk:
        assert (await desk.client.get("/history", params={"limit": limit})).status_code == 400


async def test_during_a_turn_a_message_waits_visibly(make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One."), says("Two."), says("Four."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        await desk.post("/message", {"message": "first"})
        second = (await desk.post("/message", {"message": "second"})).json()
        third = (await desk.post("/message", {"content": "third", "type": "user"})).json()
        await desk.post("/message", {"message": "fourth"})
        assert (second["state"], third["state"]) == ("queued", "queued")
        assert (await desk.get("/status"))["queued"] == 3
        assert [one["text"] for one in await desk.get("/history")] == ["first", "second", "third", "fourth"]
        assert (await desk.client.delete(f"/messages/{third['id']}")).status_code == 200
        assert (await desk.client.delete(f"/messages/{third['id']}")).status_code == 404
        gate.set()
        await desk.stable()
        said = [one["text"] for one in await desk.get("/history")]
    assert said == ["first", "One.", "second", "Two.", "fourth", "Four."]


async def test_the_same_key_says_nothing_twice(make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path) -> None:
    fake.expect(says("Once."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        keyed = {"Idempotency-Key": "k1"}
        first = await desk.post("/message", {"message": "go"}, headers=keyed)
        again = await desk.post("/message", {"message": "go"}, headers=keyed)
        other = await desk.post("/message", {"message": "stop"}, headers=keyed)
        await desk.stable()
        assert first.json()["id"] == again.json()["id"]
        assert other.status_code == 409
        assert [one["text"] for one in await desk.get("/history")] == ["go", "Once."]


async def test_a_question_is_read_and_answered_from_outside(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    ran: list[str] = []

    class Asking:
        async def approve(self, call: ToolCall, context: SessionContext) -> Approval:
            return Approval("ask", "Really?")

    def run_shell_command(command: str) -> str:
        """Runs it."""
        ran.append(command)
        return "done"

    fake.expect(calls("run_shell_command", {"command": "make all\nrm -r build"}), says("Built."))
    agent = make_agent(tools=[run_shell_command], approver=Asking(), interactive=True)
    async with remote_desk(agent, tmp_path, key="secret") as desk:
        desk.client.headers["Authorization"] = "Bearer secret"
        await desk.post("/message", {"message": "build"})
        await desk.until(lambda: bool(desk.session.log.asks))
        [ask] = (await desk.get("/asks"))["asks"]
        assert ask["detail"] == "make all\nrm -r build"
        assert (await desk.get("/status"))["asks"] == 1
        path = f"/asks/{ask['id']}"
        assert (await desk.post(path, {})).status_code == 400
        assert (await desk.post(path, {"choice": "maybe"})).status_code == 400
        assert (await desk.post("/asks/nobody", {"choice": "allow"})).status_code == 404
        assert ran == []
        assert (await desk.post(path, {"choice": "allow"})).status_code == 200
        assert (await desk.post(path, {"choice": "deny"})).status_code == 409
        await desk.stable()
    assert ran == ["make all\nrm -r build"]


async def test_without_a_key_nobody_permits_from_outside(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path, project: Path
) -> None:
    """A program that the agent runs is of the same user: it must not permit itself anything."""
    fake.expect(calls("run_shell_command", {"command": "touch made"}), says("As you wish."))
    agent = make_agent(builtin_tools=True, mode="default", interactive=True)
    async with remote_desk(agent, tmp_path) as desk:
        await desk.post("/message", {"message": "go"})
        await desk.until(lambda: bool(desk.session.log.asks))
        [ask] = (await desk.get("/asks"))["asks"]
        refused = await desk.post(f"/asks/{ask['id']}", {"choice": "allow"})
        assert refused.status_code == 403
        assert "FARHAND_REMOTE_KEY" in refused.json()["detail"]
        assert (await desk.post(f"/asks/{ask['id']}", {"choice": "deny"})).status_code == 200
        await desk.stable()
    assert not (project / "made").exists()


async def test_a_turn_is_stopped_from_outside(make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two", before=1))
    async with remote_desk(make_agent(), tmp_path) as desk:
        assert (await desk.post("/interrupt", {})).json() == {"ok": True, "interrupted": False}
        await desk.post("/message", {"message": "count"})
        await desk.until(lambda: any(one.text == "One," for one in desk.session.log.messages))
        assert (await desk.post("/interrupt", {})).json() == {"ok": True, "interrupted": True}
        gate.set()
        await desk.stable()
        assert (await desk.get("/messages"))["messages"][-1]["state"] == "interrupted"


async def test_events_come_live_and_go_on_where_they_were_cut(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    fake.expect(says("Hello ", "you."), says("Again."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        await desk.post("/message", {"message": "hi"})
        seen, last = await _read_until(desk, "", "Hello you.")
        assert seen[0] == ("resume", {"resume": "whole", "log": desk.session.log.id, "after": 0})
        assert ("user", "hi") in [(data["role"], data["message"]) for name, data in seen if name == "message_update"]
        await desk.stable()
        await desk.post("/message", {"message": "more"})
        await desk.stable()
        seen, _ = await _read_until(desk, last, "Again.")
        assert seen[0][1]["resume"] == "whole"
        assert "hi" not in [data["message"] for name, data in seen if name == "message_update"]
        seen, _ = await _read_until(desk, "another:7", "Again.")
        assert seen[0][1]["resume"] == "gap"
        assert "hi" in [data["message"] for name, data in seen if name == "message_update"]


async def _read_until(desk: RemoteDesk, last: str, text: str) -> tuple[list[tuple[str, Any]], str]:
    """What comes up to the batch that has this text, and its id."""
    seen: list[tuple[str, Any]] = []
    there = False
    with anyio.fail_after(SAFETY_SECONDS):
        async with desk.client.stream("GET", "/events", headers={"Last-Event-ID": last}) as response:
            async for name, identity, data in events(response):
                seen.append((name, data))
                there |= name == "message_update" and data["message"] == text
                if there and identity:
                    return seen, identity
    raise AssertionError("the stream came to an end")


async def test_a_file_is_taken_under_a_harmless_name(make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path) -> None:
    content = bytes(range(256)) + b"\r\n--almost\r\n"
    async with remote_desk(make_agent(), tmp_path / "uploads") as desk:
        answer = await desk.client.post("/upload", files={"file": ("../../etc/pass wd", content)})
        assert answer.status_code == 200, answer.text
        path = Path(answer.json()["filePath"])
        assert path.is_relative_to(tmp_path / "uploads")
        assert (path.name, path.read_bytes(), path.stat().st_mode & 0o777) == ("pass wd", content, 0o600)
        assert (await desk.client.post("/upload", content=b"x")).status_code == 400
        assert (await desk.client.post("/upload", files={"other": ("a", b"b")})).status_code == 400
        large = await desk.client.post("/upload", files={"file": ("a", b"x" * (11 * 1024 * 1024))})
        assert large.status_code == 413


STRANGERS = {
    "a rebound name": {"Host": "evil.example"},
    "a page of another site": {"Origin": "https://evil.example"},
    "a page of another port": {"Origin": "http://localhost:1"},
    "a page without a name": {"Origin": "null"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "a tunnel": {"X-Forwarded-For": "203.0.113.7"},
}


@pytest.mark.parametrize("headers", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("key", ["", "secret"])
async def test_strangers_are_refused_with_and_without_a_key(
    make_agent: MakeAgent, tmp_path: Path, headers: dict[str, str], key: str
) -> None:
    async with remote_desk(make_agent(), tmp_path, key=key) as desk:
        given = {**headers, **({"Authorization": f"Bearer {key}"} if key else {})}
        for path in ("/history", "/docs", "/nowhere"):
            assert (await desk.client.get(path, headers=given)).status_code == 403
        assert (await desk.post("/message", {"message": "x"}, headers=given)).status_code == 403
        assert desk.session.log.messages == ()


async def test_where_a_key_is_set_it_is_needed(make_agent: MakeAgent, tmp_path: Path) -> None:
    async with remote_desk(make_agent(), tmp_path, key="secret") as desk:
        assert (await desk.client.get("/status")).status_code == 401
        assert (await desk.client.get("/status", headers={"Authorization": "Bearer wrong"})).status_code == 401
        assert (await desk.client.get("/status", headers={"Authorization": "Bearer secret"})).status_code == 200


async def test_it_listens_on_loopback_alone_and_a_taken_port_is_told(make_agent: MakeAgent, tmp_path: Path) -> None:
    async with remote_desk(make_agent(), tmp_path) as desk:
        listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
        places = [line[1] for line in listening if line[1].endswith(f":{desk.port:04X}") and line[3] == "0A"]
        assert places == [f"0100007F:{desk.port:04X}"]
        with pytest.raises(PortTaken, match="already in use"):
            async with remote_control(lambda _: desk.session, desk.port, tmp_path):
                pass


async def test_a_thousand_messages_of_five_programs_arrive_once_each(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "Never said."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        await desk.post("/message", {"message": "begin"})

        async def speak(program: int) -> None:
            for number in range(200):
                assert (await desk.post("/message", {"message": f"{program}-{number}"})).status_code == 200

        async with anyio.create_task_group() as tasks:
            for program in range(5):
                tasks.start_soon(speak, program)
        said = [one["text"] for one in await desk.get("/history")][1:]
        assert sorted(said) == sorted(f"{program}-{number}" for program in range(5) for number in range(200))
        for program in range(5):
            own = [text for text in said if text.startswith(f"{program}-")]
            assert own == [f"{program}-{number}" for number in range(200)]
        for message in desk.session.log.waiting:
            await desk.session.withdraw(message.id)
        await desk.session.interrupt()
        gate.set()
        await desk.stable()


async def test_an_open_request_does_not_hold_the_end_up(make_agent: MakeAgent, tmp_path: Path) -> None:
    async with local_client(timeout=SAFETY_SECONDS) as outside:
        async with remote_desk(make_agent(), tmp_path) as desk:
            address = f"http://127.0.0.1:{desk.port}"
            request = outside.build_request("GET", f"{address}/events")
            response = await outside.send(request, stream=True)
            assert response.status_code == 200
        with pytest.raises(httpx2.ConnectError):
            await outside.get(f"{address}/status")
        await response.aclose()


async def test_the_api_describes_itself(make_agent: MakeAgent, tmp_path: Path) -> None:
    async with remote_desk(make_agent(), tmp_path) as desk:
        assert await desk.get("/openapi.json") == json.loads(json.dumps(document()))
        page = await desk.client.get("/docs")
        assert page.status_code == 200
        assert "/asks/{ask}" in page.text
        assert (await desk.client.get("/nowhere")).json()["error"]["code"] == "no_route"
        assert (await desk.client.get("/message")).status_code == 405
        assert (await desk.client.head("/events")).status_code == 200


@pytest.mark.parametrize("text", ["@~nobody-of-that-name/x", "@" + "a" * 5000, "@a\0b", "@. @/ @", "@secret.txt\ud7ff"])
async def test_a_word_that_names_no_file_is_a_word(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path, text: str
) -> None:
    fake.expect(says("What?"))
    async with remote_desk(make_agent(), tmp_path) as desk:
        assert (await desk.post("/message", {"message": text})).status_code == 200
        await desk.stable()
        assert (await desk.get("/history"))[-1]["text"] == "What?"


async def test_a_file_that_is_named_goes_along(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path, project: Path
) -> None:
    (project / "notes.txt").write_text("forty-two")
    fake.expect(says("I read it."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        await desk.post("/message", {"message": "read @notes.txt please"})
        await desk.stable()
        assert "forty-two" in json.dumps(fake.last["contents"][-1])
        assert (await desk.get("/history"))[0] == {"role": "user", "text": "read @notes.txt please"}


async def test_an_image_that_is_named_goes_along_as_one(
    make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path, project: Path
) -> None:
    content = b"\x89PNG\r\n\x1a\n forty-two"
    (project / "plan.png").write_bytes(content)
    fake.expect(says("I see it."))
    async with remote_desk(make_agent(), tmp_path) as desk:
        await desk.post("/message", {"message": "look at @plan.png please"})
        await desk.stable()
        parts = fake.last["contents"][-1]["parts"]
        [inline] = [part["inlineData"] for part in parts if "inlineData" in part]
        assert inline == {"mimeType": "image/png", "data": base64.b64encode(content).decode()}
        assert (await desk.get("/history"))[0] == {"role": "user", "text": "look at @plan.png please"}

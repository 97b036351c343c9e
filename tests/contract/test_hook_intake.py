"""Hooks that know no more than their session find the worker that has it, and nobody else hears of them."""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import httpx2
import pytest

from farhand.drivers.wires.hooks import endpoint
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookEndpoint, HookReport
from farhand.drivers.wires.hooks.public_route import LONGEST_PAYLOAD, PublicHookRoute, event_name, session_of
from farhand.manifests import asking_events
from farhand.model.present import Present, Worker
from farhand.server import http
from farhand.server.local import RouteGuard, closed
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
TEAM = Present(
    workers={
        # Two of one backend in one folder, and one whose session has the same id elsewhere.
        name: Worker(name=name, since=1, backend=backend, directory="/same", session=session)
        for name, backend, session in (("ann", "codex", "s-ann"), ("bob", "codex", "s-bob"), ("eve", "gemini", "s-ann"))
    }
)

KEYS = defaultdict(str, {"anns-key": "ann", "bobs-key": "bob"})


@asynccontextmanager
async def opened(desk: HookEndpoint) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a node whose hooks knock at this desk."""
    intake = PublicHookRoute(desk, TEAM.having, {"codex": frozenset({"PermissionRequest"})})
    application = http.application(closed(intake.routes(), RouteGuard("the-key", KEYS.__getitem__)))
    listener = http.bind("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with anyio.create_task_group() as tasks:
        await tasks.start(http.serve, application, listener)
        async with local_client(base_url=address) as client:
            with anyio.fail_after(SAFETY_SECONDS):
                yield client
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(("key", "code"), [("anns-key", 200), ("bobs-key", 403), ("the-key", 200)])
async def test_a_workers_key_brings_its_own_hooks_alone(key: str, code: int) -> None:
    desk = HookEndpoint()
    with desk.listening("ann") as for_ann:
        async with opened(desk) as client:
            headers = {"Authorization": f"Bearer {key}"}
            body = {"session_id": "s-ann"}
            answer = await client.post("/api/hooks/codex/pre-tool-use", json=body, headers=headers)
            assert answer.status_code == code
        assert for_ann.statistics().current_buffer_used == (1 if code == 200 else 0)


async def test_two_workers_in_one_folder_do_not_mix() -> None:
    desk = HookEndpoint()
    with desk.listening("ann") as for_ann, desk.listening("bob") as for_bob, desk.listening("eve") as for_eve:
        async with opened(desk) as client:
            for session in ("s-bob", "s-ann"):
                answer = await client.post(
                    "/api/hooks/codex/pre-tool-use", json={"session_id": session, "cwd": "/same"}
                )
                assert (answer.status_code, answer.json()) == (200, {})
        bob, ann = for_bob.receive_nowait(), for_ann.receive_nowait()
        assert isinstance(bob, HookReport)
        assert isinstance(ann, HookReport)
        assert (bob.event, bob.keyed, session_of(bob.payload)) == ("PreToolUse", True, "s-bob")
        assert session_of(ann.payload) == "s-ann"
        assert bob.id
        for nobody in (for_ann, for_bob, for_eve):
            with pytest.raises(anyio.WouldBlock):
                nobody.receive_nowait()


async def test_a_session_that_nobody_has_is_answered_at_once_and_told_to_nobody() -> None:
    desk = HookEndpoint()
    with desk.listening("ann") as for_ann:
        async with opened(desk) as client:
            for backend, payload in (
                ("codex", {"session_id": "unknown", "cwd": "/same"}),
                ("codex", {"cwd": "/same"}),
                ("codex", {"session_id": 7}),
                ("codex", {"session_id": ""}),
                # Bob's agent is not listened to now.
                ("codex", {"session_id": "s-bob"}),
                ("nobody", {"session_id": "s-ann"}),
            ):
                answer = await client.post(f"/api/hooks/{backend}/permission-request", json=payload)
                assert (answer.status_code, answer.json()) == (200, {})
        with pytest.raises(anyio.WouldBlock):
            for_ann.receive_nowait()


async def test_an_event_that_asks_waits_for_its_answer() -> None:
    desk, answers = HookEndpoint(), []
    output = {"hookSpecificOutput": {"decision": {"behavior": "allow"}}}
    with desk.listening("ann") as for_ann:
        async with opened(desk) as client, anyio.create_task_group() as tasks:

            async def post() -> None:
                answer = await client.post("/api/hooks/codex/permission-request", json={"session_id": "s-ann"})
                answers.append(answer.json())

            tasks.start_soon(post)
            asked = await for_ann.receive()
            assert isinstance(asked, HookAsk)
            assert not answers
            asked.answer(output)
            assert await asked.closed()
    assert answers == [output]


async def test_a_hook_that_goes_away_is_not_answered() -> None:
    desk = HookEndpoint()
    with desk.listening("ann") as for_ann:
        async with opened(desk) as client:

            async def post() -> None:
                await client.post("/api/hooks/codex/permission-request", json={"session_id": "s-ann"})

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(post)
                asked = await for_ann.receive()
                tasks.cancel_scope.cancel()
            assert isinstance(asked, HookAsk)
            assert await asked.closed() is False


async def test_only_this_machine_may_post() -> None:
    async with opened(HookEndpoint()) as client:
        for headers in ({"X-Forwarded-For": "1.2.3.4"}, {"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            answer = await client.post("/api/hooks/codex/stop", json={"session_id": "s-ann"}, headers=headers)
            assert answer.status_code == 403


async def test_what_is_no_payload_gets_a_sentence() -> None:
    async with opened(HookEndpoint()) as client:
        for content in (b"", b"nonsense", b"[1]", b"\xff", b"[" * 100_000):
            answer = await client.post("/api/hooks/codex/stop", content=content)
            assert (answer.status_code, answer.json()["error"]["text"]) == (400, "A payload is one JSON object.")
        assert (await client.post("/api/hooks/codex/Pre_Tool", json={})).status_code == 404
        assert (await client.post("/api/hooks/codex/stop", content=b" " * (LONGEST_PAYLOAD + 1))).status_code == 413


def test_every_backend_s_events_have_their_names_in_kebab_case() -> None:
    named = {kebab: event_name(kebab) for kebab in ("before-tool", "session-start", "stop", "user-prompt-submit")}
    assert list(named.values()) == ["BeforeTool", "SessionStart", "Stop", "UserPromptSubmit"]
    assert [event_name(wrong) for wrong in ("", "-a", "a-", "BeforeTool", "a--b", "a_b")] == [""] * 6
    assert session_of(b'{"thread-id": "t"}') == "t"


def test_which_events_ask_is_each_driver_s_own_data() -> None:
    asking = asking_events()
    assert asking["claude"] == {"PermissionRequest"}
    # A hook of this one that is killed lets the tool run: its questions wait in its own dialog.
    assert asking["gemini"] == frozenset()


def test_a_session_that_two_share_is_nobody_s() -> None:
    shared = {**TEAM.workers, "tim": Worker(name="tim", since=2, backend="codex", directory="/x", session="s-ann")}
    assert Present(workers=shared).having("codex", "s-ann") == ""
    assert Present(workers=shared).having("codex", "") == ""


@pytest.mark.parametrize("path", ["/hooks/ask", "/hooks/of/ann"])
async def test_a_report_that_is_too_long_is_not_taken(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "LARGEST_REPORT_BYTES", 1_000_000)
    desk = HookEndpoint()
    application, listener = http.application([*desk.routes(), *desk.open_routes()]), http.bind("127.0.0.1", 0)
    headers = {"x-farhand-worker": "ann", "x-farhand-key": "k" * 20}
    async with anyio.create_task_group() as tasks:
        await tasks.start(http.serve, application, listener)
        with desk.listening("ann", "k" * 20) as arrivals, anyio.fail_after(SAFETY_SECONDS):
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with local_client(base_url=address) as client:
                assert (await client.post(path, content=b"x" * 1_000_001, headers=headers)).status_code == 413
            assert arrivals.statistics().current_buffer_used == 0
        tasks.cancel_scope.cancel()

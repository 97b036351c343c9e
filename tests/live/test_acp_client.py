"""Our ACP client drives the real `gemini --acp` and `opencode acp`, permissions and cancel included."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.live.acp_agents import AGENTS, PROGRAMS, AcpEnv, age_sessions

from farhand.sdk.acp import AcpClient, AcpPermission, AcpSession, AcpTurnEnded, RpcError, spawn
from farhand.sdk.acp.words import AcpSaid, ToolProgress

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh"),
]


@pytest.fixture(params=["gemini", "opencode"])
async def acp_env(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AcpEnv]:
    async with AGENTS[request.param](tmp_path) as opened:
        yield opened


@asynccontextmanager
async def client_of(acp_env: AcpEnv, **options: Any) -> AsyncIterator[AcpClient]:
    async with (
        spawn(acp_env.argv, cwd=acp_env.project, env=acp_env.environ) as stream,
        AcpClient(stream, **options) as client,
    ):
        await client.initialize()
        yield client


async def turn(session: AcpSession, text: str) -> tuple[list[Any], AcpTurnEnded]:
    *updates, ended = [event async for event in session.prompt(text)]
    assert isinstance(ended, AcpTurnEnded)
    return updates, ended


def text_of(updates: list[Any], role: str = "agent") -> str:
    return "".join(each.content.text for each in updates if isinstance(each, AcpSaid) and each.role == role)


def always(kind: str, asked: list[AcpPermission]) -> Callable[[AcpPermission], Any]:
    async def decide(permission: AcpPermission) -> str:
        asked.append(permission)
        return kind

    return decide


async def test_a_turn_and_the_session_loaded_again(acp_env: AcpEnv) -> None:
    async with client_of(acp_env) as client:
        assert client.hello.loads_sessions
        session = await client.new_session(acp_env.project)
        updates, ended = await turn(session, "good morning")
        assert text_of(updates) == "Good morning."
        assert (ended.stop_reason, ended.input_tokens, ended.output_tokens) == ("end_turn", 100, 10)
    age_sessions(acp_env)
    async with client_of(acp_env) as client:
        again = await client.load_session(session.id, acp_env.project)
        assert "good morning" in text_of(again.history, "user")
        assert text_of(again.history) == "Good morning."
        updates, _ = await turn(again, "good morning")
        assert text_of(updates) == "Good morning."


@pytest.mark.parametrize(("kind", "made"), [("allow_once", True), ("reject_once", False)])
async def test_a_permission(acp_env: AcpEnv, kind: str, made: bool) -> None:
    asked: list[AcpPermission] = []
    async with client_of(acp_env, decides=always(kind, asked)) as client:
        updates, ended = await turn(await client.new_session(acp_env.project), "touch it")
    assert (acp_env.project / "made.txt").exists() is made
    assert len(asked) == 1
    assert "touch made.txt" in f"{asked[0].call.title} {asked[0].call.raw_input}"
    assert asked[0].call.kind == "execute"
    assert ended.stop_reason in ("end_turn", "cancelled")
    if made:
        assert any(isinstance(each, ToolProgress) and each.over for each in updates)
        assert text_of(updates).endswith("Touched.")


async def test_a_question_that_nobody_answers_is_a_no(acp_env: AcpEnv) -> None:
    async with client_of(acp_env) as client:
        await turn(await client.new_session(acp_env.project), "touch it")
    assert not (acp_env.project / "made.txt").exists()


async def test_cancel_in_mid_answer_and_a_turn_after_it(acp_env: AcpEnv) -> None:
    async with client_of(acp_env) as client:
        session = await client.new_session(acp_env.project)
        heard: list[Any] = []
        async for event in session.prompt("count slowly"):
            heard.append(event)
            if isinstance(event, AcpSaid) and event.role == "agent":
                await session.cancel()
        assert heard[-1].stop_reason == "cancelled"
        acp_env.model.release()
        updates, ended = await turn(session, "good morning")
        assert (text_of(updates), ended.stop_reason) == ("Good morning.", "end_turn")


async def test_cancel_while_a_question_waits(acp_env: AcpEnv) -> None:
    session: AcpSession

    async def leave(permission: AcpPermission) -> str:
        await session.cancel()
        return "allow_once"

    async with client_of(acp_env, decides=leave) as client:
        session = await client.new_session(acp_env.project)
        _, ended = await turn(session, "touch it")
    assert ended.stop_reason == "cancelled"
    assert not (acp_env.project / "made.txt").exists()


async def test_modes_and_models(acp_env: AcpEnv) -> None:
    async with client_of(acp_env) as client:
        session = await client.new_session(acp_env.project)
        assert "plan" in [mode.id for mode in session.info.modes]
        await session.set_mode("plan")
        assert session.info.models
        await session.set_model(session.info.models[-1].model_id)
        with pytest.raises(RpcError):
            await session.set_mode("no-such-mode")
        assert text_of((await turn(session, "good morning"))[0]).endswith("Good morning.")

"""Our ACP client drives the real `gemini --acp` and `opencode acp`, permissions and cancel included."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.live.acp_agents import AGENTS, PROGRAMS, TOUCHES, AcpEnv, age_sessions

from farhand.sdk.acp import AcpClient, AcpPermission, AcpSession, AcpTurnEnded, RpcError, spawn
from farhand.sdk.acp.words import AcpSaid, ToolProgress

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh"),
]

# A word for each test that has the agent ask: one that was refused leaves an answer of the model behind.
ALLOWED, REJECTED, UNANSWERED, CANCELLED = TOUCHES


@pytest.fixture(scope="module", params=["gemini", "opencode"])
async def acp_env(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AcpEnv]:
    async with AGENTS[request.param](tmp_path_factory.mktemp("acp")) as opened:
        yield opened


@asynccontextmanager
async def client_of(acp_env: AcpEnv, **options: Any) -> AsyncIterator[AcpClient]:
    async with (
        spawn(acp_env.argv, cwd=acp_env.project, env=acp_env.environ) as stream,
        AcpClient(stream, **options) as client,
    ):
        await client.initialize()
        yield client


@pytest.fixture(scope="module")
async def client(acp_env: AcpEnv) -> AsyncIterator[AcpClient]:
    """An agent with nobody who decides: every test has a session of its own, for it is a start that costs."""
    async with client_of(acp_env) as opened:
        yield opened


class Desk:
    """Somebody who decides, as the test wants it."""

    client: AcpClient
    decides: Callable[[AcpPermission], Awaitable[str]]

    async def decide(self, permission: AcpPermission) -> str:
        return await self.decides(permission)


@pytest.fixture(scope="module")
async def desk(acp_env: AcpEnv) -> AsyncIterator[Desk]:
    """An agent and somebody who decides; every test has a session of its own."""
    made = Desk()
    async with client_of(acp_env, decides=made.decide) as made.client:
        yield made


@pytest.fixture
def touched(acp_env: AcpEnv) -> Iterator[Path]:
    """The file that the agent wants to make; it is not there when a test begins."""
    path = acp_env.project / "made.txt"
    assert not path.exists()
    yield path
    path.unlink(missing_ok=True)


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


async def test_a_turn_and_the_session_loaded_again_by_another_process(
    acp_env: AcpEnv, client: AcpClient, desk: Desk
) -> None:
    assert client.hello.loads_sessions
    session = await client.new_session(acp_env.project)
    updates, ended = await turn(session, "good morning")
    assert text_of(updates) == "Good morning."
    assert (ended.stop_reason, ended.input_tokens, ended.output_tokens) == ("end_turn", 100, 10)
    age_sessions(acp_env)
    again = await desk.client.load_session(session.id, acp_env.project)
    assert "good morning" in text_of(again.history, "user")
    assert text_of(again.history) == "Good morning."
    updates, _ = await turn(again, "good morning")
    assert text_of(updates) == "Good morning."


@pytest.mark.parametrize(("kind", "word", "made"), [("allow_once", ALLOWED, True), ("reject_once", REJECTED, False)])
async def test_a_permission(acp_env: AcpEnv, desk: Desk, touched: Path, kind: str, word: str, made: bool) -> None:
    asked: list[AcpPermission] = []
    desk.decides = always(kind, asked)
    updates, ended = await turn(await desk.client.new_session(acp_env.project), word)
    assert touched.exists() is made
    assert len(asked) == 1
    assert "touch made.txt" in f"{asked[0].call.title} {asked[0].call.raw_input}"
    assert asked[0].call.kind == "execute"
    assert ended.stop_reason in ("end_turn", "cancelled")
    if made:
        assert any(isinstance(each, ToolProgress) and each.over for each in updates)
        assert text_of(updates).endswith("Touched.")


async def test_a_question_that_nobody_answers_is_a_no(acp_env: AcpEnv, client: AcpClient, touched: Path) -> None:
    updates, ended = await turn(await client.new_session(acp_env.project), UNANSWERED)
    # It wanted to: gemini shows nothing of a tool that was refused, but asks its model once more.
    assert any(isinstance(each, ToolProgress) for each in updates) or ended.input_tokens == 200
    assert not touched.exists()


async def test_cancel_in_mid_answer_and_a_turn_after_it(acp_env: AcpEnv, client: AcpClient) -> None:
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


async def test_cancel_while_a_question_waits(acp_env: AcpEnv, desk: Desk, touched: Path) -> None:
    session = await desk.client.new_session(acp_env.project)

    async def leave(permission: AcpPermission) -> str:
        await session.cancel()
        return "allow_once"

    desk.decides = leave
    _, ended = await turn(session, CANCELLED)
    assert ended.stop_reason == "cancelled"
    assert not touched.exists()


async def test_modes_and_models(acp_env: AcpEnv, client: AcpClient) -> None:
    session = await client.new_session(acp_env.project)
    assert "plan" in [mode.id for mode in session.info.modes]
    await session.set_mode("plan")
    assert session.info.models
    await session.set_model(session.info.models[-1].model_id)
    with pytest.raises(RpcError):
        await session.set_mode("no-such-mode")
    assert text_of((await turn(session, "good morning"))[0]).endswith("Good morning.")

"""The whole way: a phone at a fake Telegram, `farhand run` in a process of its own, the real Codex behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.live import phone_scenarios, sprint_scenarios
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.responses import limited
from farhand.testing.models.script import use
from farhand.testing.phone import Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


@pytest.fixture(params=["", " --tmux"], ids=["headless", "tmux"])
async def phone(request: pytest.FixtureRequest, cli_env: CodexEnv, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a worker who asks."""
    async with with_phone(cli_env, bot) as opened:
        await opened.manager.says(f"/hire ann --codex --ask{request.param}")
        await opened.reads("Ann is added")
        yield opened


@pytest.fixture
def model(cli_env: CodexEnv) -> ScriptedPhoneModel:
    """What the scenarios need of the fake model."""
    return ScriptedPhoneModel(
        cli_env.model,
        cli_env.project,
        lambda name: use("exec_command", cmd=f"touch {name}", **ESCALATED),
        limited("come back tomorrow"),
    )


async def test_one_worker_bears_all_that_comes_from_a_phone(phone: Phone, model: ScriptedPhoneModel) -> None:
    await phone_scenarios.one_worker_bears_all_that_comes_from_a_phone(phone, model)


@pytest.mark.parametrize("phone", [""], ids=["headless"], indirect=True)
async def test_a_sprint_outlives_three_kills_and_a_usage_limit(phone: Phone, model: ScriptedPhoneModel) -> None:
    await sprint_scenarios.a_sprint_outlives_three_kills_and_a_usage_limit(phone, model)

"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Codex."""

from __future__ import annotations

import pytest
from tests.live.app_scenarios import a_day_in_the_app, the_effort_is_chosen_in_the_app, with_app
from tests.live.codex.test_codex_effort import effort_of
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import use
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


async def test_a_day_in_the_app(cli_env: CodexEnv, bot: FakeBot) -> None:
    model = ScriptedPhoneModel(
        cli_env.model, cli_env.project, lambda name: use("exec_command", cmd=f"touch {name}", **ESCALATED)
    )
    async with with_phone(cli_env, bot) as phone, with_app(phone) as app:
        await a_day_in_the_app(app, model, "Codex", "headless", cli_env.project)


async def test_the_effort_is_chosen_in_the_app(cli_env: CodexEnv, bot: FakeBot) -> None:
    async with with_phone(cli_env, bot) as phone, with_app(phone) as app:
        await the_effort_is_chosen_in_the_app(app, cli_env.model, "Codex", effort_of)

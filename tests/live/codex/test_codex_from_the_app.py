"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Codex."""

from __future__ import annotations

import pytest
from tests.live.app_scenarios import (
    WITH_VOICE,
    AskedEffort,
    a_day_in_the_app,
    another_in_its_terminal,
    answers_a_questionnaire,
    with_app,
)
from tests.live.codex.test_codex_effort import effort_of
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import say, use
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to make it"}


async def test_a_day_in_the_app(cli_env: CodexEnv, bot: FakeBot) -> None:
    model = ScriptedPhoneModel(
        cli_env.model, cli_env.project, lambda name: use("exec_command", cmd=f"touch {name}", **ESCALATED)
    )
    # Codex has the tool for questions only where this feature is switched on.
    with cli_env.settings.open("a") as settings:
        settings.write("\n[features]\ndefault_mode_request_user_input = true\n")
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    form = [
        {"id": "color", "header": "Color", "question": "Which color?", "options": options},
        {"id": "side", "header": "Side", "question": "Which side?", "options": options},
    ]
    cli_env.model.script.conversation("zz-ask", use("request_user_input", questions=form), say("thanks"))
    async with with_phone(cli_env, bot, **WITH_VOICE) as phone, with_app(phone) as app:
        effort = AskedEffort(cli_env.model, effort_of)
        await a_day_in_the_app(app, model, "Codex", "headless", cli_env.project, effort)
        await answers_a_questionnaire(app, sides=("Red",))
        assert model.was_told('"color":{"answers":["Blue"]}')
        assert model.was_told('"side":{"answers":["Red"]}')
        await another_in_its_terminal(app, model, "Codex")

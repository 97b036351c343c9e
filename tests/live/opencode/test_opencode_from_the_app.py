"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real OpenCode."""

from __future__ import annotations

import pytest
from tests.live.app_scenarios import (
    WITH_VOICE,
    a_day_in_the_app,
    another_in_its_terminal,
    answers_a_questionnaire,
    with_app,
)
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.models.script import say, use
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_a_day_in_the_app(cli_env: OpenCodeEnv, bot: FakeBot) -> None:
    model = ScriptedPhoneModel(
        cli_env.model,
        cli_env.project,
        lambda name: use("bash", command=f"touch {name}", description=f"Create {name}"),
    )
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    form = [
        {"question": "Which color?", "header": "Color", "options": options},
        {"question": "Which sides?", "header": "Sides", "options": options, "multiple": True},
    ]
    cli_env.model.script.conversation("zz-ask", use("question", questions=form), say("thanks"))
    async with with_phone(cli_env, bot, **WITH_VOICE) as phone, with_app(phone) as app:
        await a_day_in_the_app(app, model, "OpenCode", "headless", cli_env.project)
        await answers_a_questionnaire(app, sides=("Red", "Blue"))
        assert model.was_told('"Which color?"="Blue"')
        assert model.was_told('"Which sides?"="Red, Blue"')
        await another_in_its_terminal(app, model, "OpenCode")

"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Gemini CLI."""

from __future__ import annotations

import re

import pytest
from tests.live.app_scenarios import (
    WITH_VOICE,
    a_day_in_the_app,
    agrees_to_a_plan,
    another_in_its_terminal,
    answers_a_questionnaire,
    with_app,
)
from tests.live.gemini.test_gemini_from_the_phone import GeminiPhoneModel

from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, says
from farhand.testing.models.steps import GeminiStep
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def writes_the_plan(cli_env: GeminiEnv) -> GeminiStep:
    """Where the CLI tells the model to put it."""
    folder = re.search(r"(/[^\s`]+/plans)/", str(cli_env.model.last))
    assert folder is not None
    plan = "# Plan\n\n1. Do one thing\n2. Do another\n"
    return calls("write_file", {"file_path": f"{folder[1]}/plan.md", "content": plan})


async def test_a_day_in_the_app(cli_env: GeminiEnv, bot: FakeBot) -> None:
    model = GeminiPhoneModel(cli_env, "headless")
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    form = [{"question": "Which color?", "header": "Color", "type": "choice", "options": options}]
    cli_env.model.expect(calls("ask_user", {"questions": form}), says("thanks"), prompt="zz-ask")
    present = calls("exit_plan_mode", {"plan_filename": "plan.md"})
    cli_env.model.expect(lambda _: writes_the_plan(cli_env), present, says("on it"), prompt="zz-plan")
    async with with_phone(cli_env, bot, **WITH_VOICE) as phone, with_app(phone) as app:
        await a_day_in_the_app(app, model, "Gemini", "headless", cli_env.project)
        # Only in its terminal this CLI asks for more than leave.
        await another_in_its_terminal(app, model, "Gemini", mode="Plans")
        await answers_a_questionnaire(app, sides=())
        assert model.was_told('"0":"Blue"')
        await agrees_to_a_plan(app)

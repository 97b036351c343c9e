"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Gemini CLI."""

from __future__ import annotations

import pytest
from tests.live.app_scenarios import (
    WITH_VOICE,
    a_day_in_the_app,
    with_app,
)
from tests.live.gemini.test_gemini_contract import SUMMARY
from tests.live.gemini.test_gemini_from_the_phone import GeminiPhoneModel

from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import says
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_a_day_in_the_app(cli_env: GeminiEnv, bot: FakeBot) -> None:
    model = GeminiPhoneModel(cli_env, "headless")
    # What the CLI asks when it starts where another session was.
    cli_env.model.expect(*[says("A good day")] * 3, prompt=SUMMARY)
    async with with_phone(cli_env, bot, **WITH_VOICE) as phone, with_app(phone) as app:
        await a_day_in_the_app(app, model, "Gemini", "headless", cli_env.project)

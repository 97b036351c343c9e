"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Claude Code."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect
from tests.live.app_scenarios import WELCOME, a_day_in_the_app, the_effort_is_chosen_in_the_app, with_app
from tests.live.claude.test_claude_effort import effort_of
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.claude_env import ClaudeEnv, writes_plan
from farhand.testing.models.script import ScriptedReply, say, use
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def read_the_picture(texts: list[str]) -> ScriptedReply:
    """The message has its path, and a tool reads it."""
    path = re.search(r"Manager sent image: (\S+)", "\n".join(texts))
    assert path is not None
    return use("Read", file_path=path.group(1))


async def test_a_day_in_the_app(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    model = ScriptedPhoneModel(
        cli_env.model,
        cli_env.project,
        lambda name: use("Bash", command=f"touch {name}", description="Create it"),
        look=read_the_picture,
    )
    async with with_phone(cli_env, bot) as phone, with_app(phone) as app:
        await a_day_in_the_app(app, model, "Claude", "tmux", cli_env.project)


async def test_a_questionnaire_and_a_plan_are_answered_in_the_app(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [
        {"question": "Which color?", "header": "Color", "multiSelect": False, "options": options},
        {"question": "Which sides?", "header": "Sides", "multiSelect": True, "options": options},
    ]
    script = cli_env.model.script
    script.conversation(WELCOME, say("I am ready"))
    script.conversation("zz-ask", use("AskUserQuestion", questions=questions), say("thanks"))
    plan = "# Plan\n\n1. Do one thing\n2. Do another"
    script.conversation("zz-plan", writes_plan(plan), use("ExitPlanMode"), say("on it"))
    async with with_phone(cli_env, bot) as phone, with_app(phone) as app:
        await app.hire("Claude", "headless", mode="Plans")
        await app.hears("I am ready")
        await app.say("zz-ask")
        await app.button("Answer").first.tap()
        await app.sheet.get_by_label("Blue").check()
        await app.tap_until_gone(app.sheet.locator(".ask-question", has_text="color"), app.button("Send answer"))
        for side in ("Red", "Blue"):
            await app.sheet.get_by_label(side).check()
        await app.tap_until_gone(app.button("Send answer"))
        await app.hears("thanks")
        await app.say("zz-plan")
        await app.button("Read the plan").last.tap()
        await expect(app.sheet.locator(".plan li")).to_have_count(2)
        await app.tap_until_gone(app.sheet.get_by_role("button", name="Go ahead"))
        await app.hears("on it")
    call = await cli_env.model.asked("zz-ask", times=2)
    assert any("Blue" in text and "Red, Blue" in text for text in call.texts)


async def test_the_effort_is_chosen_in_the_app(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    async with with_phone(cli_env, bot) as phone, with_app(phone) as app:
        await the_effort_is_chosen_in_the_app(app, cli_env.model, "Claude", effort_of)

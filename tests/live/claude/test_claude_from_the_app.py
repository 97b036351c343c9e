"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Claude Code."""

from __future__ import annotations

import re

import pytest
from tests.live.app_scenarios import (
    WELCOME,
    WITH_VOICE,
    AskedEffort,
    a_day_in_the_app,
    agrees_to_a_plan,
    answers_a_questionnaire,
    reads_an_answer_while_it_streams,
    thinks_more,
    with_app,
)
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


def phone_model(cli_env: ClaudeEnv) -> ScriptedPhoneModel:
    """Which makes files by a command, and looks at pictures by a tool."""
    return ScriptedPhoneModel(
        cli_env.model,
        cli_env.project,
        lambda name: use("Bash", command=f"touch {name}", description="Create it"),
        look=read_the_picture,
    )


async def test_a_day_in_the_app(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    model = phone_model(cli_env)
    async with with_phone(cli_env, bot, **WITH_VOICE) as phone, with_app(phone) as app:
        await a_day_in_the_app(app, model, "Claude", "tmux", cli_env.project)


async def test_a_questionnaire_and_a_plan_are_answered_an_answer_streams_and_the_effort_is_chosen_in_the_app(
    cli_env: ClaudeEnv, bot: FakeBot
) -> None:
    model = phone_model(cli_env)
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
        await app.hire("Claude", "headless", effort="low", mode="Plans")
        await app.hears("I am ready")
        await answers_a_questionnaire(app, sides=("Red", "Blue"))
        await agrees_to_a_plan(app)
        await reads_an_answer_while_it_streams(app, model)
        await thinks_more(app, AskedEffort(cli_env.model, effort_of))
    call = await cli_env.model.asked("zz-ask", times=2)
    assert any("Blue" in text and "Red, Blue" in text for text in call.texts)

"""The whole way: the phone app in a real Chromium, `farhand run` in a process of its own, the real Claude Code."""

from __future__ import annotations

import re

import pytest
from tests.live.app_scenarios import a_day_in_the_app, the_effort_is_chosen_in_the_app, with_app
from tests.live.claude.test_claude_effort import effort_of
from tests.live.phone_scenarios import ScriptedPhoneModel

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import ScriptedReply, use
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
        await a_day_in_the_app(app, model, "Claude", "tmux")


async def test_the_effort_is_chosen_in_the_app(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    async with with_phone(cli_env, bot) as phone, with_app(phone) as app:
        await the_effort_is_chosen_in_the_app(app, cli_env.model, "Claude", effort_of)

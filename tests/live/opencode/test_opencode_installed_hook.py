"""Our plugin in a person's own OpenCode: what a session of theirs says comes to the phone, once."""

from __future__ import annotations

import pytest
from tests.live.installed_hook_scenarios import answers_of_ones_own_session_come_once

from farhand.testing.models.script import say
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_answers_of_ones_own_session_come_once(cli_env: OpenCodeEnv, bot: FakeBot) -> None:
    cli_env.model.script.conversation("zz-own", say("OpenCode has **done** it"))
    words = ["opencode", "run", "zz-own"]
    await answers_of_ones_own_session_come_once(cli_env, bot, "opencode", words, "OpenCode has done it")

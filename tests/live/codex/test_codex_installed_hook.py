"""Our Stop hook in a person's own Codex: what a session of theirs says comes to the phone, once."""

from __future__ import annotations

import pytest
from tests.live.installed_hook_scenarios import answers_of_ones_own_session_come_once

from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import say
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_answers_of_ones_own_session_come_once(cli_env: CodexEnv, bot: FakeBot) -> None:
    cli_env.model.script.conversation("zz-own", say("Codex has **done** it"))
    words = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "zz-own"]
    await answers_of_ones_own_session_come_once(cli_env, bot, "codex", words, "Codex has done it")

"""Our hook in a person's own Gemini CLI settings: what a session of theirs says comes to the phone, once and whole."""

from __future__ import annotations

import json

import pytest
from tests.live.installed_hook_scenarios import answers_of_ones_own_session_come_once

from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import calls, says
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_answers_of_ones_own_session_come_once(cli_env: GeminiEnv, bot: FakeBot) -> None:
    before = cli_env.settings.read_text()
    signed_in = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    settings = {"security": signed_in, "privacy": {"usageStatisticsEnabled": False}}
    cli_env.settings.write_text("// mine\n" + json.dumps(settings, indent=2))
    listing = calls("list_directory", {"dir_path": "."})
    cli_env.model.expect(listing, says("Gemini has **done** it"), prompt="zz-own")
    words = ["gemini", "-p", "zz-own", "--yolo"]
    try:
        await answers_of_ones_own_session_come_once(cli_env, bot, "gemini", words, "Gemini has done it")
    finally:
        cli_env.settings.write_text(before)

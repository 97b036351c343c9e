"""The real Gemini CLI: not installed, no key or a refused one, no network, a limit, trust, an unknown command."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.live.trouble_scenarios import NOTHING_HEARD, SILENCE_SECONDS, in_trouble, without_program, written

from farhand.channels.kit import turn_cards
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import exhausted, refuses, says
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
IN_BOTH = pytest.mark.parametrize("kind", ["gemini/tmux", "gemini/headless"])


@IN_BOTH
async def test_not_installed(cli_env: GeminiEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, without_program(cli_env)) as trouble:
        await trouble.cannot_start(kind, "There is no 'gemini' on PATH", "npm install -g @google/gemini-cli")


@IN_BOTH
async def test_without_a_key(cli_env: GeminiEnv, bot: FakeBot, kind: str) -> None:
    def without_key() -> None:
        # Where a model of one's own is named, it wants no key without a terminal.
        for name in [name for name in cli_env.environment if name.endswith(("API_KEY", "BASE_URL"))]:
            del cli_env.environment[name]

    async with in_trouble(cli_env, bot, without_key) as trouble:
        told = await trouble.cannot_start(kind, "at the desk: run gemini and choose how to sign in, or set GEMINI_API")
        assert "Not signed in" in told.text or "It has no key" in told.text


@IN_BOTH
async def test_a_strange_command_a_refused_key_and_a_usage_limit(cli_env: GeminiEnv, bot: FakeBot, kind: str) -> None:
    """One after the other on one start of the CLI, which is what costs; the command is for the model."""
    model = cli_env.model
    model.expect(says("I know no zed."), prompt="/zed")
    model.expect(refuses(400, "API key not valid. Please pass a valid API key."), prompt="zz-key")
    model.expect(exhausted(daily=True), prompt="zz-limit")
    async with in_trouble(cli_env, bot, lambda: None) as trouble:
        await trouble.does_not_know(kind, "/zed hi", "I know no zed.")
        await trouble.fails(kind, "zz-key", "Its key or sign-in is refused. Renew it at the desk: run gemini")
        await trouble.is_limited(kind, "zz-limit")


@IN_BOTH
async def test_a_network_that_is_away_is_tried_again_until_somebody_stops_that(
    cli_env: GeminiEnv, bot: FakeBot, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(turn_cards, "SILENCE_SECONDS", SILENCE_SECONDS)
    # Nobody listens there.
    cut_off = {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"}
    async with in_trouble(cli_env, bot, lambda: cli_env.environment.update(cut_off)) as trouble:
        await trouble.waits(kind, "zz-network", NOTHING_HEARD)


@IN_BOTH
async def test_a_folder_that_nobody_has_trusted(cli_env: GeminiEnv, bot: FakeBot, kind: str) -> None:
    hook = {"hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "touch pwned"}]}]}}
    settings = written(cli_env.project / ".gemini/settings.json", json.dumps(hook))
    async with in_trouble(cli_env, bot, settings) as trouble:
        await trouble.asks_for_trust(kind, "touch pwned")


async def test_a_strange_command_to_a_cli_that_still_starts_is_waited_for(cli_env: GeminiEnv, bot: FakeBot) -> None:
    own, real = cli_env.settings.read_text(), shutil.which("git")
    slow = cli_env.folder / "slow"

    def with_slow_git() -> None:
        # It asks git before it takes anything; that is longer than a command of its own takes.
        cli_env.settings.write_text(json.dumps({"general": {"checkpointing": {"enabled": True}}}))
        slow.mkdir()
        (slow / "git").write_text(f'#!/bin/sh\nsleep 3\nexec {real} "$@"\n')
        (slow / "git").chmod(0o755)
        cli_env.environment["PATH"] = f"{slow}:{cli_env.environment['PATH']}"

    cli_env.model.expect(says("I know no zed."), prompt="/zed")
    async with in_trouble(cli_env, bot, with_slow_git) as trouble:
        await trouble.does_not_know("gemini/tmux", "/zed hi", "I know no zed.")
    cli_env.settings.write_text(own)

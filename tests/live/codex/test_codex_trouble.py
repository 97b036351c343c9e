"""The real Codex: not installed, no key or a refused one, no network, a limit, trust, an unknown command."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.live.trouble_scenarios import NOTHING_HEARD, SILENCE_SECONDS, in_trouble, without_program, written

from farhand.channels.kit import turn_cards
from farhand.model.start_problems import WAITS_FOR_NETWORK
from farhand.testing.codex_env import CodexEnv, codex_settings
from farhand.testing.models.responses import limited
from farhand.testing.models.script import Failure, say
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
TRIES = 20
REFUSED = "Its key or sign-in is refused. Renew it at the desk: codex login. Then try again."
SIGNED_OUT = "Not signed in. Sign in at the desk: codex login. Then try again."
IN_BOTH = pytest.mark.parametrize("kind", ["codex/tmux", "codex/headless"])


@IN_BOTH
async def test_not_installed(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, without_program(cli_env)) as trouble:
        await trouble.cannot_start(kind, "There is no 'codex' on PATH", "npm install -g @openai/codex")


@pytest.mark.parametrize(
    ("kind", "unknown"), [("codex/tmux", "Unrecognized command '/zed'"), ("codex/headless", "I know no zed.")]
)
async def test_a_strange_command_a_refused_key_and_a_usage_limit(
    cli_env: CodexEnv, bot: FakeBot, kind: str, unknown: str
) -> None:
    """One after the other on one start of Codex."""
    refused = Failure(401, "invalid_request_error", "Incorrect API key provided")
    script = cli_env.model.script
    if kind == "codex/headless":
        # Without a terminal, the command is for the model.
        script.conversation("/zed", say("I know no zed."))
    script.conversation("zz-key", *[refused] * TRIES)
    script.conversation("zz-limit", limited("come back tomorrow"))
    async with in_trouble(cli_env, bot, lambda: None) as trouble:
        await trouble.does_not_know(kind, "/zed hi", unknown)
        await trouble.fails(kind, "zz-key", REFUSED)
        await trouble.is_limited(kind, "zz-limit")


@pytest.mark.parametrize(("kind", "words"), [("codex/tmux", NOTHING_HEARD), ("codex/headless", WAITS_FOR_NETWORK)])
async def test_a_network_that_is_away_is_waited_for_until_somebody_stops_that(
    cli_env: CodexEnv, bot: FakeBot, monkeypatch: pytest.MonkeyPatch, kind: str, words: str
) -> None:
    monkeypatch.setattr(turn_cards, "SILENCE_SECONDS", SILENCE_SECONDS)
    # Nobody listens there.
    cut_off = codex_settings("http://127.0.0.1:9")
    async with in_trouble(cli_env, bot, lambda: cli_env.settings.write_text(cut_off)) as trouble:
        await trouble.waits(kind, "zz-network", words)


@IN_BOTH
async def test_without_a_key(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, lambda: cli_env.environment.pop("FAKE_MODEL_KEY")) as trouble:
        await trouble.fails(
            kind, "zz-key", "It has no key. Sign in at the desk: codex login. Or set its key where the node is started."
        )


@IN_BOTH
async def test_a_folder_that_nobody_has_trusted(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch pwned"}]}]}}
    settings = written(cli_env.project / ".codex/hooks.json", json.dumps(hook))
    async with in_trouble(cli_env, bot, settings) as trouble:
        await trouble.asks_for_trust(kind, "touch pwned")


def nobody_signed_in(cli_env: CodexEnv) -> None:
    """Its own provider, to which nobody has signed in; nobody listens there either."""
    cli_env.settings.write_text(
        'model = "gpt-5"\nopenai_base_url = "http://127.0.0.1:9/v1"\nchatgpt_base_url = "http://127.0.0.1:9/"\n'
    )


@IN_BOTH
async def test_signed_out(cli_env: CodexEnv, bot: FakeBot, kind: str) -> None:
    async with in_trouble(cli_env, bot, lambda: nobody_signed_in(cli_env)) as trouble:
        await trouble.cannot_start(kind, SIGNED_OUT)


async def test_signed_out_is_told_however_late_its_screen_asks(cli_env: CodexEnv, bot: FakeBot) -> None:
    real = shutil.which("codex", path=cli_env.environment["PATH"])
    folder = cli_env.folder / "slow"

    def change() -> None:
        nobody_signed_in(cli_env)
        folder.mkdir()
        # Its terminal draws a box, and does not come to ask; whatever else it is asked, it answers.
        (folder / "codex").write_text(
            f'#!/bin/sh\nfor word; do [ "$word" = app-server ] && exec {real} "$@"; done\n'
            "printf '\\342\\200\\272 \\n\\n  gpt-5\\n'\nexec cat\n"
        )
        (folder / "codex").chmod(0o755)
        cli_env.environment["PATH"] = f"{folder}:{cli_env.environment['PATH']}"

    async with in_trouble(cli_env, bot, change) as trouble:
        await trouble.cannot_start("codex/tmux", SIGNED_OUT)

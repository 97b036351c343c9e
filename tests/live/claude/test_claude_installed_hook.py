"""The Stop hook in a person's own settings, run by the real Claude Code: in tmux, without tmux, and beside our own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.spec.promises import promise

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.cli_env import CliEnv
from farhand.testing.models.script import say
from farhand.testing.phone import MANAGER, SECONDS, Phone, with_phone
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def phone(cli_env: ClaudeEnv, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a worker of another kind, and the hook in the settings of whoever calls Claude Code here."""
    command = [sys.executable, "-m", "farhand", "hook", "install", "--events"]
    await anyio.run_process(command, env=cli_env.environment)
    assert "send-to-telegram.py" in (cli_env.folder / "home/.claude/settings.json").read_text()
    async with with_phone(cli_env, bot) as opened:
        await opened.manager.says("/hire bob --backend demo")
        await opened.manager.reads("Bob is added", seconds=SECONDS)
        yield opened


def sessions(cli_env: CliEnv) -> Path:
    return cli_env.folder / "farhand/nodes/test/sessions"


def carried(phone: Phone) -> dict[str, str]:
    """What spec 2 says a session carries."""
    return {
        "BRIDGE_URL": f"http://127.0.0.1:{phone.port}",
        "PORT": str(phone.port),
        "SESSIONS_DIR": str(sessions(phone.cli_env)),
        "TMUX_PREFIX": "claude-test-",
    }


async def in_tmux(cli_env: ClaudeEnv, phone: Phone, prompt: str) -> None:
    """Claude Code in a session called as a worker's, started by somebody else."""
    given = [word for name, value in carried(phone).items() for word in ("-e", f"{name}={value}")]
    command = f"claude -p {prompt} > said 2>&1; exec sleep 1000"
    words = ["new-session", "-d", "-s", "claude-test-bob", "-c", str(cli_env.project), *given, command]
    await anyio.run_process([*cli_env.server, *words], env=cli_env.environment)


@promise("hook.1", "hook.2", "hook.3", "hook.5", "hook.8", "hook.9", "hook.10", "flows.2")
async def test_answers_of_a_session_in_tmux_and_of_one_without(cli_env: ClaudeEnv, phone: Phone) -> None:
    cli_env.model.script.conversation("zz-tmux", say("**Bold** news & `code`"))
    cli_env.model.script.conversation("zz-plain", say("no tmux here"))
    pending = sessions(cli_env) / "bob" / "pending"
    await until(lambda: not pending.exists())
    pending.write_text("1")
    await in_tmux(cli_env, phone, "zz-tmux")
    answer = await phone.manager.reads("Bold news", seconds=SECONDS)
    assert answer.text == "bob:\nBold news & code"
    # The hook clears it once the answer is on its way, which may be quicker.
    await until(lambda: not pending.exists())
    environment = {**cli_env.environment, **carried(phone), "BRIDGE_SESSION": "bob"}
    await anyio.run_process(["claude", "-p", "zz-plain"], env=environment, cwd=cli_env.project, stdin=-3)
    await phone.hears("no tmux here")
    assert await phone.answers("Bold news") == await phone.answers("no tmux here") == 1


@promise("hook.4", "security.3")
async def test_sessions_of_nobody_and_our_own_ones_say_nothing_by_it(cli_env: ClaudeEnv, phone: Phone) -> None:
    cli_env.model.script.conversation("zz-nobody", say("none of your business"))
    cli_env.model.script.conversation("You are ann", say("Ann is ready."))
    cli_env.model.script.conversation("zz-once", say("told once"))
    await phone.manager.says("/hire ann --ask")
    await phone.manager.reads("Ann is ready.", seconds=SECONDS)
    await phone.manager.says("zz-once")
    await phone.manager.reads("told once", seconds=SECONDS)
    await anyio.run_process(["claude", "-p", "zz-nobody"], env=cli_env.environment, cwd=cli_env.project, stdin=-3)
    # What the hook of the session would have left is looked for once its agent has ended.
    await phone.manager.says("/end ann")
    await phone.manager.reads("Ann removed", seconds=SECONDS)
    chat = await phone.bot.messages(MANAGER)
    said = [one.text for one in chat if one.from_bot and not one.deleted]
    assert sum("told once" in one for one in said) == 1
    assert not [one for one in said if "none of your business" in one]
    assert not list(sessions(cli_env).rglob("answers/*"))


async def test_an_answer_while_the_node_is_dead_comes_when_it_is_back(cli_env: ClaudeEnv, phone: Phone) -> None:
    long = "\n\n".join(f"Paragraph {number}: " + "word " * 60 for number in range(40)).strip()
    cli_env.model.script.conversation("zz-away", say(f"said while you were away\n\n{long}\n\nthe last line"))
    await phone.kill()
    await in_tmux(cli_env, phone, "zz-away")
    answers = sessions(cli_env) / "bob" / "answers"
    await until(lambda: answers.is_dir() and [one.suffix for one in answers.iterdir()] == [".json"])
    (left,) = answers.iterdir()
    assert json.loads(left.read_bytes())["session"] == "bob"
    assert left.stat().st_mode & 0o777 == 0o600
    await phone.start()
    await phone.manager.reads("the last line", seconds=SECONDS)
    assert await phone.answers("said while you were away") == 1
    # The worker's own answer to its welcome may stand in between.
    pages = [one.text for one in await phone.bot.messages(MANAGER) if one.from_bot and "Paragraph" in one.text]
    told = "\n".join(page.removeprefix("bob:\n") for page in pages)
    assert len(pages) > 3
    assert all(told.count(f"Paragraph {number}:") == 1 for number in range(40))
    assert told.count("word") == 40 * 60

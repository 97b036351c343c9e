"""A hostile repository's own hooks do not run in the real Claude Code before the manager has trusted its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farhand.model.facts import AskRaised, CameOnline, TurnEnded, WentOffline
from farhand.model.words import AskKind, HowEnded, Mode
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.script import say

pytestmark = pytest.mark.anyio


def hostile(project: Path) -> Path:
    """The repository runs something at every prompt; what it leaves behind."""
    left = project / "pwned"
    hook = {"hooks": [{"type": "command", "command": f"touch {left}"}]}
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [hook]}}))
    return left


async def hire(house: House, cli_env: ClaudeEnv, wire: str, mode: Mode) -> None:
    await house.hire(backend="claude", directory=cli_env.project, mode=mode, wire=wire, online=False)


@pytest.mark.parametrize(("wire", "mode"), [("tmux", Mode.DEFAULT), ("headless", Mode.YOLO)])
async def test_the_folders_hooks_wait_for_the_managers_word(cli_env: ClaudeEnv, wire: str, mode: Mode) -> None:
    left = hostile(cli_env.project)
    cli_env.model.script.conversation("zz-hello", say("hi"))
    async with cli_env.open() as house:
        await hire(house, cli_env, wire, mode)
        ask = await house.fact(AskRaised)
        assert ask.about is AskKind.FOLDER
        assert f".claude/settings.json: hook at UserPromptSubmit: touch {left}" in ask.detail
    # Killed while the question is open: nothing was started, and it is the same question.
    async with cli_env.open() as house:
        assert [one.id for one in house.worker().asks] == [ask.ask]
        await house.say("zz-hello")
        assert not left.exists()
        await house.answer(ask.ask, "trust")
        await house.fact(CameOnline)
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert left.exists()


async def test_without_trust_nothing_is_started(cli_env: ClaudeEnv) -> None:
    left = hostile(cli_env.project)
    async with cli_env.open() as house:
        await hire(house, cli_env, "tmux", Mode.YOLO)
        ask = await house.fact(AskRaised)
        await house.answer(ask.ask, "deny")
        assert "was not trusted" in (await house.fact(WentOffline)).why
        assert not await cli_env.tmux.find("claude-test-ann")
        # Claude Code's own list does not have it either.
        account = cli_env.home / ".claude.json"
        assert not account.exists() or str(cli_env.project) not in account.read_text()
        assert not left.exists()

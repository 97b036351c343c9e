"""A manager talks to the real Claude Code."""

from __future__ import annotations

import json

import anyio
import pytest

from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.claude.tmux.screen import read_box
from farhand.drivers.wires.tmux import Pane
from farhand.model.facts import Noted, Said, Seen, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.claude_env import ClaudeEnv, until
from farhand.testing.house import House
from farhand.testing.models.script import say

pytestmark = pytest.mark.anyio


async def hired(house: House, cli_env: ClaudeEnv, name: str = "ann") -> None:
    """A worker who can be spoken to."""
    await house.hire(name, "claude", directory=cli_env.project)


async def test_a_message_is_answered_in_a_fresh_home_and_a_panel_at_the_desk_keeps_one_out(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-hello", say("hello manager"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        accepted = await house.say("zz-hello")
        ended = await house.event(TurnEnded)
        assert ended.turn == accepted.message
        assert ended.fact.how is HowEnded.COMPLETED  # type: ignore[union-attr]
        assert (await house.fact(Said)).text == "hello manager"
        assert (await house.fact(Seen)).message == accepted.message
        await a_panel_at_the_desk_keeps_a_message_out_and_is_told(house, cli_env)


async def test_an_untrusted_folder_of_an_older_account_is_trusted_by_keys(cli_env: ClaudeEnv) -> None:
    account = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": [], "rejected": []}}
    (cli_env.folder / "home/.claude.json").write_text(json.dumps(account))
    cli_env.model.script.conversation("zz-hello", say("hello manager"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.say("zz-hello")
        assert (await house.fact(Said)).text == "hello manager"
        await house.event(TurnEnded)


async def test_a_dialog_that_nobody_knows_is_told_and_answered_at_the_desk(
    cli_env: ClaudeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": [], "rejected": []}}
    (cli_env.folder / "home/.claude.json").write_text(json.dumps(account))
    # To a driver that knows no dialogs, the question whether the folder is trusted is a strange one.
    monkeypatch.setitem(MANIFEST, "dialogs", [])
    cli_env.model.script.conversation("zz-hello", say("hello manager"))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        told = (await house.fact(Noted)).text
        assert "waits in a dialog" in told
        assert "attach -t" in told
        assert "Yes, I trust this folder" in told
        # As long as it stands there, a message is refused with the same, and not typed into it.
        await house.say("zz-early")
        failed = await house.event(TurnEnded)
        assert "no input box" in failed.fact.error  # type: ignore[union-attr]
        assert "Yes, I trust this folder" in failed.fact.error  # type: ignore[union-attr]
        pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
        await cli_env.tmux.press(pane, "Down", "Enter")
        await until(cli_env, pane, "Do you want to use this API key?")
        # A dialog hears no key in its first moments.
        with anyio.fail_after(240):
            while read_box(await cli_env.tmux.capture(pane, colours=True)) is None:
                await cli_env.tmux.press(pane, "Up", "Enter")
                await anyio.sleep(0.5)
        await house.say("zz-hello")
        assert (await house.fact(TurnEnded, after=failed.seq)).how is HowEnded.COMPLETED


async def closed(cli_env: ClaudeEnv, pane: Pane) -> None:
    """Closes the panel: an Escape, and another only where that was not enough."""
    with anyio.fail_after(240):
        while read_box(await cli_env.tmux.capture(pane, colours=True)) is None:
            await cli_env.tmux.press(pane, "Escape")
            # One that came late would take the next message back.
            with anyio.move_on_after(3):
                while read_box(await cli_env.tmux.capture(pane, colours=True)) is None:  # noqa: ASYNC110
                    await anyio.sleep(0.05)


async def a_panel_at_the_desk_keeps_a_message_out_and_is_told(house: House, cli_env: ClaudeEnv) -> None:
    """Once it is closed, the next message is answered."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-panel", say("hello again"))
    pane = (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]
    await cli_env.tmux.type(pane, "/config")
    await cli_env.tmux.press(pane, "Enter")
    with anyio.fail_after(240):
        while read_box(await cli_env.tmux.capture(pane, colours=True)) is not None:  # noqa: ASYNC110
            await anyio.sleep(0.05)
    await house.say("zz-panel")
    failed = await house.event(TurnEnded)
    assert "no input box" in failed.fact.error  # type: ignore[union-attr]
    assert "attach -t" in failed.fact.error  # type: ignore[union-attr]
    await closed(cli_env, pane)
    await house.say("zz-panel")
    assert (await house.fact(TurnEnded, after=failed.seq)).how is HowEnded.COMPLETED

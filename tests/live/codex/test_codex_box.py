"""What stands in the input box of the real Codex: words of ours that it puts back there, and a person's own draft."""

from __future__ import annotations

import anyio
import pytest

from farhand.drivers.codex.tmux.screen import read_box
from farhand.drivers.wires.tmux import Pane
from farhand.model.facts import Seen, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.claude_env import until
from farhand.testing.codex_env import CodexEnv
from farhand.testing.house import House
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say

pytestmark = pytest.mark.anyio
LONG = "zz-long begins\n\n" + "and goes on, line by line\n" * 70 + "to its end"
STOPS = 12


async def hired(house: House, cli_env: CodexEnv) -> Pane:
    """A worker in a terminal, and its pane."""
    await house.hire("ann", "codex", directory=cli_env.project, wire="tmux")
    return (await cli_env.tmux.find("claude-test-"))["claude-test-ann"]


async def box(cli_env: CodexEnv, pane: Pane) -> str | None:
    """What stands in the box."""
    return read_box(await cli_env.tmux.capture(pane, colours=True))


async def until_drawn(cli_env: CodexEnv, pane: Pane) -> str:
    """What stands in the box, once it is drawn: a turn is over before its last picture is."""
    with anyio.fail_after(240):
        while (text := await box(cli_env, pane)) is None:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return text


async def left_in_the_box(cli_env: CodexEnv, pane: Pane, text: str) -> None:
    """Types it without Enter, as it stands there when Codex has put it back: whole, line by line."""
    await cli_env.tmux.paste(pane, text)
    with anyio.fail_after(240):
        while not await box(cli_env, pane):  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_a_message_of_ours_that_stands_in_the_box_again_stops_nobody_and_a_draft_stays(cli_env: CodexEnv) -> None:
    async with cli_env.open() as house:
        pane, last = await hired(house, cli_env), 0
        for number, text in enumerate(("zz-short", "zz-two paragraphs\n\n" + "of words " * 40, "!zz-bang", LONG[:900])):
            cli_env.model.script.conversation(text.strip("!").split()[0], say("one"))
            cli_env.model.script.conversation(f"zz-next{number}", say("two"))
            await house.say(text, worker="ann")
            ended = await house.event(TurnEnded, after=last)
            await left_in_the_box(cli_env, pane, f"Message: {text}" if text.startswith("!") else text)
            await house.say(f"zz-next{number}")
            following = await house.event(TurnEnded, after=ended.seq)
            assert isinstance(following.fact, TurnEnded)
            assert following.fact.how is HowEnded.COMPLETED
            assert await until_drawn(cli_env, pane) == ""
            assert cli_env.model.prompted(f"zz-next{number}")
            last = following.seq
        # A command that Codex does not know it leaves there, with the cursor before it.
        cli_env.model.script.conversation("zz-known", say("three"))
        await house.say("/zed hi", worker="ann")
        refused = await house.event(TurnEnded, after=last)
        assert "Unrecognized command '/zed'" in await house.said()
        await until_drawn(cli_env, pane)
        if not await box(cli_env, pane):
            await left_in_the_box(cli_env, pane, "/zed hi")
        await cli_env.tmux.press(pane, "C-a")
        await house.say("zz-known")
        known = await house.event(TurnEnded, after=refused.seq)
        assert isinstance(known.fact, TurnEnded)
        assert (known.fact.how, known.fact.error) == (HowEnded.COMPLETED, "")
        last = known.seq
        # What a person has half typed stays, though it begins with a message of ours.
        await left_in_the_box(cli_env, pane, "zz-short\n\nand what I think of it")
        await house.say("zz-last")
        held_back = await house.fact(TurnEnded, after=last)
        assert (held_back.how, "at the desk" in held_back.error) == (HowEnded.FAILED, True)
        assert (await until_drawn(cli_env, pane)).startswith("zz-short")


async def test_a_turn_is_stopped_and_what_is_said_after_it_is_sent_once_and_leaves_the_box(cli_env: CodexEnv) -> None:
    """Codex writes that a turn is over before its screen knows: what it gets in between comes back into the box."""
    script = cli_env.model.script
    async with cli_env.open() as house:
        pane, last = await hired(house, cli_env), 0
        for number in range(10, 10 + STOPS):
            script.conversation(f"zz-slow{number}", ScriptedReply((ScriptedText("started"), Hold("never"))))
            script.conversation(f"zz-next{number}", say("next"))
            await house.say(f"zz-slow{number}")
            await cli_env.model.asked(f"zz-slow{number}")
            last = (await house.event(Seen, after=last)).seq
            await house.interrupt()
            stopped = await house.event(TurnEnded, after=last)
            await house.say(f"zz-next{number}")
            last = (await house.event(TurnEnded, after=stopped.seq)).seq
            assert await until_drawn(cli_env, pane) == ""
        # A stop that only closed a menu at the desk is pressed again: while it writes an answer, Codex does not show
        # that Escape would stop it.
        script.conversation("zz-menu", ScriptedReply((ScriptedText("a menu"), Hold("never"))))
        await house.say("zz-menu")
        await until(cli_env, pane, "• a menu")
        await cli_env.tmux.type(pane, "/")
        await until(cli_env, pane, "/permissions")
        await house.interrupt()
        assert (await house.fact(TurnEnded, after=last)).how is HowEnded.INTERRUPTED

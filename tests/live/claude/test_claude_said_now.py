"""What is said into a turn of the real Claude Code that is stopped does not run afterwards."""

from __future__ import annotations

import pytest

from farhand.model.commands import Say
from farhand.model.facts import HandedOver, TurnEnded, TurnStarted
from farhand.model.words import HowEnded, Mode
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("wire", ["tmux", "headless"])
async def test_a_stop_also_stops_what_was_said_into_the_turn(cli_env: ClaudeEnv, wire: str) -> None:
    """Claude Code begins it once the turn is stopped: that turn is stopped, too, before a tool has run."""
    script = cli_env.model.script
    script.conversation("zz-slow", ScriptedReply((ScriptedText("I begin."), Hold("never"))))
    touch = use("Bash", command="touch late.txt", description="Make it")
    script.conversation("zz-now", ScriptedReply((Hold("late"), *touch.blocks)), say("made"))
    script.conversation("zz-next", say("next it is"))
    async with cli_env.open() as house:
        await house.hire("ann", "claude", directory=cli_env.project, mode=Mode.YOLO, wire=wire)
        await house.say("zz-slow")
        await cli_env.model.asked("zz-slow")
        first = await house.event(HandedOver)
        await house.send(Say(id="now", worker="ann", text="zz-now", steer=True))
        joined = await house.event(HandedOver, after=first.seq)
        await house.interrupt()
        stopped = await house.event(TurnEnded, after=joined.seq)
        assert isinstance(stopped.fact, TurnEnded)
        assert stopped.fact.how is HowEnded.INTERRUPTED
        late = await house.event(TurnStarted, lambda event: event.turn != stopped.turn, after=stopped.seq)
        assert late.fact == TurnStarted(joined="test:now")
        over = await house.fact(TurnEnded, lambda event: event.turn == late.turn, after=late.seq)
        assert over.how is HowEnded.INTERRUPTED
        await house.say("zz-next")
        last = await house.fact(TurnEnded, lambda event: event.turn not in (stopped.turn, late.turn), after=late.seq)
        assert last.how is HowEnded.COMPLETED
        script.release("late")
        cli_env.forget()
    assert not (cli_env.project / "late.txt").exists()

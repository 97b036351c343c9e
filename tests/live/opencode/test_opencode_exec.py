"""`opencode run`, one process a turn, in a real node: it remembers, cannot ask, and outlives the node."""

from __future__ import annotations

import pytest

from farhand.model.commands import Tune
from farhand.model.facts import CameOnline, Said, Seen, Tuned, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_a_worker_of_one_command_a_turn_remembers_and_outlives_the_node(
    cli_env: OpenCodeEnv, bot: FakeBot
) -> None:
    script = cli_env.model.script
    script.conversation("zz-first", say("the word is plover"))
    script.conversation("zz-ask", use("bash", command="touch no.txt", description="Leave a file"))
    script.conversation(
        "zz-away", ScriptedReply((ScriptedText("the first half "), Hold("away"), ScriptedText("and the second")))
    )
    script.conversation("zz-more", say("still here"))
    async with with_phone(cli_env, bot) as phone:
        await phone.manager.says("/team")
        await phone.reads("No team members")
        await phone.types("hire", "ann", "--node", "test", "--backend", "opencode", "--wire", "exec", "--ask")
        # Hired at the desk: what it says first does not buzz.
        await phone.reads("An aside")
        await phone.manager.says("zz-first")
        await phone.hears("the word is plover")
        await phone.manager.says("zz-ask")
        await phone.hears("cannot ask for it")
        await phone.manager.says("zz-away")
        await cli_env.model.asked("zz-away")
        await phone.kill()
        script.release("away")
        await phone.manager.says("zz-more")
        await phone.start()
        await phone.hears("and the second")
        await phone.hears("still here")
        assert [await phone.answers(text) for text in ("plover", "the second", "still here")] == [1, 1, 1]
    assert not (cli_env.project / "no.txt").exists()
    remembered = str((await cli_env.model.asked("zz-more")).body)
    assert all(text in remembered for text in ("the word is plover", "the first half and the second"))


async def test_a_worker_in_runs_is_stopped_and_told_to_think_more_and_relaunched(cli_env: OpenCodeEnv) -> None:
    """At rest there is no process to kill. Each turn is a start of OpenCode: so the one after the stopped turn is also
    the one with the other effort, and the one after the relaunch, in the same session."""
    script, model = cli_env.model.script, cli_env.model
    script.conversation("zz-slow", ScriptedReply((ScriptedText("started"), Hold("never"), ScriptedText("never said"))))
    script.conversation("zz-after", say("after"))
    async with cli_env.open() as house:
        await house.hire(backend="opencode", wire="exec", directory=cli_env.project, effort="low")
        await house.say("zz-slow")
        assert (await model.asked("zz-slow")).body["reasoning_effort"] == "low"
        await house.fact(Seen)
        await house.interrupt()
        ended = await house.event(TurnEnded)
        assert isinstance(ended.fact, TurnEnded)
        assert ended.fact.how is HowEnded.INTERRUPTED
        session = house.worker().session
        assert session
        await house.send(Tune(id="t1", worker="ann", effort="high"))
        assert (await house.fact(Tuned)).refused == ""
        assert house.worker().effort == "high"
        await house.relaunch("ann")
        await house.fact(CameOnline, after=ended.seq)
        await house.say("zz-after")
        assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.COMPLETED
        assert house.worker().session == session
        assert [event.fact.text for event in await house.history() if isinstance(event.fact, Said)][-1] == "after"
    asked = (await model.asked("zz-after")).body
    assert asked["reasoning_effort"] == "high"
    assert "zz-slow" in str(asked)

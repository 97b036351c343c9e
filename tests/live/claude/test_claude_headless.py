"""The real Claude Code without a terminal, in a holder: answers, asks, stops, and a node that was away."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from functools import partial

import anyio
import anyio.to_thread
import pytest
from tests.live.claude.claude_scenarios import a_limit_is_told_in_its_words_and_a_try_brings_the_message_once
from tests.live.claude.shared_worker import SharedWorker, shared_worker
from tests.live.turn_scenarios import (
    a_killed_agent_comes_back,
    a_stopped_turn_makes_room,
    an_ask_outlives_the_node,
)

from farhand.model.commands import Tune
from farhand.model.errors import FarhandError
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    AskSettled,
    CameOnline,
    Said,
    Seen,
    SessionKnown,
    ToolEnded,
    ToolStarted,
    Tuned,
    TurnEnded,
)
from farhand.model.words import HowEnded, HowSettled, Mode
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def ann() -> AsyncIterator[SharedWorker]:
    """The worker of all tests that need no other."""
    async with shared_worker("claude-headless") as opened:
        yield opened


async def hired(house: House, cli_env: ClaudeEnv) -> None:
    """A worker without a terminal."""
    await house.hire(backend="claude-headless", directory=cli_env.project)


async def test_an_ask_is_answered_from_the_phone(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-one", use("Bash", command="touch one.txt", description="One"), say("done"))
    cli_env.model.script.conversation("zz-two", use("Bash", command="touch two.txt", description="Two"), say("no"))
    async with ann.listening() as house:
        await house.say("zz-one")
        ask = await house.fact(AskRaised)
        assert not (cli_env.project / "one.txt").exists()
        await house.answer(ask.ask, "allow")
        assert (await house.fact(AnswerDelivered)).problem == ""
        ended = await house.event(TurnEnded)
        assert (cli_env.project / "one.txt").exists()
        assert (await house.fact(ToolEnded)).call == (await house.fact(ToolStarted)).call
        await house.say("zz-two")
        second = await house.fact(AskRaised, after=ended.seq)
        await house.answer(second.ask, "deny", note="not that one")
        await house.event(TurnEnded, after=ended.seq)
        assert not (cli_env.project / "two.txt").exists()
    assert cli_env.model.prompted("not that one")


async def test_a_turn_is_stopped(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    cli_env.model.script.conversation("zz-slow", ScriptedReply((ScriptedText("started"), Hold("never"))))
    cli_env.model.script.conversation("zz-next", say("next"))
    async with ann.listening() as house:
        await house.say("zz-slow")
        await house.fact(Said)
        await a_stopped_turn_makes_room(house, "zz-next")


async def kill_agents(cli_env: ClaudeEnv) -> None:
    """Kills the Claude Code of this environment, which alone has its folder for a home."""
    for pid in await anyio.to_thread.run_sync(cli_env.agents):
        os.kill(pid, signal.SIGKILL)


async def test_a_limit_parks_the_message_and_a_try_brings_it_once(ann: SharedWorker) -> None:
    await a_limit_is_told_in_its_words_and_a_try_brings_the_message_once(ann)


async def test_a_command_runs_in_the_folder_that_its_question_names(ann: SharedWorker) -> None:
    cli_env = ann.cli_env
    (cli_env.project / "sub").mkdir()
    step = use("Bash", command="cd sub", description="Go there")
    lands = use("Bash", command="touch landed", description="Leave a file")
    cli_env.model.script.conversation("zz-folder", step, lands, say("left it"))
    async with ann.listening() as house:
        await house.say("zz-folder")
        asked = await house.fact(AskRaised)
        assert (asked.question, asked.where) == ("Run: touch landed", str(cli_env.project))
        await house.answer(asked.ask, "allow")
        await house.fact(TurnEnded)
        assert (cli_env.project / "landed").exists()


async def test_one_agent_outlives_node_after_node(cli_env: ClaudeEnv) -> None:
    """A start of the agent costs seconds: each node finds the one that the node before has left."""
    cli_env.model.script.conversation("zz-one", use("Bash", command="touch one.txt", description="One"), say("done"))
    await an_ask_outlives_the_node(cli_env, lambda house: hired(house, cli_env))
    assert (cli_env.project / "one.txt").exists()
    await a_questionnaire_keeps_its_answers_when_the_node_dies_between_two(cli_env)
    await the_answer_arrives_once_when_the_node_was_away(cli_env)
    await an_ask_that_nobody_answers_is_a_no(cli_env)
    await a_message_is_answered_and_the_next_one_remembers_under_another_model(cli_env)


async def a_questionnaire_keeps_its_answers_when_the_node_dies_between_two(cli_env: ClaudeEnv) -> None:
    """The first was answered to one node, the second to the next."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    questions = [
        {"question": "Which color?", "header": "Color", "multiSelect": False, "options": options},
        {"question": "Which others?", "header": "Others", "multiSelect": True, "options": options},
    ]
    cli_env.model.script.conversation("zz-ask", use("AskUserQuestion", questions=questions), say("thanks"))
    async with cli_env.open() as house:
        since = house.started
        await house.say("zz-ask")
        first = await house.event(AskRaised)
        second = await house.fact(AskRaised, after=first.seq)
        assert isinstance(first.fact, AskRaised)
        await house.answer(first.fact.ask, "2")
        await house.fact(AnswerDelivered)
    async with cli_env.open() as house:
        await house.answer(second.ask, "1,2")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        events = [event for event in await house.history() if event.seq > since]
        assert [event.fact.problem for event in events if isinstance(event.fact, AnswerDelivered)] == ["", ""]
    call = await cli_env.model.asked("zz-ask", times=2)
    assert any("Which color?" in text and "Blue" in text and "Red, Blue" in text for text in call.texts)


async def the_answer_arrives_once_when_the_node_was_away(cli_env: ClaudeEnv) -> None:
    """Whole."""
    cli_env.model.script.conversation(
        "zz-away", ScriptedReply((ScriptedText("one"), Hold("away"), ScriptedText("two")))
    )
    async with cli_env.open() as house:
        since = house.started
        await house.say("zz-away")
        await cli_env.model.asked("zz-away")
    cli_env.model.script.release("away")
    async with cli_env.open() as house:
        await house.event(TurnEnded)
        events = [event for event in await house.history() if event.seq > since]
        said = "".join(event.fact.text for event in events if isinstance(event.fact, Said))
        assert "".join(said.split()) == "onetwo"


async def an_ask_that_nobody_answers_is_a_no(cli_env: ClaudeEnv) -> None:
    """The node has a deadline."""
    cli_env.model.script.conversation("zz-two", use("Bash", command="touch two.txt", description="Two"), say("too bad"))
    async with cli_env.open(ask_seconds=1.5) as house:
        house.begin_anew()
        await house.say("zz-two")
        assert (await house.fact(AskSettled)).how is HowSettled.EXPIRED
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert await house.said() == "too bad"
    assert not (cli_env.project / "two.txt").exists()


async def a_message_is_answered_and_the_next_one_remembers_under_another_model(cli_env: ClaudeEnv) -> None:
    """A model that is not there is refused."""
    cli_env.model.script.conversation("zz-hello", say("hello manager", piece=4))
    cli_env.model.script.conversation("zz-again", say("hello again"))
    cli_env.model.missing.add("no-such-model")
    async with cli_env.open() as house:
        house.begin_anew()
        accepted = await house.say("zz-hello")
        ended = await house.event(TurnEnded)
        assert isinstance(ended.fact, TurnEnded)
        assert (ended.turn, ended.fact.how) == (accepted.message, HowEnded.COMPLETED)
        assert ended.fact.usage is not None
        assert ended.fact.usage.cost_dollars is not None
        assert (await house.fact(Seen)).message == accepted.message
        assert (await house.fact(SessionKnown, after=0)).session == house.worker().session
        await house.send(Tune(id="t1", model="sonnet", mode=Mode.AUTO_EDIT))
        tuned = await house.event(Tuned)
        assert isinstance(tuned.fact, Tuned)
        assert tuned.fact.refused == ""
        await house.send(Tune(id="t2", model="no-such-model"))
        refused = (await house.fact(Tuned, after=tuned.seq)).refused
        assert refused == "Claude Code says: Model 'no-such-model' not found"
        assert (house.worker().model, house.worker().mode) == ("sonnet", Mode.AUTO_EDIT)
        await house.say("zz-again")
        await house.event(TurnEnded, after=ended.seq)
        assert await house.said() == "hello managerhello again"
    again = cli_env.model.prompted("zz-again")[-1]
    assert "hello manager" in again.texts
    assert "sonnet" in again.body["model"]
    assert "sonnet" not in cli_env.model.prompted("zz-hello")[0].body["model"]


async def test_a_killed_agent_comes_back_and_lets_nothing_run(cli_env: ClaudeEnv) -> None:
    """With its memory, or while it asks."""
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await a_killed_agent_comes_back_with_its_memory(house, cli_env)
        await an_agent_that_is_killed_while_it_asks_lets_nothing_run(house, cli_env)


async def a_killed_agent_comes_back_with_its_memory(house: House, cli_env: ClaudeEnv) -> None:
    """Also of the answer right before."""
    cli_env.model.script.conversation("zz-before", say("before"))
    cli_env.model.script.conversation("zz-after", say("after"))
    await a_killed_agent_comes_back(house, partial(kill_agents, cli_env))
    assert "before" in cli_env.model.prompted("zz-after")[-1].texts


async def an_agent_that_is_killed_while_it_asks_lets_nothing_run(house: House, cli_env: ClaudeEnv) -> None:
    """Its ask is over, and an answer comes too late."""
    house.begin_anew()
    cli_env.model.script.conversation("zz-one", use("Bash", command="touch one.txt", description="One"))
    cli_env.model.script.conversation("zz-two", say("here again"))
    await house.say("zz-one")
    ask = await house.fact(AskRaised)
    await kill_agents(cli_env)
    settled = await house.event(AskSettled)
    assert isinstance(settled.fact, AskSettled)
    assert settled.fact.how is HowSettled.WITHDRAWN
    with pytest.raises(FarhandError, match="Too late"):
        await house.answer(ask.ask, "allow")
    await house.fact(CameOnline, after=settled.seq)
    await house.say("zz-two")
    await house.fact(Said, after=settled.seq)
    assert not (cli_env.project / "one.txt").exists()

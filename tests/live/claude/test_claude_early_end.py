"""The real Claude Code in tmux right after its answer, which its transcript does not have yet: nothing comes twice."""

from __future__ import annotations

import os
import signal

import pytest

from farhand.drivers.wires.tmux import Pane
from farhand.drivers.wires.tmux.death import ended
from farhand.model.facts import CameOnline, Event, Said, ToolEnded, ToolStarted, TurnEnded, TurnStarted, WentOffline
from farhand.model.words import HowEnded
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.house import House
from farhand.testing.models.script import say, use

pytestmark = pytest.mark.anyio
WORDS = ("the first answer.", "the second answer.", "the third answer.")


async def hired(house: House, cli_env: ClaudeEnv) -> None:
    """A worker who can be spoken to."""
    await house.hire(backend="claude", directory=cli_env.project)


@pytest.fixture
def three_answers(cli_env: ClaudeEnv) -> None:
    """A model with an answer for each of three messages."""
    for number, words in enumerate(WORDS):
        cli_env.model.script.conversation(f"zz-{number}", say(words))


async def pane_of(cli_env: ClaudeEnv) -> Pane:
    """Where the agent lives."""
    return (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]


async def answered(house: House, text: str) -> Event:
    """The end of the turn of this message, as soon as it is in the journal."""
    accepted = await house.say(text)
    return await house.event(TurnEnded, lambda event: event.turn == accepted.message, after=accepted.seq)


async def assert_told_once(house: House, count: int = len(WORDS)) -> None:
    """Each answer once, in a turn of its own that ended well; nothing began by itself."""
    history = await house.history()
    begun = [event.turn for event in history if isinstance(event.fact, TurnStarted)]
    assert len(begun) == count
    assert [event.fact.how for event in history if isinstance(event.fact, TurnEnded)] == [HowEnded.COMPLETED] * count
    said = [(event.turn, event.fact.text) for event in history if isinstance(event.fact, Said)]
    assert said == list(zip(begun, WORDS[:count], strict=True)), "\n".join(
        f"{event.turn} {event.fact}"[:150] for event in history
    )


@pytest.mark.usefixtures("three_answers")
async def test_an_agent_killed_right_after_its_answer_repeats_nothing(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        for number in (0, 1):
            pane = await pane_of(cli_env)
            end = await answered(house, f"zz-{number}")
            os.kill(pane.pid, signal.SIGKILL)
            offline = await house.event(WentOffline, after=end.seq)
            await house.fact(CameOnline, after=offline.seq)
        await answered(house, "zz-2")
        await assert_told_once(house)


@pytest.mark.usefixtures("three_answers")
async def test_a_worker_relaunched_right_after_its_answer_repeats_nothing_and_remembers(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        sessions = set()
        for number in (0, 1):
            end = await answered(house, f"zz-{number}")
            sessions.add(house.worker().session)
            await house.relaunch("ann")
            await house.fact(CameOnline, after=end.seq)
        await answered(house, "zz-2")
        await assert_told_once(house)
        assert sessions == {house.worker().session}
    assert {WORDS[0], WORDS[1]} <= set(cli_env.model.prompted("zz-2")[-1].texts)


@pytest.mark.usefixtures("three_answers")
async def test_a_node_stopped_right_after_an_answer_repeats_nothing(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await answered(house, "zz-0")
    async with cli_env.open() as house:
        await answered(house, "zz-1")
    async with cli_env.open() as house:
        await answered(house, "zz-2")
        await assert_told_once(house)


@pytest.mark.usefixtures("three_answers")
async def test_an_agent_killed_while_its_node_is_away_after_an_answer_repeats_nothing(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        pane = await pane_of(cli_env)
        await answered(house, "zz-0")
        os.kill(pane.pid, signal.SIGKILL)
    await ended(pane.pid)
    async with cli_env.open() as house:
        await answered(house, "zz-1")
        await answered(house, "zz-2")
        await assert_told_once(house)


@pytest.mark.usefixtures("three_answers")
async def test_messages_that_wait_are_sent_at_once_and_answered_each_in_its_turn(cli_env: ClaudeEnv) -> None:
    async with cli_env.open() as house:
        await hired(house, cli_env)
        for number in range(len(WORDS)):
            await house.say(f"zz-{number}")
        await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
        await assert_told_once(house)


async def test_a_tool_is_told_before_the_end_of_its_turn(cli_env: ClaudeEnv) -> None:
    cli_env.model.script.conversation("zz-look", use("Bash", command="ls", description="Look"), say("looked."))
    async with cli_env.open() as house:
        await hired(house, cli_env)
        end = await answered(house, "zz-look")
        kinds = [type(event.fact) for event in await house.history() if event.turn == end.turn]
        assert kinds.index(ToolStarted) < kinds.index(ToolEnded) < kinds.index(TurnEnded)

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


async def hired(house: House, cli_env: ClaudeEnv) -> None:
    """A worker who can be spoken to."""
    await house.hire(backend="claude", directory=cli_env.project)


class Answers:
    """What the model has answered so far, each once."""

    def __init__(self, cli_env: ClaudeEnv) -> None:
        self._script = cli_env.model.script
        self.words: list[str] = []

    def next(self) -> str:
        """A message to which the model has an answer of its own."""
        marker = f"zz-{len(self.words)}."
        self.words.append(f"answer {len(self.words)}.")
        self._script.conversation(marker, say(self.words[-1]))
        return marker


async def pane_of(cli_env: ClaudeEnv) -> Pane:
    """Where the agent lives."""
    return (await cli_env.tmux.find("claude-test-ann"))["claude-test-ann"]


async def answered(house: House, text: str) -> Event:
    """The end of the turn of this message, as soon as it is in the journal."""
    accepted = await house.say(text)
    return await house.event(TurnEnded, lambda event: event.turn == accepted.message, after=accepted.seq)


async def assert_told_once(house: House, answers: Answers) -> None:
    """Each answer once, in a turn of its own that ended well; nothing began by itself."""
    history, count = await house.history(), len(answers.words)
    begun = [event.turn for event in history if isinstance(event.fact, TurnStarted)]
    assert len(begun) == count
    assert [event.fact.how for event in history if isinstance(event.fact, TurnEnded)] == [HowEnded.COMPLETED] * count
    said = [(event.turn, event.fact.text) for event in history if isinstance(event.fact, Said)]
    assert said == list(zip(begun, answers.words, strict=True)), "\n".join(
        f"{event.turn} {event.fact}"[:150] for event in history
    )


async def killed(house: House, cli_env: ClaudeEnv, answers: Answers) -> None:
    """An agent that is killed right after its answer comes back."""
    pane = await pane_of(cli_env)
    end = await answered(house, answers.next())
    os.kill(pane.pid, signal.SIGKILL)
    offline = await house.event(WentOffline, after=end.seq)
    await house.fact(CameOnline, after=offline.seq)


async def relaunched(house: House, answers: Answers) -> None:
    """An agent that is relaunched right after its answer has the same session."""
    end = await answered(house, answers.next())
    session = house.worker().session
    await house.relaunch("ann")
    await house.fact(CameOnline, after=end.seq)
    assert house.worker().session == session


async def test_an_agent_that_ends_right_after_its_answer_repeats_nothing_and_remembers(cli_env: ClaudeEnv) -> None:
    """Killed and relaunched, each in its first life or a later one, and killed while its node is away."""
    answers = Answers(cli_env)
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await killed(house, cli_env, answers)
        await relaunched(house, answers)
        await killed(house, cli_env, answers)
        await relaunched(house, answers)
        await assert_told_once(house, answers)
        pane = await pane_of(cli_env)
        await answered(house, answers.next())
        os.kill(pane.pid, signal.SIGKILL)
    await ended(pane.pid)
    async with cli_env.open() as house:
        await answered(house, answers.next())
        await answered(house, answers.next())
        await assert_told_once(house, answers)
    assert {answers.words[1], answers.words[3]} <= set(cli_env.model.calls[-1].texts), "what came before a relaunch"


async def test_an_agent_that_lives_on_is_told_in_order_and_once(cli_env: ClaudeEnv) -> None:
    answers = Answers(cli_env)
    async with cli_env.open() as house:
        await hired(house, cli_env)
        # Messages that wait are sent at once, and answered each in its turn.
        for _ in range(3):
            await house.say(answers.next())
        await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
        await assert_told_once(house, answers)
        await answered(house, answers.next())
    # A node that is stopped right after an answer repeats nothing.
    async with cli_env.open() as house:
        await answered(house, answers.next())
    async with cli_env.open() as house:
        await answered(house, answers.next())
        await assert_told_once(house, answers)
        # A tool is told before the end of its turn.
        cli_env.model.script.conversation("zz-look", use("Bash", command="ls", description="Look"), say("looked."))
        end = await answered(house, "zz-look")
        kinds = [type(event.fact) for event in await house.history() if event.turn == end.turn]
        assert kinds.index(ToolStarted) < kinds.index(ToolEnded) < kinds.index(TurnEnded)

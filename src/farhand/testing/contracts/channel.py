"""What every channel promises. A test class inherits this and gives `channels` and `shown` fixtures."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from farhand.app import Channels
from farhand.model.facts import Said, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS, open_house
from farhand.testing.scripted import ScriptedDriver

# What a person on the surface has read so far: one text a message.
Shown = Callable[[], Awaitable[list[str]]]


async def until(shown: Shown, enough: Callable[[list[str]], bool]) -> list[str]:
    """What was read, once it is enough."""
    with anyio.fail_after(SAFETY_SECONDS):
        while not enough(texts := await shown()):  # noqa: ASYNC110 - a surface rings no bell of ours
            await anyio.sleep(0.01)
    return texts


def answers(texts: list[str]) -> list[str]:
    """The answers of the scripted agent among what was read."""
    return [text[text.index("answer to") :].split("\n")[0].strip() for text in texts if "answer to" in text]


@pytest.mark.anyio
class ChannelContract:
    """Inherit, and give the fixtures."""

    async def test_every_answer_is_shown_once_and_in_order(
        self, tmp_path: Path, channels: Channels, shown: Shown
    ) -> None:
        expected = [f"answer to message {number}" for number in range(5)]
        async with open_house(tmp_path, channels=channels) as house:
            await house.hire()
            for number in range(5):
                await house.say(f"message {number}")
            assert answers(await until(shown, lambda texts: len(answers(texts)) >= 5)) == expected

    async def test_a_restart_repeats_nothing(self, tmp_path: Path, channels: Channels, shown: Shown) -> None:
        async with open_house(tmp_path, channels=channels) as house:
            await house.hire()
            await house.say("one")
            await until(shown, lambda texts: len(answers(texts)) == 1)
        async with open_house(tmp_path, channels=channels) as house:
            await house.say("two", worker="ann")
            texts = await until(shown, lambda texts: len(answers(texts)) == 2)
            assert answers(texts) == ["answer to one", "answer to two"]

    async def test_what_happened_while_it_was_away_is_told(
        self, tmp_path: Path, channels: Channels, shown: Shown
    ) -> None:
        agent = ScriptedDriver()
        async with open_house(tmp_path, agent, channels=channels) as house:
            await house.hire()
            agent.plays(Said(text="answer to "))
            await house.say("slow")
            await house.event(Said)
            after = await house.say("after")
        async with open_house(tmp_path, agent) as house:
            await agent.wait_opened(2)
            await agent.links["ann"].say(Said(text="slow"))
            await agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
            await house.event(TurnEnded, lambda event: event.turn == after.message)
        async with open_house(tmp_path, agent, channels=channels):
            texts = await until(shown, lambda texts: len(answers(texts)) == 2)
            assert answers(texts) == ["answer to slow", "answer to after"]

"""What a phone is told when an agent's CLI cannot work: the right sentence, and one buzz at most for one cause."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.house.telegram_house import MANAGER, telegram_settings

from farhand.channels.telegram.channel import TelegramChannel
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Hire
from farhand.model.facts import AskRaised, CameOnline, HandedOver, TurnEnded, WentOffline
from farhand.model.words import AskKind, HowEnded
from farhand.testing.cli_env import CliEnv
from farhand.testing.house import House
from farhand.testing.telegram import FakeBot, Person, ShownMessage

# What the progress message says of a CLI that tries again without a word.
NOTHING_HEARD = "Nothing heard from it for"
# A minute of silence is long for a test.
SILENCE_SECONDS = 3.0


class Trouble:
    """A node with a phone, whose agent's CLI cannot work."""

    def __init__(self, house: House, bot: FakeBot, cli_env: CliEnv) -> None:
        self.house = house
        self.manager: Person = bot.person(MANAGER, "Mo")
        self._directory = str(cli_env.project)

    async def hires(self, kind: str) -> None:
        """Takes ann on."""
        backend, _, wire = kind.partition("/")
        options = {"wire": wire} if wire else {}
        hire = Hire(id=self.house.id(), worker="ann", backend=backend, directory=self._directory, options=options)
        await self.house.send(hire)

    async def cannot_start(self, kind: str, *words: str) -> ShownMessage:
        """Ann cannot start: one message says so in these words, and it is the only one that buzzed."""
        await self.hires(kind)
        assert (await self.house.fact(WentOffline)).final
        told = await self.manager.reads('Could not hire "ann". ')
        assert all(one in told.text for one in words), told.text
        assert told.labels == ("Try again",)
        assert await self.buzzes() == [told.text]
        return told

    async def fails(self, kind: str, text: str, *words: str) -> None:
        """A turn of ann's fails: its end says all of these words, and nothing else buzzed."""
        await self.has_hired(kind)
        ended, before = await self.turn(text)
        assert ended.how is HowEnded.FAILED, ended
        # Its progress, in a silent message, may say so first.
        await self.manager.sees(lambda chat: any("✗ Failed" in one for one in buzzed(chat)[before:]))
        told = await self.only_buzz(before)
        assert all(one in told for one in words), told
        assert [one.labels for one in await self.manager.sees(bool) if one.text == told] == [("Try again",)]

    async def waits(self, kind: str, text: str, *words: str) -> None:
        """Ann's CLI tries again for ever: that is told in these words, nothing buzzes, and a tap stops the turn."""
        await self.hires(kind)
        await self.house.fact(CameOnline)
        await self.house.say(text)
        for one in words:
            assert (await self.manager.reads(one)).silent
        await self.house.fact(HandedOver)
        assert await self.buzzes() == []
        await self.manager.taps(await self.manager.reads("ann is working"), "Stop")
        ended = await self.house.fact(TurnEnded)
        assert ended.how is HowEnded.INTERRUPTED, ended
        told = await self.manager.reads("■ Stopped.")
        assert await self.buzzes() == [told.text]

    async def is_limited(self, kind: str, text: str) -> None:
        """Ann's usage limit stops her turn: one message says so, and offers to try now."""
        await self.has_hired(kind)
        ended, before = await self.turn(text)
        assert ended.how is HowEnded.PARKED, ended
        told = await self.manager.reads("ann has reached its usage limit")
        assert "What waits goes on by itself." in told.text
        assert told.labels == ("Try now",)
        await self.manager.sees(lambda chat: all(one.deleted for one in chat if "is working" in one.text))
        assert (await self.buzzes())[before:] == [told.text]

    async def asks_for_trust(self, kind: str, *words: str) -> None:
        """The folder that ann is hired into brings hooks of its own: one question, and nothing is started before."""
        await self.hires(kind)
        raised = await self.house.fact(AskRaised)
        assert raised.about is AskKind.FOLDER
        told = await self.manager.reads("It configures the agent:")
        assert told.labels == ("Trust and start", "Do not start")
        assert all(one in told.text for one in words), told.text
        assert await self.buzzes() == [told.text]
        await self.house.answer(raised.ask, "deny")
        assert "was not trusted" in (await self.house.fact(WentOffline)).why
        assert (await self.manager.reads("was not trusted")).silent

    async def does_not_know(self, kind: str, text: str, words: str) -> None:
        """A command that the agent does not know is told as the agent's own words."""
        await self.has_hired(kind)
        _, before = await self.turn(text)
        # Its words on the way, in a silent message, are not its answer yet.
        await self.manager.sees(lambda chat: any(words in one for one in buzzed(chat)[before:]))
        told = await self.only_buzz(before)
        assert words in told
        assert "Done." not in told

    async def has_hired(self, kind: str) -> None:
        """Ann is there and can be spoken to: one start of her CLI serves all the troubles that leave her alive."""
        if "ann" not in self.house.hub.present.workers:
            await self.hires(kind)
            await self.house.fact(CameOnline)

    async def turn(self, text: str) -> tuple[TurnEnded, int]:
        """Says this to ann: how her turn ended, and how often the phone had buzzed for her before."""
        before = len(await self.buzzes())
        said = await self.house.say(text)
        return await self.house.fact(TurnEnded, after=said.seq), before

    async def only_buzz(self, before: int) -> str:
        """The one buzz after so many."""
        told = (await self.buzzes())[before:]
        assert len(told) == 1, told
        return told[0]

    async def buzzes(self) -> list[str]:
        """What made the phone buzz, the node's own words to the manager aside."""
        return buzzed(await self.manager.sees(bool))


def buzzed(chat: Sequence[ShownMessage]) -> list[str]:
    """What of a chat made the phone buzz for ann, though it may be gone again."""
    return [one.text for one in chat if one.buzzed and "ann" in one.text.lower()]


@asynccontextmanager
async def in_trouble(cli_env: CliEnv, bot: FakeBot, change: Callable[[], object]) -> AsyncIterator[Trouble]:
    """The change takes the CLI what it needs; then the node is opened with a phone."""
    change()

    def channels(context: ChannelContext) -> list[Channel]:
        settings = telegram_settings(bot, admin_chat_id=str(MANAGER), chat_burst=50, poll_seconds=1)
        return [TelegramChannel(settings, context)]

    await bot.person(MANAGER, "Mo").says("/start")
    async with cli_env.open(channels=channels) as house:
        trouble = Trouble(house, bot, cli_env)
        # Answered before there is a worker that it could name.
        await trouble.manager.sees(lambda chat: sum("I'm online" in one.text for one in chat) == 2)
        yield trouble
    # How often a CLI tries is its own affair.
    cli_env.forget()


def written(path: Path, text: str) -> Callable[[], object]:
    """There is such a file."""

    def write() -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    return write


def without_program(cli_env: CliEnv) -> Callable[[], None]:
    """The CLI is not on PATH."""
    return lambda: cli_env.environment.update(PATH="/usr/bin:/bin")

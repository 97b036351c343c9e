"""A topic for every worker: where a chat has topics, what concerns a worker is there, and nobody needs a name in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.house.telegram_house import MANAGER, TelegramHouse, telegram_house

from farhand.model.facts import AskRaised, Ended
from farhand.model.ports import Deliver
from farhand.model.words import Choice, Mode
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot, ShownMessage

pytestmark = pytest.mark.anyio
GROUP = -1001234
YES_NO = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False, words=True))


@asynccontextmanager
async def forum(folder: Path, bot: FakeBot, agent: ScriptedDriver | None = None) -> AsyncIterator[TelegramHouse]:
    """A node whose manager is in a group."""
    people = frozenset({str(MANAGER)})
    async with telegram_house(folder, bot, agent=agent, admin_chat_id=str(GROUP), people=people) as opened:
        yield opened


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    await bot.group(GROUP, topics={})
    async with forum(tmp_path, bot) as opened:
        yield opened


async def read(bot: FakeBot, text: str, chat: int = GROUP) -> ShownMessage:
    """The first message of the bot in the group that has these words in it."""

    def fits(one: ShownMessage) -> bool:
        return one.from_bot and not one.deleted and text in one.text

    messages = await bot.until_chat(chat, lambda messages: any(map(fits, messages)))
    return next(one for one in messages if fits(one))


async def topic(bot: FakeBot, worker: str, chat: int = GROUP) -> int:
    """The number of the worker's topic."""
    return next(number for number, one in (await bot.topics(chat)).items() if one.name == worker)


def told(agent: ScriptedDriver) -> list[tuple[str, str]]:
    return [(name, one.message.text) for name, one in agent.performed if isinstance(one, Deliver)]


async def test_what_concerns_a_worker_is_in_its_topic_and_the_rest_in_the_main_thread(telegram: TelegramHouse) -> None:
    bot, manager = telegram.bot, telegram.manager
    await telegram.house.hire("ann")
    await telegram.house.hire("bob")
    await manager.says("@ann hello", chat_id=GROUP)
    await manager.says("good morning", chat_id=GROUP)
    of_ann, of_bob = await read(bot, "answer to hello"), await read(bot, "answer to good morning")
    assert (of_ann.thread, of_bob.thread) == (await topic(bot, "ann"), await topic(bot, "bob"))
    await manager.says("/team", chat_id=GROUP)
    assert (await read(bot, "Your team:")).thread is None
    assert (await read(bot, "Ann is added")).thread is None
    assert sorted(one.name for one in (await bot.topics(GROUP)).values()) == ["ann", "bob"]


async def test_inside_a_topic_nobody_needs_a_name(telegram: TelegramHouse) -> None:
    bot, manager, house = telegram.bot, telegram.manager, telegram.house
    await house.hire("ann")
    await house.hire("bob")
    await manager.says("@ann hello", chat_id=GROUP)
    await read(bot, "answer to hello")
    ann = await topic(bot, "ann")

    async def says(text: str) -> None:
        await manager.says(text, chat_id=GROUP, thread=ann)

    await says("again")
    assert (await read(bot, "answer to again")).thread == ann
    assert told(telegram.agent)[-1] == ("ann", "again")
    assert house.hub.present.focus == "bob"
    await says("/progress")
    assert (await read(bot, "Progress for worker: ann\nFocused: no")).thread == ann
    await says("/mode")
    assert (await read(bot, "ann: mode default")).thread == ann
    await says("/mode plan")
    await house.until(lambda present: present.workers["ann"].mode is Mode.PLAN)
    await says("/focus")
    await house.until(lambda present: present.focus == "ann")
    await says("@bob and you")
    assert (await read(bot, "answer to and you")).thread == await topic(bot, "bob")
    await says("/end")
    assert (await read(bot, "Ann removed from your team.")).thread is None
    await bot.until(_topics_of(bot), lambda topics: topics[ann].closed)
    assert list(house.hub.present.workers) == ["bob"]


async def test_a_question_is_asked_and_answered_in_the_topic(telegram: TelegramHouse) -> None:
    bot, manager = telegram.bot, telegram.manager
    await telegram.house.hire("ann")
    await telegram.house.hire("bob")
    telegram.agent.plays(AskRaised(ask="a", question="Run it?", choices=YES_NO))
    await manager.says("@ann clean up", chat_id=GROUP)
    asked = await read(bot, "ann asks: Run it?")
    ann = await topic(bot, "ann")
    assert asked.thread == ann
    await manager.says("what for?", chat_id=GROUP, thread=ann)
    assert (await read(bot, "ann waits for your answer above.")).thread == ann
    await manager.taps(asked, "No, and say why")
    assert (await read(bot, "write what goes with")).thread == ann
    await manager.says("yes", chat_id=GROUP, thread=ann)
    await read(bot, "→ Yes")


async def test_a_reply_in_the_topic_answers_the_question_with_its_own_words(telegram: TelegramHouse) -> None:
    bot, manager = telegram.bot, telegram.manager
    await telegram.house.hire("ann")
    await manager.says("@ann hello", chat_id=GROUP)
    said = await read(bot, "answer to hello")
    telegram.agent.plays(AskRaised(ask="a", question="Run it?", choices=YES_NO))
    await manager.says("@ann clean up", chat_id=GROUP)
    await read(bot, "ann asks: Run it?")
    await manager.says("yes", chat_id=GROUP, thread=await topic(bot, "ann"), reply_to=said.message_id)
    await read(bot, "→ Yes")


async def test_a_private_chat_with_topics_has_them_too(tmp_path: Path, bot: FakeBot) -> None:
    await bot.private_topics()
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire("ann")
        await telegram.manager.says("hello")
        answer = await telegram.manager.reads("answer to hello")
        ann = await topic(bot, "ann", MANAGER)
        assert answer.thread == ann
        await telegram.manager.says("/progress", thread=ann)
        assert (await telegram.manager.reads("Progress for")).thread == ann


async def test_a_bot_that_may_make_no_topics_says_all_in_the_main_thread(tmp_path: Path, bot: FakeBot) -> None:
    await bot.group(GROUP, topics={}, makes_topics=False)
    async with forum(tmp_path, bot) as telegram:
        await telegram.house.hire("ann")
        for text in ("one", "two"):
            await telegram.manager.says(text, chat_id=GROUP)
            assert (await read(bot, f"answer to {text}")).thread is None
        assert len(await bot.calls("createForumTopic")) == 1


async def test_a_chat_without_topics_is_asked_once_and_stays_as_it_was(tmp_path: Path, bot: FakeBot) -> None:
    await bot.group(GROUP)
    async with forum(tmp_path, bot) as telegram:
        await telegram.house.hire("ann")
        for text in ("one", "two"):
            await telegram.manager.says(text, chat_id=GROUP)
            assert (await read(bot, f"answer to {text}")).thread is None
        assert len(await bot.calls("getChat")) == 1
        assert not await bot.calls("createForumTopic")


async def test_a_topic_that_somebody_took_away_is_made_anew(telegram: TelegramHouse) -> None:
    bot, manager = telegram.bot, telegram.manager
    await telegram.house.hire("ann")
    await manager.says("one", chat_id=GROUP)
    first = (await read(bot, "answer to one")).thread
    assert first
    await bot.remove_topic(GROUP, first)
    await manager.says("two", chat_id=GROUP)
    second = (await read(bot, "answer to two")).thread
    assert second == await topic(bot, "ann")
    assert second != first
    assert not [one for one in await bot.messages(GROUP) if "⚠" in one.text]


async def test_topics_outlive_a_restart_and_are_closed_for_who_left_meanwhile(tmp_path: Path, bot: FakeBot) -> None:
    await bot.group(GROUP, topics={})
    agent = ScriptedDriver()
    async with forum(tmp_path, bot, agent) as telegram:
        await telegram.house.hire("ann")
        await telegram.manager.says("one", chat_id=GROUP)
        ann = (await read(bot, "answer to one")).thread
        await bot.fault("closeForumTopic", code=502, times=-1)
        await telegram.house.hire("bob")
        await telegram.manager.says("for bob", chat_id=GROUP)
        bob = (await read(bot, "answer to for bob")).thread
        await telegram.house.end("bob")
        await telegram.house.fact(Ended)
        await bot.until_calls(bool, "closeForumTopic")
    await bot.clear_faults()
    async with forum(tmp_path, bot, agent) as telegram:
        await telegram.manager.says("@ann two", chat_id=GROUP)
        assert (await read(bot, "answer to two")).thread == ann
        await bot.until(_topics_of(bot), lambda topics: topics[bob].closed)
        assert not (await bot.topics(GROUP))[ann or 0].closed


def _topics_of(bot: FakeBot) -> Callable[[], object]:
    return lambda: bot.topics(GROUP)

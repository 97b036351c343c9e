"""One conversation on the phone and at the desk: what was said on one is read on the other, and wakes nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.commands import Say
from farhand.model.facts import HandedOver, Interrupted, Said, TurnEnded, TurnStarted
from farhand.model.words import HowEnded, Sender
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        await opened.house.hire()
        await opened.manager.says("/start")
        await opened.manager.reads("I'm online")
        yield opened


async def say(telegram: TelegramHouse, text: str, via: str, who: str) -> None:
    await telegram.house.hub.send(Say(id=telegram.house.id(), text=text), Sender(via=via, who=who))


async def test_what_was_said_at_the_terminal_stands_before_its_answer(telegram: TelegramHouse) -> None:
    await say(telegram, "fix the till", "chat", "mo")
    answer = await telegram.manager.reads("answer to fix the till")
    said = await telegram.manager.reads("mo (terminal) → ann: fix the till")
    assert (said.buzzed, said.message_id < answer.message_id) == (False, True)


async def test_what_programs_say_and_what_was_said_here_is_not_shown_again(telegram: TelegramHouse) -> None:
    await say(telegram, "from a program", "http", "")
    await telegram.manager.reads("answer to from a program")
    await telegram.manager.says("from here")
    await telegram.manager.reads("answer to from here")
    chat = await telegram.manager.sees(bool)
    assert not [one.text for one in chat if "→ ann" in one.text]


async def test_what_was_typed_into_the_agents_own_box_is_shown(telegram: TelegramHouse) -> None:
    link = await telegram.agent.wait_link("ann")
    await link.say(TurnStarted(text="now the shop"), turn="desk-1")
    await link.say(Said(text="the shop is done"), turn="desk-1")
    await link.say(TurnEnded(how=HowEnded.COMPLETED), turn="desk-1")
    answer = await telegram.manager.reads("the shop is done")
    typed = await telegram.manager.reads("at the desk → ann: now the shop")
    assert (typed.buzzed, typed.message_id < answer.message_id) == (False, True)


async def test_a_message_that_the_agent_took_after_the_turn_it_was_for_is_answered_as_the_phones(
    telegram: TelegramHouse,
) -> None:
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("why is it slow?")
    await telegram.house.event(Said)
    said = await telegram.manager.says("then the test")
    await telegram.manager.taps(await telegram.manager.reads("this waits: then the test"), "Say it now")
    link, turn = telegram.agent.links["ann"], telegram.house.worker().turn
    assert turn is not None
    handed = await telegram.house.event(HandedOver, lambda event: event.fact != HandedOver(message=turn.id))
    assert isinstance(handed.fact, HandedOver)
    await link.say(TurnEnded(how=HowEnded.COMPLETED), turn=turn.id)
    await link.say(TurnStarted(joined=handed.fact.message), turn="desk-1")
    await link.say(Said(text="the test is there"), turn="desk-1")
    await link.say(TurnEnded(how=HowEnded.COMPLETED), turn="desk-1")
    answer = await telegram.manager.reads("ann:\nthe test is there")
    assert (answer.reply_to, answer.buzzed) == (said.message_id, True)
    assert not [one.text for one in await telegram.manager.sees(bool) if "at the desk" in one.text]


async def test_what_was_said_into_a_turn_is_stopped_with_it_though_the_agent_begins_it_afterwards(
    telegram: TelegramHouse,
) -> None:
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("why is it slow?")
    await telegram.house.event(Said)
    await telegram.manager.says("then the test")
    await telegram.manager.taps(await telegram.manager.reads("this waits: then the test"), "Say it now")
    link, turn = telegram.agent.links["ann"], telegram.house.worker().turn
    assert turn is not None
    handed = await telegram.house.event(HandedOver, lambda event: event.fact != HandedOver(message=turn.id))
    assert isinstance(handed.fact, HandedOver)
    await telegram.manager.says("stop")
    await telegram.manager.reads("“then the test” went into that, and is stopped with it.")
    first = await telegram.house.event(Interrupted)
    await link.say(TurnEnded(how=HowEnded.INTERRUPTED), turn=turn.id)
    # As Claude Code in its terminal takes what was typed meanwhile.
    await link.say(TurnStarted(joined=handed.fact.message), turn="late-1")
    again = await telegram.house.event(Interrupted, after=first.seq)
    assert again.turn == "late-1"
    await link.say(TurnEnded(how=HowEnded.INTERRUPTED), turn="late-1")
    # Said once more, it is a message like any other.
    await telegram.manager.says("then the test")
    await telegram.manager.reads("answer to then the test")

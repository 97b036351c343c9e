"""A busy worker's queue on the phone: what waits is seen, reworded, taken back or put into the running turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import HandedOver, Reworded, Said, TuneAsked, TurnEnded, Withdrawn
from farhand.model.ports import Can, Deliver, Unknown
from farhand.model.words import HowEnded
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot
from farhand.testing.telegram.words import ShownMessage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        await busy(opened)
        yield opened


async def busy(telegram: TelegramHouse) -> None:
    """A worker in the middle of a turn."""
    await telegram.house.hire()
    telegram.agent.plays(Said(text="at it"))
    await telegram.manager.says("a long one")
    await telegram.house.event(Said)


async def waits(telegram: TelegramHouse, text: str) -> ShownMessage:
    """Says something to the busy worker; the card that tells that it waits."""
    spoken = await telegram.manager.says(text)
    card = await telegram.manager.reads(f"ann is busy, this waits: {text}")
    assert card.reply_to == spoken.message_id
    assert card.silent
    return card


def gone(card: ShownMessage, chat: tuple[ShownMessage, ...]) -> bool:
    return next(one for one in chat if one.message_id == card.message_id).deleted


async def end_turn(telegram: TelegramHouse) -> None:
    turn = telegram.house.worker().turn
    assert turn is not None
    await telegram.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED), turn=turn.id)


async def test_a_message_that_waits_is_seen_until_its_turn_comes(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "second")
    assert card.labels == ("Say it now", "Reword it", "Take it back")
    await end_turn(telegram)
    await telegram.manager.reads("answer to second")
    await telegram.manager.sees(lambda chat: gone(card, chat))


async def test_a_message_that_waits_for_nobody_has_no_card(telegram: TelegramHouse) -> None:
    await end_turn(telegram)
    await telegram.house.until(lambda present: present.workers["ann"].turn is None)
    await telegram.manager.says("at once")
    await telegram.manager.reads("answer to at once")
    shown = await telegram.bot.messages(telegram.manager.id)
    assert not [one for one in shown if "this waits" in one.text]


async def test_a_message_that_waits_is_reworded_by_an_edit(telegram: TelegramHouse) -> None:
    spoken = await telegram.manager.says("secnd")
    card = await telegram.manager.reads("this waits: secnd")
    await telegram.manager.edits(spoken.message_id, "second")
    reworded = await telegram.manager.reads("this waits: second")
    assert reworded.message_id == card.message_id
    assert reworded.labels == card.labels
    await end_turn(telegram)
    await telegram.manager.reads("answer to second")


async def test_a_message_that_waits_is_taken_back_by_a_tap(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "never mind")
    await telegram.manager.taps(card, "Take it back")
    await telegram.house.event(Withdrawn)
    await telegram.manager.sees(lambda chat: gone(card, chat))
    assert not telegram.house.worker().queue


async def test_a_message_that_waits_is_put_into_the_running_turn_by_a_tap(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "and mind this")
    message = telegram.house.worker().queue[0].id
    await telegram.manager.taps(card, "Say it now")
    await telegram.house.event(HandedOver, lambda event: event.fact == HandedOver(message=message))
    await telegram.manager.sees(lambda chat: gone(card, chat))
    joined = [errand for _, errand in telegram.agent.performed if isinstance(errand, Deliver) and errand.joins]
    assert [errand.message.text for errand in joined] == ["and mind this"]


async def test_a_message_whose_fate_nobody_knows_waits_no_more(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "and mind this")
    telegram.agent.outcomes.append(Unknown(why="The keys went somewhere."))
    await telegram.manager.taps(card, "Say it now")
    await telegram.manager.reads("ann may not have got your message: The keys went somewhere.")
    await telegram.manager.sees(lambda chat: gone(card, chat))


async def test_a_worker_that_hears_nothing_in_mid_turn_is_not_said_to(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, agent=ScriptedDriver(can=Can(ids=True))) as telegram:
        await busy(telegram)
        card = await waits(telegram, "and mind this")
        tapped = await telegram.manager.taps(card, "Say it now")
        await telegram.bot.until_standing(lambda standing: tapped.query_id in standing.answered_queries)
        (call,) = await telegram.bot.calls("answerCallbackQuery")
        assert "cannot be spoken to in mid-turn" in call.parameters["text"]
        assert not telegram.house.worker().queue[0].steer


async def test_the_card_goes_also_when_the_node_was_away(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver()
    async with telegram_house(tmp_path, bot, agent=agent) as telegram:
        await busy(telegram)
        card = await waits(telegram, "second")
    async with telegram_house(tmp_path, bot, agent=agent) as telegram:
        await agent.wait_opened(2)
        await end_turn(telegram)
        await telegram.manager.reads("answer to second")
        await telegram.manager.sees(lambda chat: gone(card, chat))


async def test_what_waits_is_changed_by_its_number(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "second")
    await waits(telegram, "third")
    await telegram.manager.says("/queue")
    await telegram.manager.reads("1. ann: second\n2. ann: third")
    await telegram.manager.says("/edit 2 the third")
    await telegram.manager.reads("ann is busy, this waits: the third")
    await telegram.manager.says("/drop 1")
    await telegram.manager.reads("Taken back from ann: “second”.")
    await telegram.manager.sees(lambda chat: gone(card, chat))
    assert [one.text for one in telegram.house.worker().queue] == ["the third"]
    await telegram.manager.says("/drop 2")
    await telegram.manager.reads("No message for ann waits under the number 2; /queue tells which do.")


async def test_what_waits_is_listed_with_buttons_that_follow_the_list(telegram: TelegramHouse) -> None:
    await waits(telegram, "second")
    await waits(telegram, "third")
    await telegram.manager.says("/queue")
    listed = await telegram.manager.reads("1. ann: second\n2. ann: third")
    assert listed.labels == ("Now 1", "Edit 1", "Drop 1", "Now 2", "Edit 2", "Drop 2")
    await telegram.manager.taps(listed, "Drop 1")
    left = await telegram.manager.reads("1. ann: third")
    assert (left.message_id, left.labels) == (listed.message_id, ("Now 1", "Edit 1", "Drop 1"))
    await telegram.manager.taps(left, "Edit 1")
    wanted = await telegram.manager.reads("ann: write what “third” shall say instead")
    await telegram.manager.says("the third", reply_to=wanted.message_id)
    assert (await telegram.house.fact(Reworded)).text == "the third"
    changed = await telegram.manager.reads("1. ann: the third")
    assert changed.message_id == listed.message_id
    await telegram.manager.sees(lambda chat: gone(wanted, chat))
    await telegram.manager.taps(changed, "Drop 1")
    empty = await telegram.manager.reads("No message waits.")
    assert (empty.message_id, empty.labels) == (listed.message_id, ())
    assert not telegram.house.worker().queue


async def test_a_message_that_waits_is_reworded_by_a_tap_and_a_reply(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "secnd")
    await telegram.manager.taps(card, "Reword it")
    wanted = await telegram.manager.reads("ann: write what “secnd” shall say instead")
    await telegram.manager.says("second", reply_to=wanted.message_id)
    await telegram.manager.reads("ann is busy, this waits: second")
    await end_turn(telegram)
    await telegram.manager.reads("answer to second")


async def test_what_came_too_late_to_be_reworded_is_said_to_be(telegram: TelegramHouse) -> None:
    card = await waits(telegram, "second")
    await telegram.manager.taps(card, "Reword it")
    wanted = await telegram.manager.reads("shall say instead")
    await end_turn(telegram)
    await telegram.manager.reads("answer to second")
    await telegram.manager.says("too late", reply_to=wanted.message_id)
    await telegram.manager.reads("That message waits no more: it was begun or taken back, and this went nowhere.")


async def test_a_command_of_the_menu_without_a_number_shows_what_waits(telegram: TelegramHouse) -> None:
    await waits(telegram, "second")
    await telegram.manager.says("/drop")
    listed = await telegram.manager.reads("1. ann: second")
    assert listed.labels == ("Now 1", "Edit 1", "Drop 1")


async def test_mode_and_model_are_changed_from_the_phone(telegram: TelegramHouse) -> None:
    await telegram.manager.says("/tune mode=plan model=opus")
    await telegram.manager.reads("Ann is asked to change: mode=plan model=opus.")
    await telegram.house.fact(TuneAsked, lambda event: event.worker == "ann")
    await telegram.manager.says("/model")
    refused = await telegram.manager.reads("/model is interactive and not supported here.")
    await telegram.manager.taps(refused, "Choose a model")
    shown = await telegram.manager.reads("ann: mode plan")
    assert shown.labels == ("Ask before acting", "Edit, ask the rest")
    await telegram.manager.says("/model sonnet")
    refused = (await telegram.manager.sees(lambda chat: sum("is interactive" in one.text for one in chat) == 2))[-1]
    await telegram.manager.taps(refused, "Use sonnet")
    await telegram.manager.reads("ann changed: model sonnet.")

"""A turn that failed is tried again: by a tap below it or by `/retry`, once, and never when it is no longer meant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house, told

from farhand.model.commands import Retry
from farhand.model.errors import CannotDo
from farhand.model.facts import Said, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.telegram import FakeBot, ShownMessage

pytestmark = pytest.mark.anyio
FAILED = TurnEnded(how=HowEnded.FAILED, error="API Error: 529 overloaded_error")
GONE = "That was tried again already, or is too long ago. Say it again if you still want it."


async def fails(telegram: TelegramHouse, text: str) -> ShownMessage:
    """Ann fails at what she is told."""
    telegram.agent.plays(FAILED)
    await telegram.manager.says(text)
    [shown] = [one for one in await failures(telegram, text) if one.labels]
    return shown


async def failures(telegram: TelegramHouse, text: str) -> list[ShownMessage]:
    """The failures that answer this message."""
    chat = await telegram.manager.sees(
        lambda chat: any("✗ Failed" in one.text and _answers(chat, one, text) for one in chat)
    )
    return [one for one in chat if "✗ Failed" in one.text and _answers(chat, one, text)]


async def tapped(telegram: TelegramHouse, shown: ShownMessage) -> str:
    """Taps *Try again*: the words that Telegram shows for it."""
    # A phone may still show a button that is gone.
    tap = await telegram.manager.taps(shown, data=shown.buttons[0][0].data)
    standing = await telegram.bot.until_standing(lambda standing: tap.query_id in standing.answered_queries)
    return standing.answered_queries[tap.query_id]


def _failed(chat: Sequence[ShownMessage]) -> list[ShownMessage]:
    return [one for one in chat if "✗ Failed" in one.text]


def _failed_times(times: int, chat: Sequence[ShownMessage]) -> bool:
    return len(_failed(chat)) == times


def _answers(chat: Sequence[ShownMessage], shown: ShownMessage, text: str) -> bool:
    return any(one.message_id == shown.reply_to and one.text == text for one in chat)


async def test_a_tap_says_it_again_and_a_second_one_says_that_it_was_done(telegram: TelegramHouse) -> None:
    failed = await fails(telegram, "fix the till")
    assert failed.labels == ("Try again",)
    await telegram.manager.taps(failed, "Try again")
    answer = await telegram.manager.reads("answer to fix the till")
    assert answer.reply_to == failed.reply_to
    assert await tapped(telegram, failed) == GONE
    assert told(telegram) == ["fix the till", "fix the till"]


async def test_retry_says_what_failed_last_again(telegram: TelegramHouse) -> None:
    await fails(telegram, "fix the till")
    await telegram.manager.says("/retry")
    await telegram.manager.reads("Ann tries again.")
    await telegram.manager.reads("answer to fix the till")
    await telegram.manager.says("/retry")
    await telegram.manager.reads("Nothing of ann's failed last, and no usage limit holds it up.")
    assert told(telegram) == ["fix the till", "fix the till"]


async def test_retry_says_nothing_again_that_was_left_behind_but_its_button_does(telegram: TelegramHouse) -> None:
    failed = await fails(telegram, "fix the till")
    await telegram.manager.says("then the door")
    await telegram.manager.reads("answer to then the door")
    await telegram.manager.says("/retry")
    await telegram.manager.reads("Nothing of ann's failed last, and no usage limit holds it up.")
    await telegram.manager.taps(failed, "Try again")
    await telegram.manager.reads("answer to fix the till")
    assert told(telegram) == ["fix the till", "then the door", "fix the till"]


async def test_it_waits_for_its_turn_like_any_other_message(telegram: TelegramHouse) -> None:
    failed = await fails(telegram, "fix the till")
    telegram.agent.plays(Said(text="I look into it."))
    await telegram.manager.says("then the door")
    await telegram.house.event(Said)
    await telegram.manager.taps(failed, "Try again")
    await telegram.manager.reads("ann is busy, this waits: fix the till")
    assert told(telegram) == ["fix the till", "then the door"]


async def test_what_fails_again_can_be_tried_again(telegram: TelegramHouse) -> None:
    failed = await fails(telegram, "fix the till")
    telegram.agent.plays(FAILED)
    await telegram.manager.taps(failed, "Try again")
    chat = await telegram.manager.sees(lambda chat: sum("✗ Failed" in one.text for one in chat) == 2)
    await telegram.manager.taps([one for one in chat if "✗ Failed" in one.text][-1], "Try again")
    await telegram.manager.reads("answer to fix the till")
    assert told(telegram) == ["fix the till"] * 3


async def test_one_failure_has_one_button_however_often_it_fails(telegram: TelegramHouse) -> None:
    failed = await fails(telegram, "fix the till")
    for tries in (2, 3):
        telegram.agent.plays(FAILED)
        await telegram.manager.taps(failed, "Try again")
        chat = await telegram.manager.sees(partial(_failed_times, tries))
        failed = _failed(chat)[-1]
    chat = await telegram.manager.sees(lambda chat: sum(bool(one.labels) for one in _failed(chat)) == 1)
    assert [one.labels for one in _failed(chat)] == [(), (), ("Try again",)]
    assert all("529 overloaded" in one.text for one in _failed(chat)), "what was said stays"
    await telegram.manager.says("/retry")
    await telegram.manager.reads("answer to fix the till")
    await telegram.manager.sees(lambda chat: not any(one.labels for one in _failed(chat)))


async def test_after_a_restart_it_can_be_tried_again_once(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as before:
        await before.house.hire()
        failed = await fails(before, "fix the till")
    async with telegram_house(tmp_path, bot) as after:
        await after.manager.taps(failed, "Try again")
        await after.manager.reads("answer to fix the till")
        assert await tapped(after, failed) == GONE
        assert told(after) == ["fix the till"]


async def test_the_same_turn_is_not_tried_again_by_two_surfaces(telegram: TelegramHouse) -> None:
    await fails(telegram, "fix the till")
    [failed] = telegram.house.worker().failed
    await telegram.house.send(Retry(id="r-1", worker="ann", turn=failed.turn), "app")
    with pytest.raises(CannotDo, match="tried again already"):
        await telegram.house.send(Retry(id="r-2", worker="ann", turn=failed.turn), "cli")


async def test_a_worker_that_is_offline_says_what_to_do_first(telegram: TelegramHouse) -> None:
    telegram.agent.plays(Said(text="half"))
    await telegram.manager.says("fix the till")
    await telegram.house.event(Said)
    telegram.agent.refuses_to_open = "No such program."
    await telegram.agent.links["ann"].die()
    await telegram.manager.reads("ann is offline")
    failed = await telegram.manager.reads("✗ Failed")
    assert "offline" in await tapped(telegram, failed)
    telegram.agent.refuses_to_open = ""
    await telegram.manager.says("/relaunch")
    await telegram.manager.reads("Ann is back online.")
    await telegram.manager.taps(failed, "Try again")
    await telegram.manager.reads("answer to fix the till")

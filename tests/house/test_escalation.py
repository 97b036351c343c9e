"""An ask through the rules of a whole node, from the app to a real chat channel and back, on a clock of the test."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.house.chats_by_push import MANAGER, telegram_beside, whatsapp_beside
from tests.house.push_house import push_house
from tests.house.whatsapp_house import person_of

from farhand.model.facts import AskSettled
from farhand.testing.clock import ManualClock
from farhand.testing.telegram import FakeBot, ShownMessage
from farhand.testing.whatsapp import FakeWhatsApp

pytestmark = pytest.mark.anyio
QUESTION = "Run: make deploy"
STILL_WAITS = "still waits for you"


def _has_nudges(count: int, chat: Sequence[ShownMessage]) -> bool:
    return sum(STILL_WAITS in one.text for one in chat) == count


async def test_what_one_of_two_devices_shows_is_pushed_to_neither_until_it_has_left(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        phone, tablet = await push.pair("phone"), await push.pair("tablet")
        await push.house.hire("bob")
        push.look(phone, "bob")
        looks = push.look(tablet, "ann")
        await push.ask()
        push.clock.advance(20)
        await push.clock.until_asleep(1)
        assert push.service.requests == []
        looks(None)
        push.clock.advance(15)
        requests = {one.browser: one for one in await push.service.receives(2)}
        tags = [one.reads(requests[one.browser.name])["notification"]["tag"] for one in (phone, tablet)]
        assert tags == ["ask:a1", "ask:a1"]
        await push.house.answer("a1", "yes", via=f"web-{tablet.id}")
        over = phone.reads((await push.service.receives(3))[2])["notification"]
        assert (over["tag"], over["silent"]) == ("ask:a1", True)


async def test_an_ask_goes_from_the_app_to_telegram_and_back_and_is_settled_everywhere(
    tmp_path: Path, bot: FakeBot
) -> None:
    async with push_house(tmp_path, beside=telegram_beside(bot)) as push:
        phone, manager = await push.pair(), bot.person(MANAGER, "Mo")
        await manager.says("/team")
        await manager.reads("Your team:")
        await push.ask()
        first = phone.reads((await push.service.receives(1))[0])["notification"]
        asked = await manager.reads(QUESTION)
        assert (first["tag"], asked.silent) == ("ask:a1", True), "the app buzzes, and the chat does not"
        push.clock.advance(180)
        nudge = await manager.reads(STILL_WAITS)
        assert (nudge.reply_to, nudge.silent) == (asked.message_id, False)
        assert len(push.service.requests) == 1, "now the chat buzzes, and the app does not"
        push.clock.advance(900)
        again = phone.reads((await push.service.receives(2))[1])["notification"]
        assert (again["title"], again["renotify"]) == ("ann still waits", True)
        await push.house.answer("a1", "yes")
        over = phone.reads((await push.service.receives(3))[2])["notification"]
        assert (over["tag"], over["silent"]) == ("ask:a1", True)
        chat = await bot.until_chat(MANAGER, lambda chat: all(one.deleted for one in chat if STILL_WAITS in one.text))
        assert [one.message_id for one in chat if STILL_WAITS in one.text] == [nudge.message_id]


async def test_without_a_device_telegram_is_loud_and_reminds_twice(tmp_path: Path, bot: FakeBot) -> None:
    async with push_house(tmp_path, beside=telegram_beside(bot)) as push:
        manager = bot.person(MANAGER, "Mo")
        await manager.says("/team")
        await manager.reads("Your team:")
        await push.ask()
        assert not (await manager.reads(QUESTION)).silent
        for count, seconds in enumerate((180, 900), start=1):
            push.clock.advance(seconds)
            await bot.until_chat(MANAGER, partial(_has_nudges, count))
        await push.house.answer("a1", "yes")
        await bot.until_chat(MANAGER, lambda chat: all(one.deleted for one in chat if STILL_WAITS in one.text))


async def test_an_ask_goes_from_the_app_to_whatsapp_and_back_and_says_there_how_it_ended(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    clock = ManualClock()
    async with push_house(tmp_path, clock=clock, beside=whatsapp_beside(whatsapp, clock)) as push:
        phone, manager = await push.pair(), person_of(whatsapp)
        await push.ask()
        await push.service.receives(1)
        asked = await manager.reads(QUESTION)
        clock.advance(180)
        assert (await manager.reads(STILL_WAITS)).reply_to == asked.id
        assert len(push.service.requests) == 1
        clock.advance(900)
        again = phone.reads((await push.service.receives(2))[1])["notification"]
        assert again["title"] == "ann still waits"
        manager.taps(asked, "Allow once")
        await push.house.fact(AskSettled)
        over = phone.reads((await push.service.receives(3))[2])["notification"]
        assert (over["tag"], over["silent"]) == ("ask:a1", True)
        assert sum(STILL_WAITS in one.text for one in manager.received) == 1

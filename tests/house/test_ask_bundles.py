"""Several questions told as one: settled anywhere, they leave that notification on every device and in every chat."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.house.chats_by_push import MANAGER, telegram_beside, whatsapp_beside
from tests.house.push_house import Phone, PushHouse, asks, push_house
from tests.house.whatsapp_house import person_of

from farhand.model.attention import AttentionSettings, LockScreen
from farhand.model.commands import SetAttention
from farhand.model.facts import AskRaised, AskSettled
from farhand.testing.clock import ManualClock
from farhand.testing.push_service import push_service
from farhand.testing.telegram import FakeBot
from farhand.testing.whatsapp import FakeWhatsApp

pytestmark = pytest.mark.anyio
QUIET_SECONDS = 600.0


def question(number: int) -> AskRaised:
    return asks(f"a{number}", f"Run: step {number}", detail=f"step {number}", digest=f"d{number}")


async def night(push: PushHouse, count: int = 5, lock_screen: LockScreen = LockScreen.ALL) -> None:
    """So many questions in a quiet time that is over."""
    settings = AttentionSettings(until=push.clock.now() + QUIET_SECONDS, lock_screen=lock_screen)
    await push.house.send(SetAttention(id="quiet", settings=settings))
    await push.plays(*(question(number) for number in range(count)))
    await push.house.until(lambda present: len(present.workers["ann"].asks) == count)
    push.clock.advance(QUIET_SECONDS)


async def answered(push: PushHouse, number: int, via: str = "test") -> None:
    await push.house.answer(f"a{number}", "yes", via=via)
    await push.house.fact(
        AskSettled, lambda event: isinstance(event.fact, AskSettled) and event.fact.ask == f"a{number}"
    )


@asynccontextmanager
async def with_phone(folder: Path, **options: Any) -> AsyncIterator[tuple[PushHouse, Phone]]:
    async with push_house(folder, **options) as push:
        yield push, await push.pair()


async def shown(push: PushHouse, phone: Phone, count: int) -> dict[str, dict[str, Any]]:
    """What is on the screen after so many messages: a later one of the same tag takes the place of the one before."""
    requests = [one for one in await push.service.receives(count) if one.browser == phone.browser.name]
    messages = [phone.reads(one)["notification"] for one in requests]
    return {one["tag"]: one for one in messages}


async def test_what_is_answered_leaves_the_notification_of_several_and_the_last_ends_it(tmp_path: Path) -> None:
    async with with_phone(tmp_path) as (push, phone):
        await night(push)
        screen = await shown(push, phone, 1)
        assert list(screen) == ["asks"]
        assert (screen["asks"]["title"], screen["asks"]["renotify"]) == ("While you were away: 5", True)
        for number in range(3):
            # On the very device: it has the others before it still.
            await answered(push, number, via=f"web-{phone.id}")
            await push.service.receives(2 + number)
        screen = await shown(push, phone, 4)
        assert list(screen) == ["asks"], "one notification, however many were answered"
        assert (screen["asks"]["title"], screen["asks"]["silent"]) == ("While you were away: 2", True)
        assert "renotify" not in screen["asks"]
        await answered(push, 3)
        left = (await shown(push, phone, 5))["asks"]
        assert (left["title"], left["data"]["ask"], left["silent"]) == ("ann asks", "a4", True)
        assert left["navigate"].endswith("#/w/ann!ask%3Aa4")
        await answered(push, 4)
        screen = await shown(push, phone, 6)
        assert list(screen) == ["asks"]
        over = screen["asks"]
        assert (over["silent"], over["data"], "actions" in over) == (True, {"settled": "asks"}, False)
        assert phone.reads(push.service.requests[-1])["app_badge"] == 0


async def test_what_is_left_of_several_comes_again_as_one(tmp_path: Path) -> None:
    async with with_phone(tmp_path) as (push, phone):
        await night(push)
        await push.service.receives(1)
        for number in range(3):
            await answered(push, number)
            await push.service.receives(2 + number)
        push.clock.advance(180)
        screen = await shown(push, phone, 5)
        assert list(screen) == ["asks"], "two questions are told again under the name of the five"
        assert (screen["asks"]["title"], screen["asks"]["renotify"]) == ("While you were away: 2", True)


async def test_questions_and_news_of_one_night_are_two_notifications(tmp_path: Path) -> None:
    async with with_phone(tmp_path) as (push, phone):
        settings = AttentionSettings(until=push.clock.now() + QUIET_SECONDS)
        await push.house.send(SetAttention(id="quiet", settings=settings))
        await push.house.hire("bob")
        for text in ("one", "two"):
            await push.house.say(text, "bob", via="pipe")
            await push.house.until(lambda present: present.workers["bob"].turn is None)
        await night(push)
        screen = await shown(push, phone, 2)
        assert sorted(screen) == ["asks", "inbox"]
        assert "step 4" in screen["asks"]["body"]
        assert "bob finished 2 turns" in screen["inbox"]["body"]
        topics = {one.headers["topic"] for one in push.service.requests}
        assert len(topics) == 2, "neither takes the place of the other at the service"


async def test_quiet_off_tells_what_the_quiet_time_held(tmp_path: Path) -> None:
    async with with_phone(tmp_path) as (push, phone):
        quiet = AttentionSettings(until=push.clock.now() + QUIET_SECONDS)
        await push.house.send(SetAttention(id="quiet", settings=quiet))
        await push.plays(*(question(number) for number in range(5)))
        await push.house.until(lambda present: len(present.workers["ann"].asks) == 5)
        await push.house.send(SetAttention(id="loud", settings=AttentionSettings()))
        assert (await shown(push, phone, 1))["asks"]["title"] == "While you were away: 5"


async def test_what_was_told_alone_before_ends_in_both_notifications(tmp_path: Path) -> None:
    async with with_phone(tmp_path) as (push, phone):
        await push.ask(question(9))
        assert list(await shown(push, phone, 1)) == ["ask:a9"]
        settings = AttentionSettings(until=push.clock.now() + QUIET_SECONDS)
        await push.house.send(SetAttention(id="quiet", settings=settings))
        await push.house.hire("bob")
        await push.plays(*(question(number) for number in range(4)), worker="bob")
        await push.house.until(lambda present: len(present.workers["bob"].asks) == 4)
        push.clock.advance(QUIET_SECONDS)
        assert (await shown(push, phone, 2))["asks"]["title"] == "While you were away: 5"
        await answered(push, 9)
        screen = await shown(push, phone, 4)
        assert screen["ask:a9"]["data"] == {"settled": "a9"}
        assert screen["asks"]["title"] == "While you were away: 4"


async def test_a_node_that_starts_again_knows_what_was_told_as_one(tmp_path: Path) -> None:
    clock = ManualClock()
    async with push_service(clock.now()) as service:
        async with with_phone(tmp_path, service=service, clock=clock) as (push, phone):
            await night(push)
            await service.receives(1)
        async with push_house(tmp_path, service=service, clock=clock) as again:
            await answered(again, 0)
            screen = await shown(again, phone, 2)
            assert (list(screen), screen["asks"]["title"]) == (["asks"], "While you were away: 4")


@pytest.mark.parametrize(("shows", "title"), [(LockScreen.NAME, "ann’s question is settled"), (LockScreen.NOTHING, "")])
async def test_a_lock_screen_that_shows_little_says_that_nothing_waits_where_nothing_does(
    tmp_path: Path, shows: LockScreen, title: str
) -> None:
    async with with_phone(tmp_path) as (push, phone):
        await push.house.send(SetAttention(id="s1", settings=AttentionSettings(lock_screen=shows)))
        await push.ask()
        await push.service.receives(1)
        await push.house.answer("a1", "yes")
        over = (await shown(push, phone, 2))["ask:a1"]
        assert (over["title"], "waits for you" in over["body"]) == (title or "farhand", False)


async def test_the_reminder_of_several_in_telegram_says_what_is_left_and_goes_with_the_last(
    tmp_path: Path, bot: FakeBot
) -> None:
    async with push_house(tmp_path, beside=telegram_beside(bot)) as push:
        manager = bot.person(MANAGER, "Mo")
        await manager.says("/team")
        await manager.reads("Your team:")
        await night(push)
        reminder = await manager.reads("While you were away:")
        assert "ann asks 5 questions" in reminder.text
        assert reminder.text.endswith("/inbox"), "without a way in it names the command that shows them"
        for number in range(4):
            await answered(push, number)
        await bot.until_chat(MANAGER, lambda chat: any("ann asks: Run: step 4" in one.text for one in chat))
        await answered(push, 4)
        chat = await bot.until_chat(
            MANAGER, lambda chat: all(one.deleted for one in chat if "While you were away" in one.text)
        )
        told = [one.message_id for one in chat if "While you were away" in one.text]
        assert told == [reminder.message_id], "it is one message from its beginning to its end"


async def test_whatsapp_where_nothing_can_be_changed_is_told_once(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    clock = ManualClock()
    async with push_house(tmp_path, clock=clock, beside=whatsapp_beside(whatsapp, clock)) as push:
        manager = person_of(whatsapp)
        await night(push)
        told = await manager.reads("ann asks 5 questions")
        assert told.text.endswith(f"http://127.0.0.1:{push.house.node.port}/app/#/w/ann!ask%3Aa4")
        for number in range(5):
            await answered(push, number)
        manager.says("/inbox")
        await manager.reads("Nothing waits for you.")
        assert sum("While you were away" in one.text for one in manager.received) == 1

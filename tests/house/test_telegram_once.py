"""What was sent is obeyed once: repeated updates, restarts, update ids that start anew, a store that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.house.telegram_house import MANAGER, TelegramHouse, telegram_house

from farhand.model.facts import Queued
from farhand.model.ports import Deliver
from farhand.model.store_ports import Outbox, Parcel
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot, FakeTelegram

pytestmark = pytest.mark.anyio


def delivered(agent: ScriptedDriver) -> list[str]:
    return [errand.message.text for _, errand in agent.performed if isinstance(errand, Deliver)]


async def queued(telegram: TelegramHouse) -> list[str]:
    return [event.fact.text for event in await telegram.house.history() if isinstance(event.fact, Queued)]


class SlowToFindItsPlace:
    """An outbox that tells where its channel stands only when it may."""

    def __init__(self, outbox: Outbox, may: anyio.Event) -> None:
        self._outbox = outbox
        self._may = may

    def __getattr__(self, name: str) -> Any:
        return getattr(self._outbox, name)

    async def cursor(self, channel: str) -> str:
        await self._may.wait()
        return await self._outbox.cursor(channel)


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
async def test_the_very_first_message_of_a_new_node_is_answered_however_early_it_comes(
    tmp_path: Path, bot: FakeBot, public: bool
) -> None:
    may = anyio.Event()
    async with telegram_house(
        tmp_path, bot, public=public, outbox=lambda box: SlowToFindItsPlace(box, may)
    ) as telegram:
        await bot.until_standing(lambda standing: standing.polling or standing.webhook_url)
        await telegram.manager.says("/hire ann --backend scripted")
        # Time enough for a channel that would not wait.
        for _ in range(30):
            await bot.standing()
        may.set()
        await telegram.manager.reads("Ann is added and assigned.")


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
async def test_an_update_that_comes_again_acts_once_also_across_a_restart(
    tmp_path: Path, bot: FakeBot, public: bool
) -> None:
    async with telegram_house(tmp_path, bot, public=public) as telegram:
        await telegram.house.hire()
        spoken = await telegram.manager.says("once")
        await telegram.manager.reads("answer to once")
        await bot.deliver_again(spoken.update_id, copies=3)
        await telegram.manager.says("next")
        await telegram.manager.reads("answer to next")
        assert await queued(telegram) == ["once", "next"]
    await bot.deliver_again(spoken.update_id, copies=2)
    async with telegram_house(tmp_path, bot, public=public) as telegram:
        await telegram.manager.says("last")
        await telegram.manager.reads("answer to last")
        assert await queued(telegram) == ["once", "next", "last"]


async def test_the_same_update_twice_at_the_same_moment_acts_once(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, public=True) as telegram:
        await telegram.house.hire()
        await bot.until_calls(bool, "setWebhook")
        spoken = await telegram.manager.says("once")
        assert await bot.push(spoken.update_id, copies=8) == [200] * 8
        await telegram.manager.reads("answer to once")
        assert await queued(telegram) == ["once"]


async def test_a_tap_that_comes_again_acts_once(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("/focus ann")
        await telegram.manager.reads("Now talking to Ann.")
        spoken = await telegram.manager.says("/focus ann")
        await bot.deliver_again(spoken.update_id)
        await telegram.manager.says("done")
        await telegram.manager.reads("answer to done")
        chat = await bot.messages(MANAGER)
        assert [one.text for one in chat if one.text == "Now talking to Ann."] == ["Now talking to Ann."] * 2


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
async def test_update_ids_that_start_anew_lower_are_no_repeats(tmp_path: Path, bot: FakeBot, public: bool) -> None:
    async with telegram_house(tmp_path, bot, public=public) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("one")
        await telegram.manager.reads("answer to one")
        await bot.restart_update_ids(7)
        await telegram.manager.says("two")
        await telegram.manager.reads("answer to two")
        await telegram.manager.says("three")
        await telegram.manager.reads("answer to three")
        assert await queued(telegram) == ["one", "two", "three"]


@pytest.mark.parametrize("public", [False, True], ids=["polling", "webhook"])
async def test_what_is_sent_while_the_node_is_down_is_obeyed_after(tmp_path: Path, bot: FakeBot, public: bool) -> None:
    async with telegram_house(tmp_path, bot, public=public) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("before")
        await telegram.manager.reads("answer to before")
    manager = bot.person(MANAGER, "Mo")
    for number in range(3):
        await manager.says(f"while you were out {number}")
    async with telegram_house(tmp_path, bot, public=public) as telegram:
        await telegram.manager.reads("answer to while you were out 2")
        assert delivered(telegram.agent) == [f"while you were out {number}" for number in range(3)]


async def test_an_update_is_confirmed_only_when_it_is_written_down(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, poll_seconds=1) as telegram:
        await telegram.house.hire()
        spoken = await telegram.manager.says("one")
        written = await telegram.house.event(Queued)
        calls = await bot.until_calls(
            lambda calls: any(call.parameters.get("offset") == spoken.update_id + 1 for call in calls), "getUpdates"
        )
        confirmed = next(call for call in calls if call.parameters.get("offset") == spoken.update_id + 1)
        assert written.at <= confirmed.at
        assert all(call.parameters.get("offset", 0) <= spoken.update_id for call in calls if call.at < written.at)


async def test_an_edit_rewords_what_still_waits_and_a_late_one_is_told(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        telegram.agent.plays()
        first = await telegram.manager.says("a long one")
        await telegram.house.until(lambda present: present.workers["ann"].turn is not None)
        second = await telegram.manager.says("secnd")
        await telegram.house.until(lambda present: len(present.workers["ann"].queue) == 1)
        await telegram.manager.edits(second.message_id, "second")
        await telegram.house.until(lambda present: present.workers["ann"].queue[0].text == "second")
        await telegram.manager.edits(first.message_id, "a longer one")
        await telegram.manager.reads("waits no more")


async def test_a_letter_that_nobody_can_read_any_more_holds_up_nothing(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        unreadable = Parcel(key="old", chat=str(MANAGER), body=b"{}")
        await telegram.house.node.outbox.put(f"telegram:{bot.token.partition(':')[0]}", [unreadable])
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")


async def test_another_bot_may_count_its_messages_from_one_again(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        first = await telegram.manager.says("to the first bot")
        await telegram.manager.reads("answer to to the first bot")
    async with FakeTelegram(bot.address) as place:
        other = await place.new_bot()
        async with telegram_house(tmp_path, other) as telegram:
            again = await telegram.manager.says("to the second bot")
            assert again.message_id == first.message_id
            answer = await telegram.manager.reads("answer to to the second bot")
            assert answer.reply_to == again.message_id

"""What hurt on a first day: files that hold up a chat, edits that run commands, replies that go astray."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.channels.kit import texts
from farhand.model.facts import Queued, WentOffline
from farhand.model.ports import Deliver
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        yield opened


def told(agent: ScriptedDriver) -> list[str]:
    return [errand.message.text for _, errand in agent.performed if isinstance(errand, Deliver)]


async def test_a_file_that_does_not_come_holds_up_nobody(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.bot.fault("download", "hang", times=-1)
    await telegram.manager.sends_document(b"x", "notes.txt", caption="read this")
    await telegram.manager.says("/team")
    await telegram.manager.reads("Your team:")
    assert told(telegram.agent) == []
    await telegram.bot.clear_faults()
    await telegram.manager.reads("answer to read this")


async def test_a_file_that_was_being_fetched_comes_after_a_restart(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver()
    async with telegram_house(tmp_path, bot, agent=agent) as telegram:
        await telegram.house.hire()
        await bot.fault("download", "hang", times=-1)
        await telegram.manager.sends_document(b"x", "notes.txt", caption="read this")
        await telegram.manager.says("/team")
        await telegram.manager.reads("Your team:")
    await bot.clear_faults()
    async with telegram_house(tmp_path, bot, agent=agent) as telegram:
        await telegram.manager.reads("answer to read this")
        queued = [event for event in await telegram.house.history() if isinstance(event.fact, Queued)]
        assert len(queued) == 1
        folder = telegram.house.node.settings.folder
        assert not list(folder.rglob("fetching/*/*.json"))


async def test_a_voice_note_gets_an_honest_sentence(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    spoken = await telegram.manager.sends_voice(b"ogg")
    answer = await telegram.manager.reads(texts.NOT_HEARD)
    assert answer.reply_to == spoken.message_id
    assert told(telegram.agent) == []


async def test_an_edit_never_runs_a_command(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    spoken = await telegram.manager.says("/team")
    await telegram.manager.reads("Your team:")
    await telegram.manager.edits(spoken.message_id, "/hire zed --backend scripted")
    await telegram.manager.says("after")
    await telegram.manager.reads("answer to after")
    assert list(telegram.house.hub.present.workers) == ["ann"]


async def test_a_reply_to_ones_own_message_goes_to_the_focused_worker(telegram: TelegramHouse) -> None:
    await telegram.house.hire("alice")
    await telegram.house.hire("bob")
    mine = await telegram.manager.says("alice: is my favourite")
    # Her messages begin so, and what is said to her may.
    await telegram.manager.taps(await telegram.manager.reads("Is that for alice"), "Say it to bob")
    await telegram.manager.reads("answer to alice: is my favourite")
    await telegram.manager.says("I mean it", reply_to=mine.message_id)
    await telegram.manager.reads("I mean it")
    workers = [name for name, errand in telegram.agent.performed if isinstance(errand, Deliver)]
    assert workers == ["bob", "bob"]


async def test_a_message_to_a_worker_that_is_offline_is_said_not_to_be_kept(telegram: TelegramHouse) -> None:
    telegram.agent.refuses_to_open = "No such program."
    await telegram.house.hire(online=False)
    await telegram.house.fact(WentOffline)
    await telegram.manager.says("hello")
    shown = await telegram.manager.reads("Ann is offline. Try /relaunch.")
    assert shown.text.endswith("Your message was not kept: send it again then.")


async def test_progress_that_was_not_sent_is_missed_by_nobody(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("first")
    await telegram.manager.reads("answer to first")
    await telegram.bot.fault("sendMessage", "cut", times=-1, contains="is working")
    await telegram.manager.says("second")
    await telegram.manager.reads("answer to second")
    await telegram.bot.clear_faults()
    await telegram.manager.says("third")
    await telegram.manager.reads("answer to third")
    assert not [one for one in await telegram.bot.messages(telegram.manager.id) if "⚠" in one.text]

"""The first minutes on Telegram: one greeting, the agents that are here as buttons, a folder, a mode, and who is the
manager."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import Hired
from farhand.model.ports import SessionFound
from farhand.model.words import Mode
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
GREETING = "I'm online and ready.\nNo workers yet. Hire your first long-lived worker with /hire <name>."

YOU_ARE = (
    "Mo (user 4242), you are the manager of this node now: nobody else is obeyed here. The terminal can change that: "
    "farhand manager --help"
)
WHAT = "This is Farhand: coding agents at work on your own machine, run from this chat."
TAP = "Tap an agent below to hire it. Then write to it as you would to a colleague."
MORE = "/commands shows what else can be typed."


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        yield opened


async def test_start_is_greeted_once_and_the_agents_found_here_are_buttons(telegram: TelegramHouse) -> None:
    started = await telegram.manager.says("/start")
    greeting = await telegram.manager.reads(GREETING)
    assert (greeting.reply_to, greeting.labels) == (started.message_id, ("Hire scripted",))
    assert greeting.text == f"{GREETING}\n\n{WHAT}\n{TAP}\n{MORE}\n\n{YOU_ARE}"
    await telegram.manager.says("/team")
    chat = await telegram.manager.sees(lambda chat: any("No team members" in one.text for one in chat))
    assert sum("I'm online" in one.text for one in chat) == 1
    assert [one.labels for one in chat if "No team members" in one.text] == [("Hire scripted",)]


async def test_start_says_at_any_time_what_this_is_and_what_to_do_next(telegram: TelegramHouse) -> None:
    await telegram.manager.says("/start")
    await telegram.manager.reads(GREETING)
    await telegram.house.hire("ann")
    await telegram.manager.says("/start")
    greeting = await telegram.manager.reads("Team: ann\nFocused: ann")
    speak = "What you write goes to ann: write as you would to a colleague."
    assert greeting.text.endswith(f"\n\n{WHAT}\n{speak}\n{MORE}")


async def test_whoever_writes_first_is_greeted_once_and_answered(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, peers=lambda peers: peers) as telegram:
        await telegram.manager.says("fix the till")
        greeting = await telegram.manager.reads(GREETING)
        assert greeting.text == f"{GREETING}\n\n{WHAT}\n{TAP}\n{MORE}\n\n{YOU_ARE}"
        assert greeting.labels == ("Hire scripted",)
        await telegram.manager.says("/usage")
        await telegram.manager.reads("No worker has told what it used yet.")
        chat = await bot.messages(telegram.manager.id)
        assert [one.text.partition("\n")[0] for one in chat if one.from_bot] == [
            GREETING.partition("\n")[0],
            "No team members yet. Add someone with /hire <name>.",
            "No worker has told what it used yet.",
        ]


async def test_whoever_hires_with_their_first_word_is_obeyed(telegram: TelegramHouse) -> None:
    await telegram.manager.says("/hire ann scripted --ask")
    greeting = await telegram.manager.reads(GREETING)
    assert greeting.text.startswith(GREETING)
    await telegram.manager.reads("Ann is added and assigned.")


async def test_a_worker_is_hired_with_three_taps(telegram: TelegramHouse, tmp_path: Path) -> None:
    manager, shop = telegram.manager, tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    telegram.agent.conversations = [SessionFound(id="1", directory="/srv/till", title="till", at=1.0)]
    await manager.says("/start")
    await manager.taps(await manager.reads("I'm online"), "Hire scripted")
    where = await manager.reads("Hire scripted: where?")
    assert [label.rpartition("/")[2] for label in where.labels] == [tmp_path.name, "till", "shop", "Not now"]
    await manager.taps(where, next(label for label in where.labels if label.endswith("shop")))
    how = await manager.reads("what may it do unasked?")
    assert (how.message_id, str(shop) in how.text) == (where.message_id, True)
    await manager.taps(how, "Edits files, asks for the rest")
    hired = await telegram.house.event(Hired)
    assert isinstance(hired.fact, Hired)
    assert (hired.worker, hired.fact.backend, hired.fact.mode) == ("shop", "scripted", Mode.AUTO_EDIT)
    assert hired.fact.directory == str(shop)
    chat = await manager.sees(lambda chat: any("Shop is added" in one.text for one in chat))
    assert await manager.sees(lambda chat: next(one for one in chat if one.message_id == how.message_id).deleted)
    assert not any(one.buzzed for one in chat if "Hire scripted" in one.text)


async def test_a_hiring_by_taps_can_be_given_up_and_a_made_up_folder_is_none(telegram: TelegramHouse) -> None:
    manager = telegram.manager
    await manager.says("/hire")
    usage = await manager.reads("Usage: /hire <name>")
    await manager.taps(usage, "Hire scripted")
    where = await manager.reads("Hire scripted: where?")
    tapped = await manager.taps(where, data="f:0123456789abcdef0123:scripted")
    standing = await telegram.bot.until_standing(lambda standing: tapped.query_id in standing.answered_queries)
    assert standing.answered_queries[tapped.query_id] == "That folder is not offered any more."
    tapped = await manager.taps(where, data="m:9:0123456789abcdef0123:scripted")
    standing = await telegram.bot.until_standing(lambda standing: tapped.query_id in standing.answered_queries)
    assert standing.answered_queries[tapped.query_id] == "That button is not one of mine."
    await manager.taps(where, "Not now")
    await manager.sees(lambda chat: next(one for one in chat if one.message_id == where.message_id).deleted)
    assert not telegram.house.hub.present.workers


async def test_who_became_the_manager_is_told_on_every_side(telegram: TelegramHouse) -> None:
    await telegram.manager.says("/start")
    await telegram.manager.reads("I'm online")
    assert telegram.told == [
        "Mo (user 4242) is the manager of this node now. The terminal can change that: farhand manager --help"
    ]


async def test_the_way_to_the_bot_is_shown_at_the_terminal_until_there_is_a_manager(
    tmp_path: Path, bot: FakeBot
) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await bot.until_standing(lambda standing: standing.commands)
        [shown] = telegram.shown
        assert shown.startswith(f"Open https://t.me/{bot.username} on your phone and press Start")
        assert "█" in shown
        await telegram.manager.says("/start")
        await telegram.manager.reads("I'm online")
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.sees(lambda chat: sum("I'm online" in one.text for one in chat) == 2)
        await bot.until_calls(lambda calls: len(calls) >= 2, "setMyCommands")
        assert telegram.shown == []


async def test_the_code_is_shown_once_with_its_link(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, pairing=True) as telegram:
        await bot.until_standing(lambda standing: standing.commands)
        [shown] = telegram.shown
        assert f"https://t.me/{bot.username}?start=" in shown


async def test_the_code_is_shown_without_a_link_while_telegram_is_away(tmp_path: Path, bot: FakeBot) -> None:
    await bot.fault("getMe", code=502, times=2)
    async with telegram_house(tmp_path, bot, pairing=True) as telegram:
        await bot.until_standing(lambda standing: standing.commands)
        without, with_link = telegram.shown
        assert without.startswith("To become the manager, send this code to the bot: ")
        assert "t.me" not in without
        assert with_link.startswith(without)

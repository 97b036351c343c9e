"""On Telegram: a conversation of the desk is taken up with a tap and handed back; a limit is told once, and tried."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.desk_folders import in_made_folders
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import Hired, Limited, TurnEnded
from farhand.model.ports import SessionFound
from farhand.model.words import HowEnded
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
SHOP = SessionFound(id="aaaa-1111", directory="shop", title="fix the till", at=1.0, answer="**Done.**", open=False)
OPEN = SessionFound(id="bbbb-2222", directory="shop", title="at the desk", at=2.0, open=True)


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        opened.agent.conversations = in_made_folders(tmp_path, SHOP, OPEN)
        yield opened


async def test_a_conversation_is_taken_up_with_a_tap_and_handed_back(telegram: TelegramHouse, tmp_path: Path) -> None:
    manager = telegram.manager
    await telegram.house.hire("ann")
    await manager.says("/sessions")
    listed = await manager.reads("Conversations on this machine")
    take_over, take_up = [key.text for row in listed.buttons for key in row]
    assert (take_over.partition(":")[0], take_up) == ("1. Take over", "2. fix the till")
    await manager.taps(listed, "2. fix the till")
    adopted = await manager.reads("shop goes on with a conversation")
    assert adopted.text.endswith("Its last answer:\nDone.")
    hired = await telegram.house.fact(Hired, lambda event: event.worker == "shop")
    assert hired.session == "aaaa-1111"
    assert "What you write goes to shop now." in adopted.text
    await manager.says("hello")
    await manager.reads("shop:\nanswer to hello")
    await manager.says("/adopt scripted bbbb")
    await manager.reads("That conversation is still open at the desk.")
    await manager.says("/handback shop")
    back = await manager.reads("Shop is handed back.")
    assert f"cd {tmp_path}/shop && scripted --resume aaaa-1111" in back.text
    assert back.text.endswith("What you write goes to ann now.")
    await manager.says("and you?")
    await manager.reads("ann:\nanswer to and you?")


async def test_a_limit_is_told_once_and_a_tap_tries_again(telegram: TelegramHouse) -> None:
    manager = telegram.manager
    await telegram.house.hire()
    failed = TurnEnded(how=HowEnded.FAILED, error="limit")
    telegram.agent.plays(Limited(text="You've hit your limit", until=4_000_000_000.0), failed)
    telegram.agent.plays(Limited(text="You've hit your limit"), failed)
    await manager.says("hello")
    limited = await manager.reads("ann has reached its usage limit; it resets on")
    assert limited.buzzed
    await manager.taps(limited, "Try now")
    first = (await telegram.house.event(Limited)).seq
    again = await telegram.house.event(TurnEnded, after=(await telegram.house.event(Limited, after=first)).seq)
    assert (again.fact, again.turn is not None) == (TurnEnded(how=HowEnded.PARKED, error="limit"), True)
    await manager.says("/retry ann")
    answer = await manager.reads("answer to hello")
    assert answer.text == "ann:\nanswer to hello"
    chat = await manager.sees(bool)
    assert sum("usage limit" in one.text for one in chat) == 1
    assert not any("Failed" in one.text for one in chat)

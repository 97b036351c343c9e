"""Words that may be for the node or for another worker are asked back on the phone, and a tap says whose they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.facts import AskRaised, AskSettled
from farhand.model.ports import Deliver
from farhand.model.words import Choice
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        yield opened


def told(telegram: TelegramHouse) -> list[str]:
    return [errand.message.text for _, errand in telegram.agent.performed if isinstance(errand, Deliver)]


async def test_a_lone_help_is_asked_back_and_shown_by_a_tap(telegram: TelegramHouse) -> None:
    await telegram.house.hire("ann")
    await telegram.manager.says("help")
    back = await telegram.manager.reads("Is that for ann, or for me?")
    assert back.labels == ("Show help", "Say it to ann")
    await telegram.manager.taps(back, "Show help")
    await telegram.manager.reads("/team – ")
    await telegram.manager.sees(lambda chat: next(one for one in chat if one.message_id == back.message_id).deleted)
    assert told(telegram) == []


async def test_a_worker_is_let_go_in_words_by_a_tap(telegram: TelegramHouse) -> None:
    await telegram.house.hire("bob")
    await telegram.house.hire("ann")
    await telegram.manager.says("fire bob")
    back = await telegram.manager.reads("Is that for ann, or for me?")
    assert back.labels == ("End bob", "Say it to ann")
    assert "bob" in (await telegram.house.hub.look()).workers
    await telegram.manager.taps(back, "End bob")
    await telegram.house.until(lambda present: "bob" not in present.workers)
    assert told(telegram) == []


async def test_a_name_and_a_colon_are_asked_back_and_said_to_whom_a_tap_names(telegram: TelegramHouse) -> None:
    await telegram.house.hire("bob")
    await telegram.house.hire("project")
    await telegram.manager.says("bob: are you there?")
    back = await telegram.manager.reads("Is that for bob, or for project?")
    assert back.labels == ("Say it to bob", "Say it to project")
    assert told(telegram) == []
    await telegram.manager.taps(back, "Say it to bob")
    await telegram.manager.reads("answer to are you there?")
    assert [name for name, errand in telegram.agent.performed if isinstance(errand, Deliver)] == ["bob"]


async def test_a_name_and_a_colon_before_a_yes_answer_that_workers_question(telegram: TelegramHouse) -> None:
    await telegram.house.hire("bob")
    await telegram.house.hire("ann")
    choices = (Choice(id="once", label="Allow"), Choice(id="no", label="Deny", allows=False))
    telegram.agent.plays(AskRaised(ask="a-1", question="Run it?", choices=choices))
    await telegram.manager.says("@bob clean up")
    await telegram.manager.reads("Run it?")
    await telegram.manager.says("bob: yes")
    assert (await telegram.house.fact(AskSettled)).choice == "once"
    assert told(telegram) == ["clean up"]


async def test_who_is_meant_is_chosen_by_a_button(telegram: TelegramHouse) -> None:
    await telegram.house.hire("ann")
    await telegram.house.hire("bob")
    await telegram.manager.says("/focus")
    await telegram.manager.taps(await telegram.manager.reads("Usage: /focus <name>"), "Talk to ann")
    await telegram.house.until(lambda present: present.focus == "ann")
    await telegram.manager.says("/history")
    await telegram.manager.taps(await telegram.manager.reads("Nothing was said yet"), "History of bob")
    await telegram.manager.sees(lambda chat: sum("Nothing was said yet" in one.text for one in chat) == 2)

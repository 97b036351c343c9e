"""What the phone is told of agents that cannot start, go and come back: one message for one cause, and one buzz."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.model.errors import NoFolder
from farhand.model.facts import CameOnline, Said, WentOffline
from farhand.model.ports import Deliver
from farhand.model.words import Mode
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
SPLASH = """Claude Code did not start (status 1: ╭───────────╮
│ ✻ Welcome │
╰───────────╯

 Select login method:
 ❯ 1. Claude account)."""


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot) as opened:
        await opened.manager.says("/team")
        await opened.manager.reads("No team members yet")
        yield opened


async def buzzes(telegram: TelegramHouse) -> list[str]:
    chat = await telegram.bot.messages(telegram.manager.id)
    return [one.text for one in chat if one.buzzed and not one.text.startswith("No team members")]


async def test_a_hiring_that_fails_says_so_and_why_and_is_tried_again_by_a_tap(
    telegram: TelegramHouse, tmp_path: Path
) -> None:
    telegram.agent.refuses_to_open = SPLASH
    await telegram.manager.says("/hire ann --backend scripted")
    failed = await telegram.manager.reads('Could not hire "ann".')
    assert failed.text == (
        'Could not hire "ann". Not signed in. Sign in at the desk with the agent\'s own program, then try again.\n'
        "ann waits on the team; /end ann lets it go."
    )
    assert failed.labels == ("Try again",)
    chat = await telegram.manager.sees(lambda chat: any(one.deleted and "is added" in one.text for one in chat))
    assert not any("is added" in one.text and not one.deleted for one in chat)
    first = await telegram.house.event(WentOffline)
    await telegram.manager.taps(failed, "Try again")
    relaunched = await telegram.house.event(WentOffline, after=first.seq)
    await telegram.house.event(WentOffline, after=relaunched.seq)
    again = await telegram.manager.reads("Tried again at ")
    assert (again.message_id, again.labels) == (failed.message_id, ("Try again",))
    last = again.text.splitlines()[-1]
    assert last.endswith(" UTC; it still does not start: Not signed in.")
    telegram.agent.refuses_to_open = ""
    tap = await telegram.manager.taps(again, "Try again")
    standing = await telegram.bot.until_standing(lambda standing: tap.query_id in standing.answered_queries)
    worker = telegram.house.worker()
    assert standing.answered_queries[tap.query_id].startswith("Starting ann again: scripted, mode default, in ")
    assert (worker.backend, worker.mode, worker.directory) == ("scripted", Mode.DEFAULT, str(tmp_path))
    back = await telegram.manager.reads("Ann has started and is on your team. What you write goes to ann.")
    assert (back.message_id, back.labels) == (failed.message_id, ("What it does unasked",))
    assert await buzzes(telegram) == [back.text]
    await telegram.manager.taps(back, "What it does unasked")
    assert (await telegram.manager.reads("ann: mode default (asks before it acts)")).labels == (
        "Edit, ask the rest",
        "Only read and plan",
    )


async def test_a_hiring_that_fails_says_who_is_still_spoken_to(telegram: TelegramHouse) -> None:
    await telegram.house.hire("bob")
    telegram.agent.refuses_to_open = SPLASH
    await telegram.manager.says("/hire ann --backend scripted")
    failed = await telegram.manager.reads("What you write goes to bob, as before.")
    assert failed.text.startswith('Could not hire "ann".')
    await telegram.manager.says("good morning")
    await telegram.manager.reads("bob:\nanswer to good morning")
    telegram.agent.refuses_to_open = ""
    await telegram.manager.taps(failed, "Try again")
    await telegram.manager.reads(
        "Ann has started and is on your team.\nWhat you write goes to bob; /focus ann to talk to ann."
    )


async def test_nobody_is_hired_into_a_folder_that_is_not_there(telegram: TelegramHouse, tmp_path: Path) -> None:
    await telegram.house.hire("bob")
    await telegram.manager.says("/hire ann --backend scripted --dir shpo")
    no_folder = f"There is no folder {tmp_path}/shpo. Make it, or name another."
    assert (await telegram.manager.reads("Could not hire")).text == f'Could not hire "ann". {no_folder}'
    with pytest.raises(NoFolder, match=no_folder):
        await telegram.house.hire("ann", directory="shpo")
    assert list(telegram.house.hub.present.workers) == ["bob"]
    assert telegram.house.hub.present.focus == "bob"


async def test_an_agent_that_dies_again_and_again_is_told_once(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    for number in range(1, 5):
        link = await telegram.agent.wait_link("ann")
        await link.die()
        if number < 4:
            await telegram.agent.wait_opened(number + 1)
    gone = await telegram.manager.reads("ann is offline: The scripted agent was killed.")
    assert await buzzes(telegram) == [gone.text]


async def test_a_turn_that_its_agent_took_along_is_the_only_buzz(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    telegram.agent.plays(Said(text="half"))
    await telegram.manager.says("go")
    await telegram.house.event(Said)
    telegram.agent.refuses_to_open = "fetch failed: getaddrinfo ENOTFOUND"
    await telegram.agent.links["ann"].die()
    await telegram.manager.reads("ann is offline: no network.")
    await telegram.manager.reads("✗ Failed")
    assert [("✗ Failed" in one, "is offline" in one) for one in await buzzes(telegram)] == [(True, False)]


async def test_a_relaunch_buzzes_nothing_and_says_that_the_worker_is_back(telegram: TelegramHouse) -> None:
    await telegram.house.hire()
    await telegram.manager.says("/relaunch")
    back = await telegram.manager.reads("Ann is back online.")
    assert back.silent
    assert [one for one in await buzzes(telegram) if "offline" in one] == []


async def test_a_message_right_after_a_relaunch_waits_for_the_agent(telegram: TelegramHouse) -> None:
    telegram.agent.refuses_to_open = "No such program."
    await telegram.house.hire(online=False)
    await telegram.house.fact(WentOffline)
    telegram.agent.refuses_to_open = ""
    await telegram.house.relaunch("ann")
    relaunched = WentOffline(why="The worker was relaunched.", asked=True)
    await telegram.house.event(WentOffline, lambda event: event.fact == relaunched)
    await telegram.manager.says("hello")
    await telegram.manager.reads("answer to hello")
    await telegram.house.fact(CameOnline)
    assert [e.message.text for _, e in telegram.agent.performed if isinstance(e, Deliver)] == ["hello"]

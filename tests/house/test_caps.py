"""What one worker and the whole journal may take has a limit; what is over it is told, and nothing is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.house.telegram_house import telegram_house

from farhand.core.retention import MEGABYTE, Retention
from farhand.core.turn_text import CUT, LONGEST_TURN
from farhand.model.facts import AskRaised, AskSettled, Said, ToolEnded, TurnEnded
from farhand.model.history import TurnEntry
from farhand.model.ports import Settle
from farhand.model.words import Choice, HowEnded, HowSettled
from farhand.testing.house import House, open_house
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Allow"), Choice(id="no", label="Deny", allows=False))
LONG = "x" * 100_000


def asks(count: int) -> list[AskRaised]:
    return [AskRaised(ask=f"a-{number}", question=f"Question {number}?", choices=YES_NO) for number in range(count)]


async def test_a_question_too_many_is_denied_and_the_agent_hears_why(house: House) -> None:
    await house.hire()
    house.agent.plays(*asks(23))
    await house.say("ask me all")
    settled = await house.fact(AskSettled)
    assert (settled.ask, settled.how, settled.choice) == ("a-20", HowSettled.EXPIRED, "no")
    assert settled.note == "20 questions are open already. Wait for their answers before you ask more."
    present = await house.until(
        lambda present: (
            len(present.workers["ann"].asks) == 20
            and sum(isinstance(errand, Settle) for _, errand in house.agent.performed) == 3
        )
    )
    assert {ask.id for ask in present.workers["ann"].asks} == {f"a-{number}" for number in range(20)}
    told = [errand.ask.settled for _, errand in house.agent.performed if isinstance(errand, Settle)]
    assert [one.note for one in told if one] == [settled.note] * 3
    accepted = await house.answer("a-3", "yes")
    assert (await house.fact(AskSettled, after=accepted.seq - 1)).ask == "a-3"


async def test_a_turn_that_writes_without_end_is_kept_up_to_a_limit_and_the_next_one_whole(house: House) -> None:
    await house.hire()
    endless, done = [Said(text=LONG)] * (2 * LONGEST_TURN // len(LONG)), TurnEnded(how=HowEnded.COMPLETED)
    house.agent.plays(Said(text="begun "), *endless, ToolEnded(call="c", output=LONG), done)
    house.agent.plays(Said(text="short"), done)
    await house.say("write without end")
    last = await house.say("and now?")
    await house.event(TurnEnded, lambda event: event.turn == last.message)
    newest = await house.hub.history("ann", None, 1)
    older = await house.hub.history("ann", newest.entries[0].seq, 1)
    turns = [one.view for one in (*older.entries, *newest.entries) if isinstance(one, TurnEntry)]
    first, second = turns
    assert len(first.text) == LONGEST_TURN
    assert first.text.startswith("begun x")
    assert first.notes == (CUT,)
    assert first.ended is not None
    assert (second.text, second.notes) == ("short", ())


async def test_the_manager_is_told_once_and_asked_no_more_than_the_limit(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(*asks(30), Said(text="that is all"), TurnEnded(how=HowEnded.COMPLETED))
        await telegram.manager.says("ask me all")
        await telegram.manager.reads("that is all")
        await telegram.house.node.channels[0].drain()  # type: ignore[attr-defined]
        chat = await bot.messages(telegram.manager.id)
        assert sum("ann asks: Question" in one.text for one in chat) == 20
        assert sum("has too many questions open" in one.text for one in chat) == 1


@asynccontextmanager
async def kept(house: House, megabytes: float, told: list[str]) -> AsyncIterator[Retention]:
    """A journal with so small a limit, looked after by the test."""

    async def announce(text: str) -> None:
        told.append(text)

    yield Retention(house.node.journal, house.hub, house.clock, announce, days=90, megabytes=megabytes)


async def test_a_journal_that_reaches_its_limit_loses_its_oldest_part_and_says_so_once(tmp_path: Path) -> None:
    told: list[str] = []
    async with open_house(tmp_path) as house, kept(house, 3.0, told) as retention:
        await house.hire()
        for _ in range(2):
            for number in range(60):
                house.agent.plays(Said(text=f"{number} {LONG}"), TurnEnded(how=HowEnded.COMPLETED))
                accepted = await house.say("more")
                await house.event(TurnEnded, after=accepted.seq)
            assert await house.node.journal.size() > 3 * MEGABYTE
            await retention.check()
            assert await house.node.journal.size() <= 3 * MEGABYTE
        assert told == ["The journal had reached its limit of 3 MB (FARHAND_JOURNAL_MB): its oldest part was removed."]
        assert "pruned at its limit of 3 MB" in retention.line()
        assert house.hub.has_room
        # The present is whole, and goes on.
        house.agent.plays(Said(text="still here"), TurnEnded(how=HowEnded.COMPLETED))
        accepted = await house.say("are you there?")
        assert (await house.fact(Said, after=accepted.seq)).text == "still here"


async def test_when_nothing_may_go_agents_wait_and_people_are_heard(tmp_path: Path) -> None:
    told: list[str] = []
    async with open_house(tmp_path) as house, kept(house, 3.0, told) as retention:
        await house.hire()
        house.agent.plays(*(Said(text=f"{number} {LONG}") for number in range(60)))
        await house.say("tell me without end")
        await house.event(Said, lambda event: isinstance(event.fact, Said) and event.fact.text.startswith("59 "))
        await retention.check()
        assert not house.hub.has_room
        assert "belongs to running turns (ann). Agents wait until" in told[0]
        assert "what is left belongs to turns that run: ann" in retention.line()
        before = house.hub.present.seq
        await house.agent.links["ann"].say(Said(text="and more"))
        await house.say("can you hear me?")
        await house.interrupt()
        present = await house.until(lambda present: len(present.workers["ann"].queue) == 1)
        assert present.seq >= before + 2
        assert not any(isinstance(event.fact, Said) for event in await house.history() if event.seq > before)
        await house.relaunch()
        await house.until(lambda present: present.workers["ann"].turn is None or present.seq > before + 6)
        await retention.check()
        assert "left belongs" not in retention.line()
        assert ["oldest part" in one for one in told] == [False, True]


async def test_the_node_reads_its_limits_and_status_says_the_size(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        assert house.node.retention is not None
        await house.node.retention.check()
        assert house.node.status()["journal"].endswith(" MB")

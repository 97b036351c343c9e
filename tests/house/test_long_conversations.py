"""A worker's conversation of many turns: programs get all of it, and a screen gets what is older on the way up."""

from __future__ import annotations

import json

import anyio
import pytest
from tests.house.test_team_desk import team_screen
from tests.house.test_worker_conversations import key_of, outside

from farhand.model.facts import Said, TurnEnded, TurnStarted
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio
TURNS = 200
SAID = [text for turn in range(TURNS) for text in (f"turn {turn}.", f"answer to turn {turn}.")]


@pytest.fixture
async def long_house(house: House) -> House:
    """A worker with all of those turns behind it."""
    await house.hire("ann")
    for turn in range(TURNS):
        said = await house.say(f"turn {turn}.")
        await house.event(TurnEnded, after=said.seq)
    return house


async def test_a_program_gets_as_much_of_the_past_as_it_asks_for(long_house: House) -> None:
    async with outside(long_house, key_of(long_house)) as client:

        async def history(query: str = "") -> list[str]:
            return [one["text"] for one in (await client.get(f"/ann/history{query}")).json()]

        assert await history("?limit=3") == SAID[-3:]
        assert await history("?limit=250") == SAID[-250:]
        assert await history() == SAID
        messages = (await client.get("/ann/messages")).json()["messages"]
        assert [one["content"] for one in messages] == SAID
        ids = [one["id"] for one in messages]
        assert ids == sorted(set(ids))
        assert ids[0] > 0
        # What is said now comes after all of it.
        posted = (await client.post("/ann/message", json={"message": "and now"})).json()
        assert posted["id"] > ids[-1]


async def test_several_that_ask_at_once_get_each_message_once(long_house: House) -> None:
    async with outside(long_house, key_of(long_house)) as client, anyio.create_task_group() as tasks:

        async def ask() -> None:
            assert [one["text"] for one in (await client.get("/ann/history")).json()] == SAID

        for _ in range(5):
            tasks.start_soon(ask)


async def test_who_follows_gets_all_of_it_first_and_in_its_order(long_house: House) -> None:
    async with outside(long_house, key_of(long_house)) as client:
        # One who wants little comes first: what is older is read for the next one.
        assert len((await client.get("/ann/history?limit=2")).json()) == 2
        seen: list[str] = []
        async with client.stream("GET", "/ann/events") as response:
            with anyio.fail_after(SAFETY_SECONDS):
                async for line in response.aiter_lines():
                    data = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
                    if "message" in data:
                        seen.append(data["message"])
                    if "status" in data:
                        break
        assert seen == SAID


async def test_on_a_screen_what_is_older_comes_on_the_way_up(long_house: House) -> None:
    async with team_screen(long_house) as person:
        await person.see(SAID[-1])
        # No more is read than somebody looks at.
        assert SAID[0] not in [one.text for one in person.desk.session.log.messages]
        with anyio.fail_after(SAFETY_SECONDS):
            while f" {SAID[0]}" not in person.text():
                await person.pilot.press("pageup")
        assert [one.text for one in person.desk.session.log.messages] == SAID
        await person.pilot.press("ctrl+end")
        await person.see(SAID[-1])


async def test_what_was_typed_in_the_agents_own_terminal_is_in_the_past_too(house: House) -> None:
    await house.hire("ann")
    link = await house.agent.wait_link("ann")
    await link.say(TurnStarted(text="now the shop"), turn="desk-1")
    await link.say(Said(text="It is open."), turn="desk-1")
    await link.say(TurnEnded(how=HowEnded.COMPLETED), turn="desk-1")
    await house.event(TurnEnded)
    async with outside(house, key_of(house)) as client:
        assert (await client.get("/ann/history")).json() == [
            {"role": "user", "text": "now the shop"},
            {"role": "model", "text": "It is open."},
        ]

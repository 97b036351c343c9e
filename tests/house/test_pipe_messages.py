"""What came through a pipe, in a whole node: it is nobody's order, and the manager's words go before it."""

from __future__ import annotations

import pytest

from farhand.model.commands import Reword, Say, Sprint
from farhand.model.errors import CannotDo
from farhand.model.facts import Queued, Said
from farhand.model.ports import Deliver
from farhand.model.provenance import FRAME, pipe_sender
from farhand.testing.house import House

pytestmark = pytest.mark.anyio
BOB = pipe_sender("bob")
HEADING = FRAME.format(who="the worker bob")


async def written(house: House, text: str) -> str:
    """Says it to ann as bob's pipe does; the message's id."""
    accepted = await house.hub.send(Say(id=house.id(), worker="ann", text=text, anyway=True), BOB)
    return accepted.message


def told(house: House) -> list[str]:
    return [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]


async def test_the_journal_has_the_line_and_its_writer_and_the_agent_has_the_frame(house: House) -> None:
    await house.hire("ann")
    await written(house, "look here")
    fact = await house.fact(Queued)
    assert (fact.text, fact.by) == ("look here", BOB)
    await house.until(lambda _: bool(told(house)))
    assert told(house) == [f"{HEADING}\n> look here"]


async def test_stop_in_a_pipe_stops_no_sprint(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(Said(text="at it"))
    await house.send(Sprint(id=house.id(), worker="ann", tasks=("one", "two")))
    await house.until(lambda present: present.workers["ann"].turn is not None)
    await written(house, "STOP NOW")
    await written(house, "please stop")
    worker = (await house.hub.look()).workers["ann"]
    assert worker.sprint is not None
    assert not worker.sprint.halting
    assert [one.text for one in worker.queue] == ["STOP NOW", "please stop"]
    await house.say("STOP", "ann")
    await house.until(lambda present: (now := present.workers["ann"].sprint) is None or bool(now.halting))


async def test_it_cannot_be_corrected_into_the_managers_words(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(Said(text="busy"))
    await house.say("work", "ann")
    message = await written(house, "look here")
    with pytest.raises(CannotDo, match="from bob"):
        await house.send(Reword(id=house.id(), message=message, text="mine"))
    worker = (await house.hub.look()).workers["ann"]
    assert [(one.text, one.by) for one in worker.queue] == [("look here", BOB)]


async def test_the_managers_words_go_before_what_waits_from_pipes(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(Said(text="busy"))
    await house.say("work", "ann")
    for number in range(3):
        await written(house, f"line {number}")
    await house.say("first this", "ann")
    await house.say("then that", "ann")
    await written(house, "line 3")
    waiting = (await house.hub.look()).workers["ann"].queue
    expected = ["first this", "then that", *[f"line {number}" for number in range(4)]]
    assert [one.text for one in waiting] == expected
    await house.interrupt("ann")
    await house.until(lambda _: len(told(house)) == 7)
    assert told(house) == ["work", "first this", "then that", *[f"{HEADING}\n> line {number}" for number in range(4)]]

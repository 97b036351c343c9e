"""A manager talks to a worker: messages, queues, interrupts, and what a restart finds."""

from pathlib import Path

import pytest

from farhand.drivers.wires.lines.translate import to_line
from farhand.model import errors
from farhand.model.commands import Hire, Interrupt, Reorder, Reword, Say, Withdraw
from farhand.model.facts import (
    Doubted,
    Ended,
    HandedOver,
    Interrupted,
    Queued,
    Said,
    TurnEnded,
    WentOffline,
)
from farhand.model.ports import Can, Deliver, NotTaken, Stop, Unknown
from farhand.model.provenance import pipe_sender
from farhand.model.words import HowEnded, Receipt
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio


async def test_a_message_is_answered(house: House) -> None:
    await house.hire()
    accepted = await house.say("hello")
    ended = await house.event(TurnEnded)
    assert ended.turn == accepted.message
    said = await house.fact(Said)
    assert said.text == "answer to hello"
    assert (await house.node.journal.receipts())[accepted.message] == Receipt.ANSWERED


async def test_five_at_once_run_in_order(house: House) -> None:
    await house.hire()
    for number in range(5):
        await house.say(f"message {number}")
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    texts = [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]
    assert texts == [f"message {number}" for number in range(5)]


async def test_the_same_command_twice_acts_once(house: House) -> None:
    await house.hire()
    command = Say(id="same", text="once")
    first = await house.send(command)
    second = await house.send(command)
    assert (first.again, second.again) == (False, True)
    assert first.seq == second.seq
    await house.event(TurnEnded)
    assert len([event for event in await house.history() if isinstance(event.fact, Queued)]) == 1


async def test_two_channels_may_choose_the_same_id(house: House) -> None:
    await house.hire()
    await house.send(Say(id="same", text="one"), via="telegram")
    await house.send(Say(id="same", text="two"), via="web")
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    assert len(house.agent.performed) == 2


async def test_an_interrupt_overtakes_the_queue(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await house.say("long")
    await house.event(Said)
    await house.say("next")
    await house.interrupt()
    ended = await house.fact(TurnEnded)
    assert ended.how is HowEnded.INTERRUPTED
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    kinds = [type(errand) for _, errand in house.agent.performed]
    assert kinds == [Deliver, Stop, Deliver]


async def test_a_second_interrupt_of_the_same_turn_reaches_the_agent_again(house: House) -> None:
    await house.hire()
    house.agent.stops = False
    house.agent.plays(Said(text="working"))
    await house.say("long")
    await house.event(Said)
    for _ in range(2):
        asked = await house.interrupt()
        await house.event(Interrupted, after=asked.seq)
    stops = [errand for _, errand in house.agent.performed if isinstance(errand, Stop)]
    assert len({stop.number for stop in stops}) == len(stops) == 2
    keys = {to_line(stop) for stop in stops}
    assert len(keys) == 2


async def test_a_repeated_interrupt_has_the_same_key_after_a_restart(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    agent.stops = False
    agent.plays(Said(text="working"))
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        await house.say("long")
        await house.event(Said)
        agent.hangs = True
        await house.interrupt()
        await agent.wait_performed(2)
    # The node is gone before anybody has heard that the agent was told.
    agent.hangs = False
    async with open_house(tmp_path, agent) as house:
        await agent.wait_performed(3)
        stops = [errand for _, errand in agent.performed if isinstance(errand, Stop)]
        assert stops[0] == stops[1]


async def test_an_interrupt_can_take_back_what_waits(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await house.say("long")
    await house.event(Said)
    await house.say("next")
    await house.send(Interrupt(id=house.id(), worker="ann", withdraw=True))
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    assert [type(errand) for _, errand in house.agent.performed] == [Deliver, Stop]


async def test_a_lone_stop_is_obeyed_whoever_sends_it_and_becomes_no_message(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await house.say("long")
    await house.event(Said)
    assert (await house.say("next")).message
    assert not (await house.send(Say(id="s", text="Stop!"), via="web")).message
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    assert [type(errand) for _, errand in house.agent.performed] == [Deliver, Stop]
    assert (await house.send(Say(id="t", text="Stop!"), via="web")).message, "nothing runs: it is a message"


async def test_a_pipe_stops_nobody(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await house.say("long")
    await house.event(Said)
    said = await house.hub.send(Say(id="s", worker="ann", text="stop"), pipe_sender("bob"))
    assert said.message
    assert [one.text for one in house.worker().queue] == ["stop"]


async def test_nothing_to_interrupt_is_said(house: House) -> None:
    await house.hire()
    with pytest.raises(errors.NothingRunning, match="ann has no turn running"):
        await house.interrupt()


async def test_a_waiting_message_can_be_changed_and_taken_back(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="busy"))
    await house.say("first")
    one, two = await house.say("second"), await house.say("third")
    await house.send(Reword(id=house.id(), message=one.message, text="second, better"))
    await house.send(Withdraw(id=house.id(), message=two.message))
    await house.event(Said)
    link = house.agent.links["ann"]
    await link.say(TurnEnded(how=HowEnded.COMPLETED))
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    texts = [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]
    assert texts == ["first", "second, better"]
    with pytest.raises(errors.UnknownMessage):
        await house.send(Withdraw(id=house.id(), message=two.message))


async def test_waiting_messages_can_be_put_into_another_order(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="busy"))
    first = await house.say("first")
    two, three, four = await house.say("second"), await house.say("third"), await house.say("fourth")
    await house.event(Said)
    # A phone that has not heard yet that the first one is under way.
    order = (four.message, first.message, two.message)
    await house.send(Reorder(id=house.id(), messages=order))
    # Those that are named share out the first and the last place; the third keeps its own.
    assert [one.id for one in house.worker().queue] == [four.message, three.message, two.message]
    seq = house.hub.present.seq
    await house.send(Reorder(id=house.id(), messages=(four.message, two.message)))
    assert house.hub.present.seq == seq, "the same order again is no fact"
    for wrong in ((), (two.message, two.message)):
        with pytest.raises(errors.BadInput):
            await house.send(Reorder(id=house.id(), messages=wrong))
    with pytest.raises(errors.UnknownMessage):
        await house.send(Reorder(id=house.id(), messages=("nobody:1", two.message)))
    with pytest.raises(errors.MessageGone):
        await house.send(Reorder(id=house.id(), messages=(first.message,)))
    await house.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
    await house.until(lambda present: not present.workers["ann"].queue and present.workers["ann"].turn is None)
    texts = [errand.message.text for _, errand in house.agent.performed if isinstance(errand, Deliver)]
    assert texts == ["first", "fourth", "third", "second"]


async def test_only_messages_of_one_worker_have_an_order(house: House) -> None:
    house.agent.plays(Said(text="busy"), Said(text="busy"))
    waiting = []
    for name in ("ann", "bob"):
        await house.hire(name)
        await house.say("first", worker=name)
        waiting += [await house.say("second", worker=name)]
    with pytest.raises(errors.BadInput, match="one worker"):
        await house.send(Reorder(id=house.id(), messages=tuple(one.message for one in waiting)))


async def test_what_was_not_taken_is_told(house: House) -> None:
    await house.hire()
    house.agent.outcomes.append(NotTaken(why="The pane is gone."))
    accepted = await house.say("hello")
    ended = await house.fact(TurnEnded)
    assert (ended.how, ended.error) == (HowEnded.FAILED, "The pane is gone.")
    assert (await house.node.journal.receipts())[accepted.message] == Receipt.REFUSED


async def test_what_nobody_can_tell_is_unknown(house: House) -> None:
    await house.hire()
    house.agent.outcomes.append(Unknown(why="The key went out, no echo came."))
    accepted = await house.say("hello")
    assert (await house.fact(Doubted)).message == accepted.message
    assert (await house.node.journal.receipts())[accepted.message] == Receipt.UNKNOWN


async def test_an_agent_that_dies_is_told_and_started_again(house: House) -> None:
    await house.hire()
    house.agent.plays(Said(text="working"))
    await house.say("go")
    await house.event(Said)
    await house.agent.links["ann"].die()
    assert (await house.fact(TurnEnded)).error == "The scripted agent was killed."
    await house.fact(WentOffline)
    await house.until(lambda present: present.workers["ann"].online)
    await house.say("again")
    await house.event(Said, lambda event: event.fact == Said(text="answer to again"))


async def test_an_agent_that_cannot_start_waits_for_a_relaunch(house: House) -> None:
    house.agent.refuses_to_open = "No such program."
    await house.hire(online=False)
    assert (await house.fact(WentOffline)).why == "No such program."
    with pytest.raises(errors.Offline, match=r"ann is offline \(No such program\)\. Relaunch it first\."):
        await house.say("are you there")
    await house.send(Say(id="waits", text="for later", anyway=True))
    assert [worker.state_at(0.0) for worker in house.hub.present.workers.values()] == ["offline"]
    house.agent.refuses_to_open = ""
    await house.relaunch()
    # Whoever is being relaunched is spoken to as one that is there.
    await house.say("are you back")
    await house.event(Said, lambda event: event.fact == Said(text="answer to for later"))
    await house.event(Said, lambda event: event.fact == Said(text="answer to are you back"))


async def test_a_worker_leaves_and_the_name_is_free(house: House) -> None:
    await house.hire()
    await house.end("ann")
    await house.event(Ended)
    assert house.agent.ended == ["ann"]
    assert house.hub.present.focus == ""
    await house.hire()


async def test_bad_names_and_backends_are_refused_in_a_sentence(house: House) -> None:
    with pytest.raises(errors.UnknownBackend, match=r"No backend called 'claud'\. Known: scripted\."):
        await house.send(Hire(id="a", worker="bob", backend="claud"))
    with pytest.raises(errors.BadName, match="reserved"):
        await house.send(Hire(id="b", worker="team", backend="scripted"))
    with pytest.raises(errors.BadName):
        await house.send(Hire(id="c", worker="!!!", backend="scripted"))
    await house.hire("bob")
    with pytest.raises(errors.NameTaken):
        await house.send(Hire(id="d", worker="Bob", backend="scripted"))
    with pytest.raises(errors.UnknownWorker, match="The team: bob"):
        await house.say("hi", worker="carl")


async def test_a_restart_finds_everything(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent) as house:
        await house.hire("ann")
        await house.hire("bob")
        agent.plays(Said(text="busy"))
        await house.say("first", worker="ann")
        await house.say("second", worker="ann")
        await house.event(HandedOver)
        await house.event(Said)
        before = house.hub.present
    async with open_house(tmp_path, agent) as house:
        assert house.hub.present == before
        assert house.hub.present.focus == "bob"
        await agent.wait_opened(4)
        await agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED))
        await house.event(Said, lambda event: event.fact == Said(text="answer to second"))


async def test_a_wire_without_ids_is_not_given_a_message_twice(tmp_path: Path) -> None:
    agent = ScriptedDriver(can=Can())
    agent.hangs = True
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        accepted = await house.say("hello")
        await agent.wait_performed(1)
    # The node is gone in the middle of the handing over.
    agent.hangs = False
    async with open_house(tmp_path, agent) as house:
        doubted = await house.fact(Doubted, after=accepted.seq)
        assert doubted.message == accepted.message
        assert len(agent.performed) == 1


async def test_a_wire_with_ids_is_given_it_again_and_takes_it_once(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    agent.hangs = True
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        await house.say("hello")
        await agent.wait_performed(1)
    agent.hangs = False
    async with open_house(tmp_path, agent) as house:
        await house.event(TurnEnded)
        first, second = (errand for _, errand in agent.performed)
        assert first == second


async def test_the_tables_equal_the_journal_folded_from_zero(house: House) -> None:
    from farhand.model.present import Present
    from farhand.model.present_fold import fold

    await house.hire("ann")
    await house.hire("bob")
    house.agent.plays(Said(text="busy"))
    await house.say("one", worker="ann")
    await house.say("two", worker="ann")
    await house.say("three", worker="bob")
    await house.event(TurnEnded, lambda event: event.worker == "bob")
    folded = Present()
    for event in await house.history():
        folded = fold(folded, event)
    assert await house.node.journal.load() == folded == house.hub.present


async def test_a_directory_that_no_system_could_have_is_refused_at_once(house: House) -> None:
    with pytest.raises(errors.BadInput, match="directory"):
        await house.send(Hire(id="h", worker="ann", backend="scripted", directory="/tmp/\0/x"))
    assert not house.hub.present.workers

"""Questions wait for a person, the first answer wins, and none is lost."""

from pathlib import Path

import anyio
import pytest

from farhand.channels.kit.ask_cards import settlement
from farhand.model import errors
from farhand.model.action import ActionKind, files
from farhand.model.commands import Tune
from farhand.model.facts import AnswerDelivered, AskRaised, AskSettled, Said, Tuned, TurnEnded
from farhand.model.ports import Change, Settle
from farhand.model.words import AskKind, Choice, HowEnded, HowSettled, Mode, replace
from farhand.testing.clock import ManualClock
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
YES_NO = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))
ASK = AskRaised(ask="a", question="Run it?", choices=YES_NO)


async def test_first_answer_wins(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("clean up")
    await house.event(AskRaised)
    await house.answer("a", "yes", via="telegram")
    with pytest.raises(errors.AskGone, match="already answered 'yes' over telegram"):
        await house.answer("a", "no", via="web")
    settled = await house.fact(AskSettled)
    assert settled.by is not None
    assert settled.by.via == "telegram"
    await house.event(AnswerDelivered)
    with pytest.raises(errors.AskGone):
        await house.answer("a", "no", via="web")
    told = [errand for _, errand in house.agent.performed if isinstance(errand, Settle)]
    assert [errand.ask.settled for errand in told] == [settled]


async def test_a_change_waits_until_its_question_is_answered(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("clean up")
    await house.event(AskRaised)
    await house.send(Tune(id=house.id(), worker="ann", mode=Mode.PLAN))
    await house.answer("a", "yes")
    assert (await house.fact(Tuned)).mode is Mode.PLAN
    performed = [type(errand) for _, errand in house.agent.performed]
    assert performed.index(Settle) < performed.index(Change)


@pytest.mark.parametrize(("choice", "mode"), [("ask", Mode.DEFAULT), ("free", Mode.AUTO_EDIT), ("no", Mode.PLAN)])
async def test_a_plan_that_is_gone_ahead_with_ends_the_planning(house: House, choice: str, mode: Mode) -> None:
    await house.hire(mode=Mode.PLAN)
    choices = (
        Choice(id="ask", label="Go ahead, ask", mode=Mode.DEFAULT),
        Choice(id="free", label="Go ahead, edit freely", mode=Mode.AUTO_EDIT),
        Choice(id="no", label="Keep planning", allows=False),
    )
    house.agent.plays(AskRaised(ask="a", question="Go ahead?", choices=choices, about=AskKind.PLAN))
    await house.say("plan it")
    await house.event(AskRaised)
    await house.answer("a", choice)
    await house.event(AnswerDelivered)
    assert house.worker().mode is mode
    assert await house.node.journal.load() == house.hub.present


async def test_a_change_that_waited_is_made_after_the_mode_that_the_answer_brings(house: House) -> None:
    await house.hire(mode=Mode.PLAN)
    choices = (Choice(id="go", label="Go ahead", mode=Mode.DEFAULT), Choice(id="no", label="No", allows=False))
    house.agent.plays(AskRaised(ask="a", question="Go ahead?", choices=choices, about=AskKind.PLAN))
    await house.say("plan it")
    await house.event(AskRaised)
    await house.send(Tune(id=house.id(), worker="ann", model="opus"))
    await house.answer("a", "go")
    await house.fact(Tuned, lambda event: event.fact == Tuned(model="opus"))
    assert (house.worker().mode, house.worker().model) == (Mode.DEFAULT, "opus")


async def test_two_answers_at_the_same_moment_are_one(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("clean up")
    await house.event(AskRaised)
    outcomes: list[str] = []

    async def answer(via: str, choice: str) -> None:
        try:
            await house.answer("a", choice, via=via)
            outcomes.append("taken")
        except errors.AskGone:
            outcomes.append("gone")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, "telegram", "yes")
        tasks.start_soon(answer, "web", "no")
    assert sorted(outcomes) == ["gone", "taken"]


async def test_an_ask_outlives_a_node_that_is_stopped_however_its_link_ends(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        house.agent.plays(ASK)
        await house.say("clean up")
        await house.event(AskRaised)
        agent.breaks_at_close = RuntimeError("the wire broke when it was let go")
    agent.breaks_at_close = None
    async with open_house(tmp_path, agent) as house:
        assert house.worker().online
        await house.answer("a", "yes")
        assert (await house.fact(AnswerDelivered)).problem == ""


async def test_a_choice_that_is_none_is_refused_and_the_ask_stays_open(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("clean up")
    await house.event(AskRaised)
    with pytest.raises(errors.BadInput, match="It offers: yes, no"):
        await house.answer("a", "perhaps")
    await house.answer("a", "no")


async def test_several_choices_are_one_answer_where_the_question_takes_several(house: House) -> None:
    choices = (Choice(id="1", label="Red"), Choice(id="2", label="Blue"), Choice(id="no", label="No", allows=False))
    await house.hire()
    house.agent.plays(AskRaised(ask="a", question="Which?", choices=choices, several=True))
    await house.say("paint")
    await house.event(AskRaised)
    with pytest.raises(errors.BadInput, match="'3' is no choice of that question"):
        await house.answer("a", "1,3")
    with pytest.raises(errors.BadInput, match="'no' goes with no other choice"):
        await house.answer("a", "1,no")
    await house.answer("a", "2, 1,2")
    settled = await house.fact(AskSettled)
    assert settled.choice == "1,2"
    assert settlement(settled, {one.id: one.label for one in choices}) == "→ Red, Blue, over test"
    await house.event(AnswerDelivered)
    told = [errand for _, errand in house.agent.performed if isinstance(errand, Settle)]
    assert [(errand.ask.several, errand.ask.settled) for errand in told] == [(True, settled)]


async def test_several_choices_are_refused_where_the_question_takes_one(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("clean up")
    await house.event(AskRaised)
    with pytest.raises(errors.BadInput, match="'yes,no' is no choice"):
        await house.answer("a", "yes,no")


async def test_a_deadline_denies(house: House) -> None:
    assert isinstance(house.clock, ManualClock)
    await house.hire()
    house.agent.plays(AskRaised(ask="a", question="Run it?", choices=YES_NO, deadline_seconds=60))
    await house.say("clean up")
    await house.event(AskRaised)
    await house.clock.until_asleep(2)  # the deadline and the retention
    house.clock.advance(61)
    settled = await house.fact(AskSettled)
    assert (settled.how, settled.choice) == (HowSettled.EXPIRED, "no")
    await house.event(AnswerDelivered)


async def test_an_ask_survives_a_restart(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        agent.plays(ASK)
        await house.say("clean up")
        await house.event(AskRaised)
    async with open_house(tmp_path, agent) as house:
        assert house.worker().state_at(0.0) == "waiting"
        await house.answer("a", "yes")
        await house.event(AnswerDelivered)


async def test_an_answer_given_just_before_a_kill_reaches_the_agent(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent) as house:
        await house.hire()
        agent.plays(ASK)
        await house.say("clean up")
        await house.event(AskRaised)
        agent.hangs = True
        await house.answer("a", "yes")
        await agent.wait_performed(2)
    agent.hangs = False
    async with open_house(tmp_path, agent) as house:
        await house.event(AnswerDelivered)
        assert isinstance(agent.performed[-1][1], Settle)


async def test_a_turn_that_ends_closes_its_asks(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK, Said(text="never mind"), TurnEnded(how=HowEnded.COMPLETED))
    await house.say("clean up")
    assert (await house.fact(AskSettled)).how is HowSettled.WITHDRAWN
    await house.event(TurnEnded)
    with pytest.raises(errors.AskGone):
        await house.answer("a", "yes")


async def test_a_turn_that_ends_before_its_answer_is_confirmed_does_not_deny_the_answer(house: House) -> None:
    await _answered_and_on_its_way(house)
    await _end_turn(house)
    assert house.agent.holds is not None
    house.agent.holds.set()
    assert (await house.fact(AnswerDelivered)).problem == ""
    assert house.worker().asks == ()


async def test_an_answer_on_its_way_when_the_node_stops_is_not_denied_by_the_end_of_its_turn(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent) as house:
        await _answered_and_on_its_way(house)
    async with open_house(tmp_path, agent) as house:
        await agent.wait_opened(2)
        await _end_turn(house)
        assert agent.holds is not None
        agent.holds.set()
        assert (await house.fact(AnswerDelivered)).problem == ""


async def test_an_answer_on_its_way_to_an_agent_that_dies_after_its_turn_is_told(house: House) -> None:
    await _answered_and_on_its_way(house)
    await _end_turn(house)
    await house.agent.links["ann"].die()
    assert "before the answer reached the agent" in (await house.fact(AnswerDelivered)).problem
    assert house.worker().asks == ()


async def _answered_and_on_its_way(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("clean up")
    await house.event(AskRaised)
    house.agent.holds = anyio.Event()
    await house.answer("a", "yes")
    await house.agent.wait_performed(2)


async def _end_turn(house: House) -> None:
    turn = house.worker().turn
    assert turn is not None
    await house.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED), turn=turn.id)
    await house.event(TurnEnded)


async def test_an_answer_at_the_desk_closes_the_ask(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK, AskSettled(ask="a", how=HowSettled.DESK, choice="yes"))
    await house.say("clean up")
    await house.event(AskSettled)
    with pytest.raises(errors.AskGone, match="answered at the desk"):
        await house.answer("a", "no")


async def test_an_ask_of_a_turn_that_is_over_gets_its_answer_once(house: House) -> None:
    await house.hire()
    first = await house.say("one")
    await house.event(TurnEnded)
    await house.agent.links["ann"].say(ASK, turn=first.message)
    await house.event(AskRaised)
    await house.answer("a", "yes")
    await house.event(AnswerDelivered)
    await house.say("two")
    await house.event(TurnEnded, lambda event: event.turn != first.message)
    assert sum(isinstance(errand, Settle) for _, errand in house.agent.performed) == 1


async def test_the_key_that_stops_an_agent_answers_no_question_at_the_desk(house: House) -> None:
    await house.hire()
    house.agent.plays(ASK)
    await house.say("do it")
    await house.fact(AskRaised)
    await house.interrupt()
    await house.until(lambda present: bool((turn := present.workers["ann"].turn) and turn.interrupt_asked))
    await house.agent.links["ann"].say(AskSettled(ask="a", how=HowSettled.DESK))
    assert (await house.fact(AskSettled)).how is HowSettled.WITHDRAWN


@pytest.mark.parametrize("path", ["README.txt", "linked/new.txt", "linked/../linked/key"])
async def test_a_link_that_leads_out_of_the_folder_is_told_before_anybody_says_yes(
    house: House, tmp_path: Path, path: str
) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    for folder in (outside, project):
        folder.mkdir()
    (project / "README.txt").symlink_to(outside / "keys")
    (project / "linked").symlink_to(outside)
    await house.hire(directory=project)
    house.agent.plays(replace(ASK, about=AskKind.PERMISSION, action=files(ActionKind.EDIT, path, "plain.txt")))
    await house.say("mend it")
    ask = await house.fact(AskRaised)
    assert len(ask.risks) == 1
    assert ask.risks[0].startswith(f"writes outside the folder: {path} → {tmp_path}/")

"""A worker whose usage limit is reached is told apart from every other, until the limit ends or a turn completes."""

import pytest

from farhand.channels.kit import texts
from farhand.channels.kit.card import RetryTap
from farhand.channels.kit.fact_cards import cards
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import tap_data, tap_to_wish
from farhand.channels.kit.turn_cards import ended
from farhand.channels.telegram.parse import message_place
from farhand.cli.conversation_lines import event_line, team_lines
from farhand.core.admit import admit
from farhand.core.decide import decide
from farhand.core.hire_policy import HirePolicy
from farhand.core.steps import Begin, next_step
from farhand.model import errors, facts
from farhand.model.commands import Retry, Reword, Withdraw
from farhand.model.facts import Event, Fact
from farhand.model.grammar import read
from farhand.model.limit_pauses import resumes_at
from farhand.model.names import again, origin
from farhand.model.ports import Can, Heard
from farhand.model.present import Present, Worker
from farhand.model.present_fold import STOPPED_IN_THE_MIDDLE, fold
from farhand.model.view import TurnView
from farhand.model.words import HowEnded, Mode, Sender, replace

ME = Sender(via="test")
LIMITED = facts.Limited(text="You've hit your limit", until=100.0)
FAILED = facts.TurnEnded(how=HowEnded.FAILED, error="limit")
DONE = facts.TurnEnded(how=HowEnded.COMPLETED)


def present(*told: Fact) -> Present:
    now = Present()
    for seq, fact in enumerate((facts.Hired(backend="demo", directory="/", by=ME), *told), 1):
        now = fold(now, Event(seq=seq, at=0.0, worker="ann", turn="t", fact=fact))
    return now


def state(*told: Fact, at: float = 50.0) -> str:
    return present(*told).workers["ann"].state_at(at)


def test_idle_busy_waiting_limited_and_dead_are_told_apart() -> None:
    online, started = facts.CameOnline(), facts.TurnStarted()
    limited = (online, started, LIMITED, FAILED)
    assert state() == "offline"
    assert state(online) == "available"
    assert state(online, started) == "working"
    assert state(online, started, facts.AskRaised(ask="a", question="?", choices=())) == "waiting"
    assert state(*limited) == "limited"
    assert state(*limited, facts.TurnStarted()) == "working"
    assert state(*limited, facts.WentOffline(why="gone")) == "offline"


def test_a_limit_is_over_at_its_time_or_with_a_completed_turn() -> None:
    limited = (facts.CameOnline(), facts.TurnStarted(), LIMITED, FAILED)
    assert state(*limited, at=100.0) == "available"
    assert state(*limited, facts.TurnStarted(), FAILED) == "limited"
    assert state(*limited, facts.TurnStarted(), DONE) == "available"
    unknown = (facts.CameOnline(), facts.Limited(text="limit"))
    assert state(*unknown, at=59.0) == "limited"
    assert state(*unknown, facts.LimitLifted(), at=59.0) == "available"


def test_a_limit_without_a_known_end_is_tried_again_after_pauses_that_double() -> None:
    pauses, now = [], present(facts.CameOnline())
    for seq in range(10, 18):
        now = fold(now, Event(seq=seq, at=1000.0, worker="ann", fact=facts.Limited(text="limit")))
        pauses.append((now.workers["ann"].resumes_at or 0.0) - 1000.0)
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert resumes_at(until=900.0, at=1000.0, before=0) == 1060.0
    assert resumes_at(until=5000.0, at=1000.0, before=9) == 5000.0
    for cleared in (facts.RelaunchAsked(by=ME), facts.LimitLifted(by=ME)):
        assert fold(now, Event(seq=20, at=1000.0, worker="ann", fact=cleared)).workers["ann"].resumes_at is None


def parked(*during: Fact) -> Worker:
    """A worker whose turn with the first of two messages was stopped by a limit."""
    queued = [facts.Queued(message=name, text=name, by=ME) for name in ("t", "u")]
    started: tuple[Fact, ...] = (
        facts.CameOnline(),
        *queued,
        facts.TurnStarted(message="t"),
        facts.HandedOver(message="t"),
    )
    now = present(*started, *during, LIMITED)
    (draft,) = admit(now.workers["ann"], [Heard(fact=FAILED, turn="t")], at=0.0)
    assert isinstance(draft.fact, facts.TurnEnded)
    return fold(now, Event(seq=99, at=0.0, worker="ann", turn="t", fact=draft.fact)).workers["ann"]


def test_a_message_that_a_limit_stopped_waits_again_before_all_others_and_under_a_new_name() -> None:
    worker = parked()
    assert [(one.id, one.text) for one in worker.queue] == [("t~2", "t"), ("u", "u")]
    assert next_step(worker, Can()) is None
    assert next_step(replace(worker, resumes_at=None), Can()) == Begin(message=worker.queue[0])


def test_an_agent_that_was_stopped_in_the_middle_is_told_to_go_on_and_not_to_begin_anew() -> None:
    worker = parked(facts.ToolStarted(call="c", tool="Bash", title="rm"))
    assert worker.queue[0].text == f"{STOPPED_IN_THE_MIDDLE}t"


def test_a_turn_that_fails_for_another_reason_or_is_stopped_by_a_person_is_not_put_back() -> None:
    online = (facts.CameOnline(), facts.Queued(message="t", text="t", by=ME))
    before = present(*online, LIMITED, facts.LimitLifted(), facts.TurnStarted(message="t")).workers["ann"]
    failed = replace(FAILED, can_retry=True)
    assert [one.fact for one in admit(before, [Heard(fact=FAILED, turn="t")], at=0.0)] == [failed]
    stopped = present(*online, facts.TurnStarted(message="t"), facts.InterruptAsked(by=ME), LIMITED).workers["ann"]
    assert [one.fact for one in admit(stopped, [Heard(fact=FAILED, turn="t")], at=0.0)] == [failed]


def test_a_message_that_waits_again_is_still_known_by_the_name_it_came_with() -> None:
    assert (again("x"), again("x~2"), again("x~y"), origin("x~3"), origin("x~y")) == ("x~2", "x~3", "x~y~2", "x", "x~y")
    now, house = Present(workers={"ann": parked()}), HirePolicy((), "/", Mode.DEFAULT)
    (draft,) = decide(now, Reword(id="c", message="t", text="new"), ME, house)
    assert draft.fact == facts.Reworded(message="t~2", text="new", by=ME)
    (draft,) = decide(now, Withdraw(id="c", message="t"), ME, house)
    assert draft.fact == facts.Withdrawn(message="t~2", by=ME)


def test_nobody_can_be_tried_again_whom_no_limit_holds_up() -> None:
    with pytest.raises(errors.CannotDo, match="Nothing of ann's failed last, and no usage limit holds it up"):
        decide(present(facts.CameOnline()), Retry(id="c", worker="ann"), ME, HirePolicy((), "/", Mode.DEFAULT))
    (draft,) = decide(
        present(facts.CameOnline(), LIMITED), Retry(id="c", worker="ann"), ME, HirePolicy((), "/", Mode.DEFAULT)
    )
    assert draft.fact == facts.LimitLifted(by=ME)


def test_progress_on_the_phone_tells_of_a_limit_while_it_lasts() -> None:
    focused = facts.Focused(by=ME)
    now = present(facts.CameOnline(), focused, LIMITED)
    line = "Needs attention: usage limit reached; it resets on 01 January at 00:01 UTC."
    assert line in texts.progress(now, (), 50.0).splitlines()
    assert "attention" not in texts.progress(now, (), 100.0)


def test_a_limit_is_shown_with_its_end() -> None:
    event = Event(seq=7, at=0.0, worker="ann", fact=LIMITED)
    (card,) = cards(event, None)
    when = "it resets on 01 January at 00:01 UTC"
    assert card.head == f"ann has reached its usage limit; {when}. What waits goes on by itself."
    assert (card.silent, card.buttons[0][0].tap) == (False, RetryTap(worker="ann"))
    assert event_line(event).startswith("ann: ✗ the usage limit is reached until ")
    assert "ann (limited until " in team_lines(present(facts.CameOnline(), LIMITED), 50.0)
    unknown = Event(seq=7, at=0.0, worker="ann", fact=facts.Limited(text="limit"))
    assert event_line(unknown) == "ann: ✗ the usage limit is reached."
    assert "ann (limited until 00:01 UTC, backend=demo)" in texts.team(present(facts.CameOnline(), LIMITED))


def test_a_limit_that_still_holds_is_no_news() -> None:
    again_unknown = Event(seq=7, at=0.0, worker="ann", fact=facts.Limited(text="limit", again=1))
    assert (cards(again_unknown, None), event_line(again_unknown)) == ([], "")
    again_known = Event(seq=7, at=0.0, worker="ann", fact=replace(LIMITED, again=1))
    assert cards(again_known, None)[0].silent
    quiet = TurnView(worker="ann", turn="t~2", started_at=0.0, ended=facts.TurnEnded(how=HowEnded.PARKED))
    assert [card.remove for card in ended(quiet)] == [True]
    spoke, _ = ended(replace(quiet, text="half an answer"))
    assert (spoke.markdown, spoke.foot[:1]) == ("half an answer", "⏸")


def test_a_tap_tries_again() -> None:
    query = ChatTap(id="q", chat="7", data=tap_data(RetryTap(worker="ann")))
    assert tap_to_wish(query, Present()) == Retry(id="t:q", worker="ann")
    assert read("m", "/retry ann", present(facts.CameOnline())) == Retry(id="m", worker="ann")
    assert message_place("telegram:m:7:1:2~3", "telegram", "7") == (1, 2)

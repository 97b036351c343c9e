"""A sprint as a value: what starts it, what stops it, and how it is told."""

from __future__ import annotations

import pytest

from farhand.channels.kit.fact_cards import cards
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import tap_data, tap_to_wish
from farhand.model import commands, facts
from farhand.model.context import percent_used, window_of
from farhand.model.facts import Event
from farhand.model.grammar import CHAT, read
from farhand.model.present import Present, Worker
from farhand.model.sprint import (
    HowSprintEnded,
    SprintLimits,
    SprintOutcome,
    SprintState,
    is_bare_stop,
    prompt,
    reached_limit,
    tasks_of,
    wants_stop,
    wants_stop_now,
)
from farhand.model.wishes import InfoRequest, Wish, Wrong
from farhand.model.words import NOTHING_SPENT, Sender, Usage, replace, spend

PRESENT = Present(focus="ann", workers={"ann": Worker(name="ann", since=1, backend="demo", directory="/p")})
SPRINT = SprintState(id="s1", began=1000.0, tasks=("a", "b", "c"), failures=2, at=1)


def wish(text: str) -> Wish | None:
    return read("i", text, PRESENT, CHAT)


def test_a_check_list_gives_its_open_items() -> None:
    text = "# Plan\n\n- [x] done\n- [ ] write a\n* write b\n3. write c\n   - [ ] below\nwords between\n"
    assert tasks_of(text) == ("write a", "write b", "write c", "below")
    assert tasks_of("one\n\ntwo\n") == ("one", "two")


def test_start_takes_tasks_and_flags() -> None:
    flags = '--verify "make test" --rounds 5 --dollars $2.50 --context 90% --no-commit'
    told = f"/sprint start {flags}\n- write a\n- [x] b\n- c"
    assert wish(told) == commands.Sprint(
        id="i",
        tasks=("write a", "c"),
        verifier="make test",
        commits=False,
        limits=SprintLimits(rounds=5, dollars=2.5, context=90),
    )
    assert wish("/sprint ann start fix the race") == commands.Sprint(id="i", worker="ann", tasks=("fix the race",))
    assert wish("/sprint start") == commands.Sprint(id="i")


def test_a_verifier_is_a_command_or_another_worker() -> None:
    assert wish("/sprint start --verify @Bob write a") == commands.Sprint(id="i", tasks=("write a",), review=("bob",))
    assert wish("/sprint start --verify @bob --review codex,bob write a") == commands.Sprint(
        id="i", tasks=("write a",), review=("codex", "bob")
    )
    assert isinstance(wish("/sprint start --verify @ write a"), Wrong)


def test_the_context_window_is_told_or_learned_from_a_worker_of_the_same_model() -> None:
    ann, told = PRESENT.workers["ann"], spend(NOTHING_SPENT, "t", Usage(context_window=500))
    assert window_of(replace(ann, spent=told), ()) == 500
    assert window_of(replace(ann, model="m"), [replace(ann, spent=told, model="m")]) == 500
    assert window_of(replace(ann, model="m"), [replace(ann, spent=told, model="n")]) == 0
    assert percent_used(Usage(context_tokens=5), 0) == 0


def test_the_other_words() -> None:
    assert wish("/sprint") == wish("/sprint status") == InfoRequest(id="i", about="sprint")
    assert wish("/sprint ann") == InfoRequest(id="i", about="sprint", of="ann")
    assert wish("/sprint stop") == commands.Halt(id="i")
    assert wish("/sprint ann stop now") == commands.Halt(id="i", worker="ann", now=True)
    assert wish("/sprint skip") == commands.SkipTask(id="i")
    assert wish("/sprint add write d") == commands.AddTasks(id="i", tasks=("write d",))


@pytest.mark.parametrize(
    "text", ["/sprint add", "/sprint faster", "/sprint start --rounds x", "/sprint start --verify"]
)
def test_what_cannot_be_read_is_told(text: str) -> None:
    assert isinstance(wish(text), Wrong)


def test_stop_is_a_word_of_its_own() -> None:
    assert wants_stop("please Stop")
    assert not wants_stop("the stopwatch")
    assert wants_stop_now("STOP  now!")
    assert not wants_stop_now("stop, now it is enough")
    assert is_bare_stop(" stop now! ")
    assert not is_bare_stop("stop and think")


def test_limits_are_reached() -> None:
    spent = Usage(input_tokens=800, output_tokens=300, cost_dollars=1.5)
    assert reached_limit(SPRINT, 1000.0, spent) == ""
    assert reached_limit(replace(SPRINT, limits=SprintLimits(minutes=5)), 1300.0, spent) == "5 minutes are over"
    assert "1,000 tokens" in reached_limit(replace(SPRINT, limits=SprintLimits(tokens=1000)), 0.0, spent)
    before = replace(SPRINT, limits=SprintLimits(tokens=1000), before=Usage(input_tokens=500))
    assert reached_limit(before, 0.0, spent) == ""


def test_the_last_trouble_is_in_the_prompt() -> None:
    assert prompt(SPRINT).startswith("Task 2 of 3: b\n")
    assert prompt(replace(SPRINT, trouble="two tests fail")).endswith("The last try was not enough:\ntwo tests fail")


def test_the_card_says_how_it_stands_and_can_be_stopped() -> None:
    outcome = SprintOutcome(task="a", done=True, rounds=3, commit="0123456789ab")
    moved = facts.SprintMoved(sprint=replace(SPRINT, outcomes=(outcome,)), usage=Usage(cost_dollars=0.8))
    (card,) = cards(Event(seq=9, at=1000.0 + 14 * 60, worker="ann", fact=moved), None)
    assert card.head == "ann · sprint 1/3 · tests ✗ 2 · 14 min · $0.80\n✅ a (3 rounds) · 01234567\n▶ b"
    assert (card.slot, card.edit, card.silent) == ("sprint:s1", True, True)
    ((stop,),) = card.buttons
    tapped = ChatTap(id="7", chat="1", person="1", data=tap_data(stop.tap))
    assert tap_to_wish(tapped, PRESENT) == commands.Halt(id="t:7", worker="ann")


def test_the_summary_buzzes_and_its_card_has_no_button() -> None:
    done = (SprintOutcome(task="a", done=True), SprintOutcome(task="b", done=False, why="3 rounds were not enough"))
    ended = facts.SprintEnded(
        sprint=replace(SPRINT, outcomes=done), how=HowSprintEnded.STUCK, why="3 rounds were not enough"
    )
    over, summary = cards(Event(seq=9, at=1060.0, worker="ann", fact=ended), None)
    assert not over.buttons
    assert not summary.silent
    assert summary.head == (
        "⚠ ann's sprint is stuck: 3 rounds were not enough · 1/3 · tests ✗ 2 · 1 min\n"
        "✅ a\n❌ b – 3 rounds were not enough"
    )


def test_a_sprint_that_begins_is_one_card() -> None:
    begun = facts.SprintBegan(sprint=replace(SPRINT, failures=0, at=0), by=Sender(via="telegram"))
    (card,) = cards(Event(seq=3, at=1000.0, worker="ann", fact=begun), None)
    assert (card.key, card.slot, card.edit) == ("sprint:s1", "sprint:s1", False)
    assert card.head == "ann · sprint 0/3 · 0 min\n▶ a"

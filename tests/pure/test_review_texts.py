"""What surfaces show of a review, what its buttons carry, and how `/review` is read."""

from __future__ import annotations

import pytest
from scripts.golden_words import JUDGED, JUDGING, REVIEW

from farhand.channels.kit.review_texts import STALE, review_cards, review_lines, review_text
from farhand.channels.kit.sprint_texts import sprint_line
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import tap_data, tap_to_wish
from farhand.core.decide import free_name
from farhand.model import commands
from farhand.model.facts import Event, Fact, ReviewAsked, ReviewMoved, TurnEnded
from farhand.model.grammar import read
from farhand.model.matters import matter_of
from farhand.model.present import Present, Worker
from farhand.model.review import ReviewScope
from farhand.model.slash import chat, terminal
from farhand.model.sprint import SprintPhase, SprintState
from farhand.model.wishes import InfoRequest, Wrong
from farhand.model.words import HowEnded, Sender, Usage, replace

ME = Sender(via="test")
ANN = Worker(name="ann", since=1, backend="claude", directory="/", reviews=(JUDGED,))
TEAM = Present(focus="ann", workers={"ann": ANN})


def event(fact: Fact, seq: int = 7) -> Event:
    """A fact of Ann's."""
    return Event(seq=seq, at=0.0, worker="ann", fact=fact)


def test_one_card_while_it_works_and_a_message_for_the_verdict() -> None:
    (asked,) = review_cards(event(ReviewAsked(review=REVIEW, by=ME)))
    (moved,) = review_cards(event(ReviewMoved(review=JUDGING)))
    assert (asked.slot, asked.edit, moved.slot, moved.edit) == ("review:1-1", False, "review:1-1", True)
    assert [button.label for row in moved.buttons for button in row] == ["Stop"]
    over, verdict = review_cards(event(ReviewMoved(review=JUDGED, ended=True)))
    assert (over.edit, over.buttons, verdict.edit, verdict.silent) == (True, (), False, False)
    assert [button.label for row in verdict.buttons for button in row] == ["Send 1 back", "Review again"]
    assert "1. P1 src/parser.py:12 – An empty line ends it." in verdict.head
    (edited,) = review_cards(event(ReviewMoved(review=replace(JUDGED, sent=("0.0",), stale=True))))
    assert (edited.slot, edited.edit) == (verdict.slot, True)
    assert STALE in edited.head
    assert [button.label for row in edited.buttons for button in row] == ["Review again"]


def test_a_review_stands_in_a_few_lines() -> None:
    assert review_lines("ann", JUDGING).splitlines() == ["🔍 ann · review #1 · 2 files, +12 −3", "demo is at it"]
    assert review_text(ANN).splitlines()[:2] == [
        "✋ ann · review #1 · 2 files, +12 −3",
        "demo wants changes (80% sure): One hole.",
    ]
    assert review_text(replace(ANN, reviews=())) == "Nobody has judged ann's work yet."
    assert review_text(None) == "No one assigned."


def test_buttons_carry_what_they_do() -> None:
    _, verdict = review_cards(event(ReviewMoved(review=JUDGED, ended=True)))
    (working,) = review_cards(event(ReviewMoved(review=JUDGING)))
    taps = [button.tap for card in (verdict, working) for row in card.buttons for button in row]
    wishes = [tap_to_wish(ChatTap(id="t1", chat="c", data=tap_data(tap)), TEAM) for tap in taps]
    assert wishes == [
        commands.SendFindings(id="t:t1", worker="ann", review="1-1"),
        commands.Review(id="t:t1", worker="ann", again="1-1"),
        commands.CancelReview(id="t:t1", worker="ann", review="1-1"),
    ]
    assert isinstance(tap_to_wish(ChatTap(id="t1", chat="c", data="v:send:9-9"), TEAM), Wrong)
    assert isinstance(tap_to_wish(ChatTap(id="t1", chat="c", data="v:what:1-1"), TEAM), Wrong)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("", commands.Review(id="c")),
        ("ann", commands.Review(id="c", worker="ann")),
        ("turn --by codex,gemini", commands.Review(id="c", scope=ReviewScope.TURN, by=("codex", "gemini"))),
        (
            "ann answer mind the tone",
            commands.Review(id="c", worker="ann", scope=ReviewScope.ANSWER, note="mind the tone"),
        ),
        ("commits main..HEAD", commands.Review(id="c", scope=ReviewScope.COMMITS, base="main", head="HEAD")),
        ("commits main...", commands.Review(id="c", scope=ReviewScope.COMMITS, base="main", head="HEAD")),
        ("commits abc123 --by=codex", commands.Review(id="c", scope=ReviewScope.COMMITS, head="abc123", by=("codex",))),
        ("again --by codex", commands.Review(id="c", again="1-1", by=("codex",))),
        ("send", commands.SendFindings(id="c", review="")),
        ("ann send 1 today", commands.SendFindings(id="c", worker="ann", review="", findings=("0.0",), note="today")),
        ("cancel 3", commands.CancelReview(id="c", review="3")),
        ("status", InfoRequest(id="c", about="review")),
    ],
)
def test_how_a_review_is_asked_for(text: str, wish: object) -> None:
    assert read("c", f"/review {text}".rstrip(), TEAM, terminal()) == wish
    assert read("c", f"/verdict {text}".rstrip(), TEAM, chat()) == wish


@pytest.mark.parametrize("text", ["send 2", "send x", "--force", "ann --nothing"])
def test_what_cannot_be_read_is_told(text: str) -> None:
    assert isinstance(read("c", f"/review {text}", TEAM, terminal()), Wrong)


def test_a_chat_refuses_the_agents_own_word_and_says_ours() -> None:
    refused = read("c", "/review", TEAM, chat())
    assert isinstance(refused, Wrong)
    assert "/verdict" in refused.why
    (nobody,) = {type(read("c", one, Present(), terminal())) for one in ("/review again", "/review send 1")}
    assert nobody is Wrong


def test_a_sprint_names_its_reviewers() -> None:
    sprint = read("c", "/sprint start --review codex,bob write it", TEAM, terminal())
    assert isinstance(sprint, commands.Sprint)
    assert (sprint.review, sprint.tasks) == (("codex", "bob"), ("write it",))


def test_a_sprints_card_says_who_judges_its_task() -> None:
    judged = SprintState(id="s", began=0.0, tasks=("a",), review=("codex",), phase=SprintPhase.REVIEW)
    assert sprint_line("ann", judged, 0.0, Usage()).splitlines()[-1] == "▶ a · judged by codex"
    assert sprint_line("ann", replace(judged, phase=SprintPhase.TURN), 0.0, Usage()).splitlines()[-1] == "▶ a"


def test_a_folder_lends_nobody_a_reviewers_name() -> None:
    assert free_name("/srv/codex-judges-ann", Present()) == "worker"


def test_a_verdict_buzzes_and_a_reviewers_turn_does_not() -> None:
    told = matter_of(event(ReviewMoved(review=JUDGED, ended=True)), ANN)
    assert told is not None
    assert (told.worker, told.text) == ("ann", "The review wants changes.")
    assert matter_of(event(ReviewMoved(review=JUDGED)), ANN) is None
    assert matter_of(event(ReviewMoved(review=replace(JUDGED, gate="s1/1"), ended=True)), ANN) is None
    ended = Event(seq=1, at=0.0, worker="demo-judges-ann", turn="t", fact=TurnEnded(how=HowEnded.COMPLETED))
    assert matter_of(ended, None) is None

"""No character hides on any road by which an ask reaches a person: chat, terminal, HTTP, command line."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from farhand.channels.kit.ask_cards import ask as ask_card
from farhand.channels.telegram.render import render
from farhand.channels.telegram.words import Post, Show, decode_outgoing
from farhand.cli import say, status
from farhand.cli.conversation_lines import ask_lines
from farhand.core.admit import admit
from farhand.model.action import run
from farhand.model.facts import AskRaised, Event
from farhand.model.ports import Heard
from farhand.model.present import Present, Worker
from farhand.model.present_fold import fold_worker
from farhand.model.view import AskView
from farhand.model.visible import visible
from farhand.model.wire import encode
from farhand.model.words import AskKind, Choice

# Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt), and what is as blank beside it.
IGNORABLE = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
BLANK = (0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000, 0x2800, 0x2028, 0x2029, 0x0085, 0x001B, 0x000D)
HIDDEN = "".join(map(chr, chain(*(range(first, last + 1) for first, last in IGNORABLE), BLANK)))
RAW = re.compile(f"[{re.escape(HIDDEN)}]")
PIECE = 60
PIECES = [HIDDEN[start : start + PIECE] for start in range(0, len(HIDDEN), PIECE)]


def raised(hidden: str, about: AskKind = AskKind.PERMISSION) -> AskRaised:
    """An ask with the characters in everything that is shown of it."""
    text = "x".join(hidden)
    choices = (Choice(id="yes", label=text, scope=text), Choice(id="no", label="No", allows=False, words=True))
    return AskRaised(
        ask="a", question=text, detail=text, choices=choices, about=about, action=run(text), where=text, why=text
    )


def admitted(fact: AskRaised) -> AskRaised:
    """The ask as the journal has it."""
    worker = Worker(name="ann", since=1, backend="any", directory="/work", online=True)
    (draft,) = admit(worker, [Heard(fact=fact)], at=0.0)
    assert isinstance(draft.fact, AskRaised)
    return draft.fact


def on_telegram(fact: AskRaised) -> str:
    shown: list[str] = []
    for parcel in render(ask_card("ann", AskView(raised=fact)), 1, "telegram", "9"):
        letter = decode_outgoing(parcel.body)
        if isinstance(letter, Show):
            shown.append(letter.text)
        if isinstance(letter, Post):
            shown += [letter.html, letter.plain, *(key.text for row in letter.keys for key in row)]
    return "\n".join(shown)


def over_http(fact: AskRaised) -> str:
    worker = Worker(name="ann", since=1, backend="any", directory="/work", online=True)
    event = Event(seq=2, at=1.0, worker="ann", fact=fact)
    present = Present(seq=2, workers={"ann": fold_worker(worker, event)})
    return encode(present).decode() + encode(event).decode()


def in_status(fact: AskRaised) -> str:
    worker = {"name": "ann", "state": "waiting", "backend": "any", "queued": 0, "asks": 1, "why_offline": ""}
    questions = [{"id": fact.ask, "question": fact.question, "deadline": None}]
    return "\n".join(status.worker_lines({**worker, "questions": questions}, "", 1.0))


ROADS = {
    "telegram": on_telegram,
    "terminal": lambda fact: ask_lines("ann", fact),
    "http": over_http,
    "say --wait": lambda fact: say.asked("ann", fact),
    "status": in_status,
}


@pytest.mark.parametrize(
    ("road", "about"), [*((road, AskKind.PERMISSION) for road in ROADS), ("telegram", AskKind.PLAN)]
)
def test_every_hidden_character_is_spelled_out(road: str, about: AskKind) -> None:
    for piece in PIECES:
        shown = ROADS[road](admitted(raised(piece, about)))
        assert not RAW.search(shown), road
        # The status has room for the headline's beginning, and counts what it leaves out.
        whole = piece if road != "status" else piece[:4]
        missing = [one for one in whole if f"‹U+{ord(one):04X}›" not in shown]
        assert not missing, road


@pytest.mark.parametrize("road", ["telegram", "terminal", "say --wait", "status"])
def test_what_an_older_journal_has_is_spelled_out_where_it_is_shown(road: str) -> None:
    for piece in PIECES:
        assert not RAW.search(ROADS[road](raised(piece)))


@pytest.mark.parametrize("road", ROADS)
def test_nothing_is_pushed_out_of_sight(road: str) -> None:
    fact = raised("y")
    text = "ls" + " " * 500 + "; rm -rf ~"
    pushed = AskRaised(ask="a", question=f"Run: {text}", detail=text, choices=fact.choices)
    assert "ls ‹500 blanks› ; rm -rf ~" in ROADS[road](admitted(pushed))


def test_seen_once_is_seen_for_good() -> None:
    assert visible(visible(HIDDEN)) == visible(HIDDEN)

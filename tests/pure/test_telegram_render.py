"""Every card becomes messages that Telegram takes, with all that it says, however strange the words in it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from farhand.channels.kit.ask_cards import ask
from farhand.channels.kit.card import AnswerTap, Button, Card, plain_notice
from farhand.channels.kit.fact_cards import cards
from farhand.channels.kit.turn_cards import progress, tail_of
from farhand.channels.telegram.render import render
from farhand.channels.telegram.words import Amend, Disarm, Post, React, Remove, Show, decode_outgoing
from farhand.model.facts import AskRaised, AskSettled, Event, Said, ToolStarted, TurnEnded, TurnStarted
from farhand.model.store_ports import Parcel
from farhand.model.view import AskView, TurnView, begin, fold
from farhand.model.visible import visible
from farhand.model.words import Attachment, Choice, HowEnded, HowSettled, Sender
from farhand.testing.telegram.html import read_html, utf16_length
from farhand.testing.telegram.limits import CAPTION_UNITS, check_markup, check_text

TEXT = st.text(max_size=60) | st.text(alphabet="*_`[]()<>&~|#-\n 😀aZ9", max_size=200)
CHAT = 4242


def laid_out(card: Card) -> list[Parcel]:
    return render(card, CHAT, "telegram", "99")


def accept(card: Card) -> str:
    """What the manager reads of a card; fails when Telegram would refuse any of it."""
    read: list[str] = []
    for parcel in laid_out(card):
        letter = decode_outgoing(parcel.body)
        match letter:
            case Post() | Amend():
                text = read_html(letter.html)[0] if letter.html else letter.plain
                check_text(text)
                keyboard = [[{"text": key.text, "callback_data": key.data} for key in row] for row in letter.keys]
                check_markup({"inline_keyboard": keyboard})
                assert utf16_length(letter.plain) <= 4096
                assert letter.plain.strip()
                read.append(text)
            case Show():
                assert utf16_length(letter.caption) <= CAPTION_UNITS
                read += [letter.caption, letter.text]
            case Disarm() | Remove() | React():
                pass
            case None:
                raise AssertionError("the letter cannot be read")
    return "\n".join(read)


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


@settings(max_examples=300)
@given(
    st.builds(
        Card,
        key=st.just("k"),
        slot=st.sampled_from(["", "s"]),
        worker=st.sampled_from(["", "ann"]),
        head=TEXT,
        markdown=TEXT,
        verbatim=TEXT,
        foot=TEXT,
        edit=st.booleans(),
        silent=st.booleans(),
        buttons=st.lists(
            st.builds(
                lambda label, name, place: (Button(label=label, tap=AnswerTap(ask=name, place=place)),),
                TEXT.filter(str.strip),
                TEXT,
                st.integers(0, 99),
            ),
            max_size=3,
        ).map(tuple),
    )
)
def test_any_card_is_taken(card: Card) -> None:
    read = accept(card)
    for part in (card.head, card.verbatim, card.foot):
        assert letters(part) in letters(read)


def test_a_turn_says_that_nothing_was_heard_for_long_unless_a_tool_runs() -> None:
    quiet = "Nothing heard from it for 1:10 min: it thinks, or its network or model does not answer."
    assert quiet in progress(turn_of(Said(text="well")), 170.0, 100.0).head
    assert "Nothing heard" not in progress(turn_of(Said(text="well")), 170.0, 111.0).head
    assert "Nothing heard" not in progress(turn_of(Said(text="well")), 170.0).head
    running = turn_of(ToolStarted(call="1", tool="Bash", title="make"))
    assert "Nothing heard" not in progress(running, 1000.0, 100.0).head


@given(st.lists(TEXT, max_size=5), TEXT, st.sampled_from(list(HowEnded)), TEXT)
def test_any_turn_is_shown_whole(said: list[str], title: str, how: HowEnded, error: str) -> None:
    turn = turn_of(*(Said(text=text) for text in said), ToolStarted(call="1", tool="Bash", title=title))
    accept(progress(turn, 100.0))
    ended = Event(seq=99, at=9.0, worker="ann", turn="t", fact=TurnEnded(how=how, error=error))
    for card in cards(ended, fold(turn, ended)):
        accept(card)


def turn_of(*facts: Any) -> TurnView:
    first = TurnStarted(message=f"telegram:m:99:{CHAT}:7")
    turn = begin(Event(seq=1, at=1.0, worker="ann", turn="t", fact=first), first)
    for number, fact in enumerate(facts, start=2):
        turn = fold(turn, Event(seq=number, at=float(number), worker="ann", turn="t", fact=fact))
    return turn


@given(TEXT, TEXT, st.lists(TEXT, min_size=1, max_size=4), st.integers(0, 20))
def test_any_ask_is_shown_whole_with_its_buttons(question: str, detail: str, labels: list[str], longer: int) -> None:
    choices = tuple(Choice(id=f"c{place}", label=label) for place, label in enumerate(labels))
    raised = AskRaised(ask="a" * 70, question=question, detail=detail * (longer * 10 + 1), choices=choices)
    card = ask("ann", AskView(raised=raised))
    assert letters(visible(question)) in letters(accept(card))
    sent = [decode_outgoing(parcel.body) for parcel in laid_out(card)]
    keys = [key for letter in sent if isinstance(letter, Post) for row in letter.keys for key in row]
    assert len(keys) == len(choices)
    assert len(sent) <= 2
    settled = AskSettled(ask=raised.ask, how=HowSettled.ANSWERED, choice="c0", by=Sender(via="web", who="Mo"))
    accept(ask("ann", AskView(raised=raised, settled=settled)))


def posted(parcel: Any) -> Post:
    letter = decode_outgoing(parcel.body)
    assert isinstance(letter, Post)
    return letter


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert visible("rm \u202e/tmp\u200b x\ty\n") == "rm ‹U+202E›/tmp‹U+200B› x\ty\n"


def test_pages_follow_one_another_and_only_the_first_buzzes() -> None:
    turn = turn_of(Said(text="word " * 2000))
    ended = Event(seq=9, at=9.0, worker="ann", turn="t", fact=TurnEnded(how=HowEnded.COMPLETED))
    answer, gone = cards(ended, fold(turn, ended))
    letters_sent = [posted(parcel) for parcel in laid_out(answer)]
    assert len(letters_sent) == 3
    assert [letter.silent for letter in letters_sent] == [False, True, True]
    assert [letter.reply_to for letter in letters_sent] == [7, None, None]
    slots = [parcel.slot for parcel in laid_out(answer)]
    assert [letter.reply_to_slot for letter in letters_sent[1:]] == slots[:2]
    assert gone.remove


def test_a_file_is_a_photo_or_a_document() -> None:
    shown = [
        decode_outgoing(laid_out(Card(key="k", worker="ann", file=Attachment(path=path, caption="c" * 2000)))[0].body)
        for path in ("/a.PNG", "/b.txt")
    ]
    assert [one.photo for one in shown if isinstance(one, Show)] == [True, False]


@given(st.text(min_size=1).filter(str.strip))
def test_any_notice_is_taken(text: str) -> None:
    letter = decode_outgoing(laid_out(plain_notice("k", text))[0].body)
    assert isinstance(letter, Post)
    shown = letter.plain
    check_text(shown)


def test_the_tail_of_a_long_text_begins_at_a_word() -> None:
    assert tail_of("short") == "short"
    assert tail_of("alpha " * 100).startswith("… alpha")


def test_a_question_about_much_comes_with_all_of_it_as_a_file_and_its_buttons_in_sight() -> None:
    diff = "\n".join(f"+ line {number}" for number in range(5000))
    raised = AskRaised(ask="a", question="Apply it?", detail=diff, choices=(Choice(id="y", label="Yes"),))
    whole, question = [decode_outgoing(parcel.body) for parcel in laid_out(ask("ann", AskView(raised=raised)))]
    assert isinstance(whole, Show)
    assert whole.text == diff
    assert isinstance(question, Post)
    assert question.keys
    assert "+ line 4999" in question.plain
    assert "characters more: all of it is in ann-asks.txt" in question.plain

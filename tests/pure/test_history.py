"""A turn folded at once looks as it does folded piece by piece; what a search shows of a text."""

from hypothesis import given
from hypothesis import strategies as st

from farhand.model import facts, history, view
from farhand.model.facts import Event, Fact
from farhand.model.words import HowEnded, replace

PIECES = st.one_of(
    st.builds(facts.Said, text=st.text(max_size=5)),
    st.builds(facts.Thought, text=st.text(max_size=5)),
    st.builds(facts.ToolStarted, call=st.sampled_from("ab"), tool=st.just("t"), title=st.just("T")),
    st.builds(facts.ToolEnded, call=st.sampled_from("ab"), output=st.text(max_size=3)),
    st.builds(facts.Noted, text=st.text(max_size=5)),
    st.just(facts.TurnEnded(how=HowEnded.COMPLETED)),
)


def _events(talk: list[Fact]) -> list[Event]:
    start = facts.TurnStarted(message="m")
    return [
        Event(seq=number, at=float(number), worker="ann", turn="m", fact=fact)
        for number, fact in enumerate([start, *talk], start=7)
    ]


@given(st.lists(PIECES, max_size=30))
def test_joining_pieces_first_changes_nothing_in_the_view(talk: list[Fact]) -> None:
    events = _events(talk)
    folded = view.begin(events[0], facts.TurnStarted(message="m"))
    for event in events[1:]:
        folded = view.fold(folded, event)
    assert history.turn_entry(events).view == replace(folded, seq=events[-1].seq)


@given(st.lists(PIECES, max_size=30))
def test_joining_twice_is_joining_once(talk: list[Fact]) -> None:
    once = list(history.merged(_events(talk)))
    assert list(history.merged(once)) == once


def test_pieces_of_two_workers_are_not_joined() -> None:
    mine, other = (Event(seq=1, at=0.0, worker=who, turn="m", fact=facts.Said(text=who)) for who in ("ann", "bob"))
    assert list(history.merged([mine, other])) == [mine, other]


def test_an_excerpt_is_one_line_around_the_word() -> None:
    text = "begin\n" + "x " * 200 + "the Needle is here " + "y " * 200
    found = history.excerpt(text, ["needle"])
    assert "the Needle is here" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert "\n" not in found


def test_words_are_letters_and_digits() -> None:
    assert history.words_of('a-b "c*" OR (ü9)') == ("a", "b", "c", "OR", "ü9")
    assert history.words_of(' "*" ') == ()

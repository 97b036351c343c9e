"""Long texts are cut where a reader would cut them, and nothing but the space around a cut is gone."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from farhand.channels.kit.split import Span, Styled, cut, joined, split
from farhand.model.split import utf16_length

LETTERS = st.text(alphabet=st.sampled_from("ab \n\t😀é👩\u200d💻́"), max_size=400)


def spans(length: int) -> st.SearchStrategy[tuple[Span, ...]]:
    place = st.integers(0, length)
    one = st.builds(
        lambda kind, a, b: Span(kind=kind, start=min(a, b), end=max(a, b)),
        st.sampled_from(["bold", "pre", "code", "quote", "link"]),
        place,
        place,
    )
    return st.lists(one, max_size=4).map(tuple)


STYLED = LETTERS.flatmap(lambda text: st.builds(lambda s: Styled(text=text, spans=s), spans(len(text))))


@given(STYLED, st.integers(2, 60))
def test_every_piece_fits_and_all_the_text_is_there(styled: Styled, limit: int) -> None:
    pieces = split(styled, limit)
    assert all(0 < utf16_length(piece.text) <= limit for piece in pieces)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(styled.text.split())
    for piece in pieces:
        assert all(0 <= span.start < span.end <= len(piece.text) for span in piece.spans)


def test_a_blank_line_is_better_than_a_line_and_a_line_better_than_a_space() -> None:
    text = "aaaa aaaa aaaa\nbbbb bbbb\n\ncccc cccc"
    assert [piece.text for piece in split(Styled(text=text), 30)] == ["aaaa aaaa aaaa\nbbbb bbbb", "cccc cccc"]
    assert [piece.text for piece in split(Styled(text=text), 22)] == ["aaaa aaaa aaaa", "bbbb bbbb\n\ncccc cccc"]
    assert [piece.text for piece in split(Styled(text="aaaa aaaa aaaa"), 10)] == ["aaaa aaaa", "aaaa"]


def test_a_place_before_the_middle_is_not_taken() -> None:
    assert [piece.text for piece in split(Styled(text="a\n\nbbbbbbbbbbbbbbbbbbbb"), 12)] == [
        "a\n\nbbbbbbbbb",
        "bbbbbbbbbbb",
    ]


def test_code_is_cut_last_at_its_lines_and_stays_code_with_its_indentation() -> None:
    code = "for x in y:\n    one(x)\n    two(x)\n    three(x)"
    styled = Styled(text="Look:\n\n" + code, spans=(Span(kind="pre", start=7, end=7 + len(code), argument="python"),))
    pieces = split(styled, 32)
    assert [piece.text for piece in pieces] == ["Look:\n\nfor x in y:\n    one(x)", "    two(x)\n    three(x)"]
    assert [piece.spans[0].argument for piece in pieces] == ["python", "python"]


def test_a_block_that_fits_the_next_piece_is_not_cut() -> None:
    code = "one\ntwo"
    styled = Styled(text="word word word\n" + code, spans=(Span(kind="pre", start=15, end=22),))
    assert [piece.text for piece in split(styled, 20)] == ["word word word", code]


@example("👩\u200d💻")
@given(st.sampled_from(["👩\u200d💻", "é", "👍🏽", "❤\ufe0f"]))
def test_a_character_of_several_parts_is_not_parted(character: str) -> None:
    text = character * 30
    for piece in split(Styled(text=text), 16):
        assert piece.text == character * (len(piece.text) // len(character))


@given(st.lists(LETTERS.map(lambda text: Styled(text=text, spans=(Span(kind="bold", start=0, end=len(text)),)))))
def test_joining_and_cutting_undo_each_other(parts: list[Styled]) -> None:
    whole = joined(parts)
    start = 0
    for part in parts:
        piece = cut(whole, start, start + len(part.text))
        assert piece.text == part.text
        start += len(part.text)

"""A long answer becomes its beginning and a file; how much of one answer is shown has limits, and none is silent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pure.test_telegram_render import accept, laid_out, letters

from farhand.channels.kit.card import Card
from farhand.channels.kit.long_answers import AnswerLimits, answer_cards, beginning, closed
from farhand.channels.kit.tags import take_tags
from farhand.channels.telegram.words import Post, Show, decode_outgoing
from farhand.model.split import shown

LIMITS = AnswerLimits()


def answer(markdown: str = "", html: str = "", foot: str = "") -> Card:
    return Card(key="answer:ann:t", slot="answer:ann:t", worker="ann", markdown=markdown, html=html, foot=foot)


@given(st.text(max_size=300), st.integers(1, 3))
def test_what_is_no_longer_than_the_limit_stays_as_it_is(text: str, times: int) -> None:
    card = answer(markdown=text.replace("[[", "") * times + "x")
    assert answer_cards(card, LIMITS) == [card]


def test_a_long_answer_is_its_beginning_and_the_whole_as_a_file() -> None:
    text = "\n\n".join(f"Paragraph {number} of a long answer." for number in range(2000))
    first, file = answer_cards(answer(markdown=text, foot="■ Stopped."), LIMITS)
    (post,) = [decode_outgoing(one.body) for one in laid_out(first)]
    assert isinstance(post, Post)
    assert post.plain.startswith("ann:\nParagraph 0")
    assert f"… {len(text):,} characters in all: the whole answer is in ann-answer.md, below." in post.plain
    assert post.plain.endswith("■ Stopped.")
    (show,) = [decode_outgoing(one.body) for one in laid_out(file)]
    assert isinstance(show, Show)
    assert (show.text, show.file.name, show.photo) == (text, "ann-answer.md", False)


@given(st.text(alphabet="*_`[]()<>&~|#-\n 😀aZ9", min_size=1, max_size=300), st.sampled_from(["markdown", "html"]))
def test_whatever_is_long_is_taken_and_is_whole_in_the_file(text: str, kind: str) -> None:
    said = (text.replace("[[", "[ [") + "x") * 60
    html = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    first, file = answer_cards(answer(**{kind: html if kind == "html" else said}), AnswerLimits(characters=100))
    accept(first)
    assert letters(said) in letters(accept(file))


def test_html_is_cut_between_its_tags_and_read_as_text_in_the_file() -> None:
    text = "<b>bold</b> &amp; <a href='http://example.com/x'>more</a>\n" * 600
    first, file = answer_cards(answer(html=text), LIMITS)
    assert "characters in all" in accept(first)
    assert file.content == shown(text)
    assert "<b>" not in file.content


def test_a_block_of_code_that_is_cut_is_closed() -> None:
    assert closed("a\n```py\nb") == "a\n```py\nb\n```"
    assert closed("a\n````\n```\nb") == "a\n````\n```\nb\n````"
    assert closed("```\na\n```\nb") == "```\na\n```\nb"
    assert beginning("one two\n\nthree four", 12) == "one two"


def test_what_is_beyond_all_measure_is_cut_and_says_so() -> None:
    limits = AnswerLimits(characters=100, most_characters=1000)
    for kind in ("markdown", "html"):
        _, file = answer_cards(answer(**{kind: "word " * 4000}), limits)
        assert len(file.content) < 1200
        assert "cut here: the answer has 20,000 characters" in file.content


def test_no_more_files_than_the_limit_are_sent_and_the_rest_is_named() -> None:
    tags = "\n".join(f"[[file:/x/{number}.md]]" for number in range(13))
    text, *files, notice = answer_cards(answer(markdown=f"See these.\n{tags}"), LIMITS)
    assert text.markdown == "See these."
    assert len(files) == 10
    assert notice.head == "ann named 3 files more than are sent of one answer: /x/10.md, /x/11.md, /x/12.md"
    *alone, _ = answer_cards(answer(markdown=tags), LIMITS)
    assert [one.file.path for one in alone if one.file] == [f"/x/{number}.md" for number in range(10)]


@pytest.mark.parametrize(
    "hostile",
    [
        "[[image:" * 100_000,
        "[[file:x|" * 100_000,
        "".join("`" * length + " " for length in range(1, 1200)),
        "<pre " * 100_000,
        "`a` [[file:/x]] " * 20_000,
    ],
    ids=["paths", "captions", "backticks", "open tags", "code and tags"],
)
def test_text_that_is_made_to_be_slow_is_read_in_one_pass(hostile: str) -> None:
    # Each of these took minutes to hours before: the node stood still for everybody.
    text, named = take_tags(hostile, is_html=True)
    assert len(text) + 20 * len(named) >= len(hostile) // 4

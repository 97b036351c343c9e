"""Whatever an agent writes, Telegram takes it, and the manager can read all of it."""

from __future__ import annotations

import html
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from farhand.channels.kit.split import Span, Styled
from farhand.channels.telegram.markup import TEXT_UNITS, pages, styled, to_html
from farhand.testing.telegram.html import Entity, read_html, utf16_length

MARKS = st.sampled_from(
    "*\v_\v`\v|\v[\v]\v)\v<\v>\v&\v \v\n\v\t\v\\\vé\v😀"
    "\v**\v__\v~~\v```\v```py\n\v\n\n\v> \v- \v1. \v# \v|-|-|\n\v](\v](http://localhost:1/x)\v](https://a.example/x?y=1&z=2)"
    "\v![\v<b>\v</i>\v&amp;\v&#x41;\v&bogus;\v    \v---\n\v[a]: /b 'c'\n\v<!--\v👩\u200d💻\v\u202e\v\x00"
    "\vword\vWort7\vhttp://localhost:3000".split("\v")
)
MARKDOWN = st.lists(st.one_of(MARKS, st.text(max_size=5)), max_size=60).map("".join)


def shown(markdown: str) -> tuple[str, list[Entity]]:
    """What a manager sees of it, the pages one after the other, each link's address behind it."""
    texts: list[str] = []
    entities: list[Entity] = []
    for page in pages(styled(markdown)):
        text, found = read_html(to_html(page))
        assert utf16_length(text) <= TEXT_UNITS
        texts.append(text)
        entities += found
    return "\n".join(texts), entities


def letters(text: str) -> Counter[str]:
    return Counter(character for character in text if character.isalnum())


def missing(markdown: str) -> Counter[str]:
    text, entities = shown(markdown)
    seen = letters(text + "".join(entity.argument for entity in entities))
    whole = letters(html.unescape(markdown.encode("utf-8", "replace").decode()))
    return whole - seen


@settings(max_examples=400, deadline=None)
@given(MARKDOWN)
@example("**a *b** c*")
@example("> " * 3000 + "deep")
@example("- " * 3000 + "deep")
@example("| a | b |\n|---|---|\n| 1 | 2 | lost? |")
@example('[x](http://localhost:3000/y "title")')
@example('```python title="x.py"\ncode\n```')
@example("\ud800")
@example("[`code`](https://a.example/x?y=1&z=2)")
def test_telegram_takes_it_and_all_of_it_is_there(markdown: str) -> None:
    if markdown.strip():
        lost = missing(markdown)
        # A character reference is text in code and a character elsewhere: there only the reading is sure.
        assert not lost or html.unescape(markdown) != markdown


@settings(max_examples=20, deadline=None)
@given(MARKDOWN, st.integers(1000, 100_000))
def test_a_hundred_kilobytes_are_no_different(piece: str, size: int) -> None:
    markdown = (piece * (size // max(1, len(piece)) + 1))[:size]
    if markdown.strip():
        assert not missing(markdown) or html.unescape(markdown) != markdown


@pytest.mark.parametrize("piece", ["[", "![", "*a ", "**_a ", "[a](", "> ", "`", "|a", "<", "```\n", "- a\n  "])
def test_a_hundred_kilobytes_of_open_marks_are_readable(piece: str) -> None:
    assert not missing((piece * 100_000)[:100_000])


def test_words_stay_in_their_order() -> None:
    words = [f"word{number}" for number in range(3000)]
    text, _ = shown(" ".join(f"**{word}**" if number % 3 else f"*{word}*" for number, word in enumerate(words)))
    assert text.split() == words


def kinds(markdown: str) -> list[tuple[str, str]]:
    text, entities = shown(markdown)
    units = text.encode("utf-16-le")
    return [(e.kind, units[2 * e.offset : 2 * e.end].decode("utf-16-le")) for e in entities]


def test_styles_come_through() -> None:
    assert kinds("# Head\n\n**b** *i* ~~s~~ `c` 😀 [t](https://example.com)\n\n```py\nx\n```\n> q") == [
        ("bold", "Head"),
        ("bold", "b"),
        ("italic", "i"),
        ("strikethrough", "s"),
        ("code", "c"),
        ("text_link", "t"),
        ("pre", "x"),
        ("blockquote", "q"),
    ]


def test_a_link_that_telegram_would_drop_is_written_out() -> None:
    assert shown("see [the app](http://localhost:3000/x)")[0] == "see the app (http://localhost:3000/x)"


def test_lists_and_tables_read_well() -> None:
    assert shown("1. one\n2. two\n   - in\n7. seven")[0] == "1. one\n2. two\n  • in\n7. seven"
    assert shown("|a|b|\n|-|-|\n|1|22|")[0] == "a │ b\n──┼───\n1 │ 22"
    wide = "|name|what it is for|\n|-|-|\n|" + "x" * 30 + "|" + "y" * 30 + "|"
    assert shown(wide)[0] == f"name: {'x' * 30}\nwhat it is for: {'y' * 30}"


@given(
    st.text(max_size=40),
    st.lists(
        st.tuples(
            st.sampled_from(["bold", "italic", "code", "pre", "quote", "link", "strike"]),
            st.integers(0, 40),
            st.integers(0, 40),
        ),
        max_size=8,
    ),
)
def test_styles_that_cross_in_any_way_make_html_that_telegram_reads(
    text: str, given: list[tuple[str, int, int]]
) -> None:
    spans = tuple(Span(kind=kind, start=min(a, b), end=max(a, b), argument="https://a.example") for kind, a, b in given)
    inside = tuple(span for span in spans if span.end <= len(text))
    seen, _ = read_html(to_html(Styled(text=text, spans=inside)))
    assert letters(seen) == letters(text)

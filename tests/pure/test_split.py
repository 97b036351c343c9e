"""Long text is cut for a surface without losing a word of it."""

import html

from hypothesis import given
from hypothesis import strategies as st

from farhand.model.split import shown, split_html, split_plain, utf16_length


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_short_text_stays_whole() -> None:
    assert split_plain("hello", 4096) == ["hello"]
    assert split_plain("", 10) == []


def test_a_blank_line_is_the_best_cut() -> None:
    text = "a" * 30 + "\n\n" + "b" * 10 + "\n" + "c" * 20
    assert split_plain(text, 50) == ["a" * 30, "b" * 10 + "\n" + "c" * 20]


def test_a_cut_before_the_half_is_not_taken() -> None:
    text = "a" * 10 + "\n\n" + "b" * 60
    assert split_plain(text, 50)[0] == "a" * 10 + "\n\n" + "b" * 38


def test_open_tags_go_on_after_the_cut() -> None:
    parts = split_html("<b>" + "word " * 20 + "</b>", 60)
    assert len(parts) == 2
    assert all(part.startswith("<b>") and part.endswith("</b>") for part in parts)


def test_a_code_block_is_closed_and_opened_again_with_its_indents() -> None:
    lines = "\n".join(f"    line {number}" for number in range(40))
    parts = split_html(f'<pre><code class="language-python">{lines}</code></pre>', 200)
    assert all(part.startswith('<pre><code class="language-python">    line') for part in parts)
    assert all(part.endswith("</code></pre>") for part in parts)
    assert "\n".join(shown(part) for part in parts) == lines


def test_entities_and_wide_characters_count_as_shown() -> None:
    assert utf16_length("a😀") == 3
    assert split_html("&lt;" * 10, 10) == ["&lt;" * 10]
    assert [utf16_length(part) for part in split_plain("😀" * 7, 8)] == [8, 6]


def test_a_glyph_of_several_code_points_is_not_cut() -> None:
    family = "👨\u200d👩\u200d👧"
    parts = split_plain("x" * 6 + family + "y" * 20, 10)
    assert any(family in part for part in parts)


@given(st.text(max_size=400), st.integers(min_value=2, max_value=60))
def test_nothing_is_lost_and_no_part_is_too_long(text: str, limit: int) -> None:
    parts = split_plain(text, limit)
    assert all(0 < utf16_length(part) <= limit for part in parts)
    assert squeezed("".join(parts)) == squeezed(text)


WORDS = st.lists(
    st.one_of(
        st.text(max_size=30).map(html.escape),
        st.sampled_from(["<b>", "</b>", "<i>", "</i>", "<pre><code>", "</code></pre>", "\n", "\n\n", " ", "&amp;"]),
    ),
    max_size=40,
)


@given(WORDS, st.integers(min_value=2, max_value=60))
def test_html_keeps_every_word_and_every_part_within_the_limit(words: list[str], limit: int) -> None:
    text = "".join(words)
    parts = split_html(text, limit)
    assert all(utf16_length(shown(part)) <= limit for part in parts)
    assert squeezed("".join(shown(part) for part in parts)) == squeezed(shown(text))

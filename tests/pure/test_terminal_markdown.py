"""Markdown in a terminal: styled, within its width, with nothing lost; and where a growing text can be cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.cli.line_editor import width, without_codes
from farhand.cli.terminal_markdown import LONGEST_BLOCK, finished, markdown_rows

CODE = re.compile(r"\x1b\[[0-9;]*m")
ANSWER = """\
# Done

I changed **two** files, see `till.py`:

- the first point, which is long enough that it does not fit into one row
  - a smaller one
- the last

1. one
2. two

```python
def total(prices: list[int]) -> int:
    # adds them up, one after the other, as it always did
    return sum(prices)  # "and" nothing else
```

| file | lines |
|---|---|
| till.py | 12 |
| shop.py | 3 |

> somebody said so
"""


def plain(columns: int) -> list[str]:
    return markdown_rows(ANSWER, columns, colours=False)


def test_styles_are_codes_and_marks_are_gone() -> None:
    rows = markdown_rows("**bold** *it* ~~no~~ `code`", 40, colours=True)
    assert rows == ["\x1b[1mbold\x1b[0m \x1b[3mit\x1b[0m \x1b[9mno\x1b[0m \x1b[36mcode\x1b[0m"]


def test_without_colours_there_is_not_one_code() -> None:
    assert "\x1b" not in "".join(plain(40))


def test_a_list_hangs_and_code_keeps_its_indent() -> None:
    rows = plain(40)
    first = rows.index("• the first point, which is long enough")
    assert rows[first + 1 : first + 4] == ["  that it does not fit into one row", "  • a smaller one", "• the last"]
    assert [row for row in rows if row[:2] in {"1.", "2."}] == ["1. one", "2. two"]
    code = rows.index("  def total(prices: list[int]) -> int:")
    assert rows[code + 1 : code + 4] == [
        "      # adds them up, one after the othe",
        "      r, as it always did",
        '      return sum(prices)  # "and" nothin',
    ]


def test_a_table_is_a_table_where_it_fits_and_records_where_it_does_not() -> None:
    assert "  file    │ lines" in plain(60)
    narrow = markdown_rows("| a long name | another one |\n|---|---|\n| x | y |", 20, colours=False)
    assert narrow == ["a long name: x", "another one: y"]


def test_code_is_highlighted_by_its_language() -> None:
    [row] = markdown_rows('```python\nreturn "x" # done\n```', 60, colours=True)
    assert row == '  \x1b[35mreturn\x1b[0m \x1b[32m"x"\x1b[0m \x1b[2m# done\x1b[0m'
    [removed, added] = markdown_rows("```diff\n-old\n+new\n```", 60, colours=True)
    assert (removed, added) == ("  \x1b[31m-old\x1b[0m", "  \x1b[32m+new\x1b[0m")


def test_a_quote_has_a_bar() -> None:
    assert "│ somebody said so" in plain(40)


def test_what_would_move_the_cursor_is_shown() -> None:
    assert markdown_rows("a\x1b[2Jb\x07", 40, colours=True) == ["a·[2Jb·"]


@given(st.text(alphabet=st.sampled_from("ab*`_~#->|[]()! \n1.\t界\x1b"), max_size=200), st.integers(20, 100))
def test_every_row_fits_and_no_letter_is_lost(source: str, columns: int) -> None:
    rows = markdown_rows(source, columns, colours=True)
    assert all(width(without_codes(row)) <= columns for row in rows)
    assert all("\x1b" not in CODE.sub("", row) for row in rows)
    shown = without_codes("".join(rows))
    for letter in "ab界":
        assert shown.count(letter) >= source.count(letter)


@pytest.mark.parametrize(
    ("text", "done", "rest"),
    [
        ("one line", "", "one line"),
        ("a block\n\nmore", "a block\n\n", "more"),
        ("```py\na\n\nb\n", "", "```py\na\n\nb\n"),
        ("```py\na\n```\nmore", "```py\na\n```\n", "more"),
        ("~~~\n```\n~~~\n", "~~~\n```\n~~~\n", ""),
        ("- a\n- b\n", "", "- a\n- b\n"),
    ],
)
def test_whole_blocks_are_told_from_the_one_that_grows(text: str, done: str, rest: str) -> None:
    assert finished(text) == (done, rest)


def test_a_long_block_is_printed_in_parts_and_code_stays_code() -> None:
    text = "```py\n" + "x = 1\n" * LONGEST_BLOCK
    done, rest = finished(text)
    assert done.endswith("x = 1\n```\n")
    assert rest == "```py\n"
    done, rest = finished("word " * LONGEST_BLOCK + "\nmore")
    assert rest == "more"

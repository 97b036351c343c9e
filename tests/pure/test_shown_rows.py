"""Messages as rows of the terminal app: Markdown laid out, nothing that commands a terminal, copied as it was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.model.live_session import Role, SessionMessage, SessionPart
from farhand.tui.markdown_rows import MarkdownRows, markdown_rows
from farhand.tui.message_rows import MessageRows
from farhand.tui.rows import copied

ANSWER = """# Twice

It goes out **twice**, since `two` timers are armed and nobody looks for the first one:

1. the first
   - inside
     of it
2. the second

> as I said

```python
arm(order)
```

| name | timers |
|---|---|
| retry | 1 |
| schedule of orders | 12 |
"""


def texts(source: str, width: int = 40) -> list[str]:
    return [row.content.plain.rstrip() for row in markdown_rows(source, width)]


def test_markdown_is_laid_out() -> None:
    assert texts(ANSWER) == [
        "Twice",
        "",
        "It goes out twice, since two timers are",
        "armed and nobody looks for the first",
        "one:",
        "",
        "1. the first",
        "   • inside of it",
        "2. the second",
        "",
        "▎ as I said",
        "",
        " arm(order)",
        "",
        "name                timers",
        "──────────────────────────",
        "retry               1",
        "schedule of orders  12",
    ]


def test_a_link_tells_where_it_leads() -> None:
    assert texts("[the bank](https://evil.example/x)", 80) == ["the bank (https://evil.example/x)"]
    assert texts("<https://good.example/>", 80) == ["https://good.example/"]


@pytest.mark.parametrize(
    "source", ["&#27;]52;c;ZXZpbA==&#7;", "`\x1b[2J`", "```\n\x1b[2J\n```", "[a](<\x1b[2J>)", "a\x9bb"]
)
def test_nothing_commands_the_terminal(source: str) -> None:
    for row in markdown_rows(source, 40):
        assert not set(row.content.plain) & {chr(code) for code in (*range(32), *range(127, 160))}


def test_html_is_text() -> None:
    assert texts("<script>alert(1)</script> and <b>bold</b>", 80) == ["<script>alert(1)</script> and <b>bold</b>"]


def test_what_was_wrapped_is_copied_as_it_was_said() -> None:
    sentence = "many words " * 20
    rows = markdown_rows(f"- {sentence}\n- other", 30)
    assert len(rows) > 5
    assert copied(rows, 0, 100) == f"• {sentence.strip()}\n• other"
    code = "x" * 100
    assert copied(markdown_rows(f"```\n{code}\n```", 30), 0, 100).strip() == code


def test_no_row_is_wider_than_the_screen() -> None:
    wide = (
        "| a | b |\n|---|---|\n| "
        + "界" * 60
        + " | "
        + "y" * 60
        + " |\n\n"
        + "界" * 100
        + "\n\n```\n"
        + "界" * 50
        + "\n```"
    )
    for width in (20, 41, 80):
        assert all(row.content.cell_length <= width for row in markdown_rows(ANSWER + "\n" + wide, width))


@given(st.text(alphabet="a *`#-1.>|\n[]()_~", max_size=120), st.lists(st.integers(1, 20), max_size=6))
def test_a_text_that_grows_looks_like_one_that_came_at_once(text: str, steps: list[int]) -> None:
    growing, place = MarkdownRows(30), 0
    for step in steps:
        place += step
        growing.show(text[:place])
    shown = growing.show(text)
    assert all(row.content.cell_length <= 30 for row in shown)
    letters = "".join(row.content.plain for row in shown)
    assert letters.count("a") == "".join(row.content.plain for row in markdown_rows(text, 30)).count("a")


def test_an_answer_that_grows_is_laid_out_from_its_last_block_on() -> None:
    growing = MarkdownRows(40)
    for end in range(0, len(ANSWER), 7):
        growing.show(ANSWER[:end])
    assert [row.content.plain for row in growing.show(ANSWER)] == [
        row.content.plain for row in markdown_rows(ANSWER, 40)
    ]
    many = "".join(f"Paragraph {number}.\n\n" for number in range(50))
    growing.show(many)
    first = growing.show(many)[0]
    assert growing.show(f"{many}And one more.")[0] is first


def test_a_part_that_did_not_change_keeps_its_rows() -> None:
    tool = SessionPart(kind="tool", call="1", title="Run: ls", text="a.txt", ok=True)
    said = SessionPart(kind="text", text="Hello")
    message = SessionMessage(id=1, role=Role.MODEL, at=0.0, parts=(tool, said), changed=1)
    laid = MessageRows(message, 40, opened=False)
    assert [row.content.plain for row in laid.rows] == [" ▸ ✓ Run: ls", " ", " Hello", ""]
    laid.turn(0)
    assert [row.content.plain for row in laid.rows] == [" ▾ ✓ Run: ls", "  │ a.txt", " ", " Hello", ""]

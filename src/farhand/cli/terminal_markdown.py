"""Markdown as the rows of a terminal: styled, wrapped to its width, code with its indent kept. Pure."""

import re
import textwrap
import unicodedata
from collections.abc import Iterator
from itertools import groupby

from farhand.channels.kit.markdown import read_markdown
from farhand.channels.kit.split import Span, Styled
from farhand.cli import highlight
from farhand.cli.line_editor import cuts
from farhand.model.words import replace

# Select graphic rendition: what each style is in a terminal.
CODES = {
    "bold": "1",
    "italic": "3",
    "strike": "9",
    "code": "36",
    "quote": "2",
    highlight.COMMENT: "2",
    highlight.STRING: "32",
    highlight.NUMBER: "36",
    highlight.KEYWORD: "35",
    highlight.ADDED: "32",
    highlight.REMOVED: "31",
}
INDENT = "  "
_BLANKS = re.compile(r" *")
_MARKER = re.compile(r"\s*(?:• |\d{1,9}[.)] )?")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# An unfinished block that is longer is printed up to here: a growing text must not be laid out from its start for ever.
LONGEST_BLOCK = 4000


def finished(text: str) -> tuple[str, str]:
    """The whole blocks that a growing text begins with, and the block that is still being said."""
    place, offset, fence, opening = 0, 0, "", ""
    for line in text.split("\n")[:-1]:
        offset += len(line) + 1
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                place, fence = offset, ""
        elif mark:
            fence, opening = mark[1], line
        elif not line.strip():
            place = offset
    if offset - place < LONGEST_BLOCK:
        return text[:place], text[place:]
    # Code goes on in a block of its own.
    return (f"{text[:offset]}{fence}\n", f"{opening}\n{text[offset:]}") if fence else (text[:offset], text[offset:])


def markdown_rows(source: str, columns: int, *, colours: bool) -> list[str]:
    """The rows that show the Markdown; without colours nothing but letters is in them."""
    clean = "".join(one if one == "\n" or unicodedata.category(one) != "Cc" else "·" for one in source.expandtabs(4))
    lines = clean.strip("\n")
    dedented = textwrap.dedent(lines)
    margin = " " * min(len(lines) - len(lines.lstrip(" ")), columns // 3) if dedented != lines else ""
    room = columns - len(margin)
    shown = read_markdown(dedented, lambda _: False, table_columns=room - len(INDENT))
    return [f"{margin}{row}" if row else "" for row in _rows(_with_colours(shown), room, colours=colours)]


def _with_colours(shown: Styled) -> Styled:
    """The same with the colours of its code blocks."""
    spans = list(shown.spans)
    for span in shown.spans:
        if span.kind == "pre":
            inside = highlight.highlighted(shown.text[span.start : span.end], span.argument)
            spans += [replace(one, start=one.start + span.start, end=one.end + span.start) for one in inside]
    return replace(shown, spans=tuple(spans))


def _rows(shown: Styled, columns: int, *, colours: bool) -> Iterator[str]:
    start = 0
    for line in shown.text.split("\n"):
        yield from _line_rows(shown, start, line, columns, colours=colours)
        start += len(line) + 1


def _line_rows(shown: Styled, start: int, line: str, columns: int, *, colours: bool) -> Iterator[str]:
    on_line = [one for one in shown.spans if one.start <= start + len(line) and one.end >= start]
    is_code = any(one.kind == "pre" and one.start <= start < max(one.end, one.start + 1) for one in on_line)
    is_quote = any(one.kind == "quote" and one.start <= start < one.end for one in on_line)
    margin = INDENT if is_code else "│ " if is_quote else ""
    room = max(8, columns - len(margin))
    begins = (_BLANKS if is_code else _MARKER).match(line)
    hang = min(begins.end() if begins else 0, room // 2)
    for number, (first, last) in enumerate(cuts(line, room, hang, words=not is_code)):
        coloured = paint(line[first:last], start + first, on_line, colours=colours)
        row = f"{margin}{' ' * hang if number else ''}{coloured}"
        yield row if coloured or is_quote else ""


def paint(text: str, start: int, spans: list[Span], *, colours: bool) -> str:
    """The stretch of a styled text that begins at `start`, with its codes."""
    if not colours:
        return text
    codes = [
        ";".join(dict.fromkeys(CODES[one.kind] for one in spans if one.kind in CODES and one.start <= place < one.end))
        for place in range(start, start + len(text))
    ]
    parts = []
    for code, group in groupby(zip(codes, text, strict=True), key=lambda pair: pair[0]):
        letters = "".join(letter for _, letter in group)
        parts.append(f"\x1b[{code}m{letters}\x1b[0m" if code else letters)
    return "".join(parts)

"""Rows of the screen: a text cut to the width it has, and what a cut means when it is copied. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len
from textual.content import Content

NARROWEST = 8
# What stands before a row: its text, and its style.
Lead: TypeAlias = tuple[str, str]


class ShownRow(NamedTuple):
    """One row: what it shows, and how it goes on in the next one."""

    content: Content
    # Between this row and the next one when both are copied: words were wrapped, or a long word was cut.
    joint: str = "\n"
    # How many characters of it stand there for the eye alone; left out where the row before goes on in this one.
    lead: int = 0
    # The part of the message whose title this is.
    fold: int | None = None


BLANK = ShownRow(Content(""))


def wrapped(content: Content, width: int) -> list[ShownRow]:
    """Cut between words; every line end stays."""
    rows: list[ShownRow] = []
    for line in content.split(allow_blank=True):
        pieces = line.wrap(max(NARROWEST, width)) or [Content("")]
        rows += [ShownRow(piece, " ") for piece in pieces[:-1]]
        rows.append(ShownRow(pieces[-1]))
    return rows


def folded(content: Content, width: int) -> list[ShownRow]:
    """Cut wherever the width ends, as code must be."""
    rows: list[ShownRow] = []
    for line in content.split(allow_blank=True):
        pieces = line.fold(max(NARROWEST, width))
        rows += [ShownRow(piece, "") for piece in pieces[:-1]]
        rows.append(ShownRow(pieces[-1]))
    return rows


def led(rows: Iterable[ShownRow], first: Lead, rest: Lead | None = None) -> list[ShownRow]:
    """The same rows behind a mark; behind blanks or another mark from the second one on."""
    text, style = rest if rest is not None else (" " * cell_len(first[0]), "")
    made: list[ShownRow] = []
    for place, row in enumerate(rows):
        lead = first if place == 0 else (text, style)
        content = Content.assemble(lead, row.content)
        made.append(row._replace(content=content, lead=row.lead + len(lead[0])))
    return made


def on_ground(row: ShownRow, width: int, style: str) -> ShownRow:
    """The row in a style over its whole width."""
    missing = width - row.content.cell_length
    content = row.content.pad_right(missing) if missing > 0 else row.content
    return row._replace(content=content.stylize_before(style))


def copied(rows: list[ShownRow], start: int, end: int) -> str:
    """The text from a place in the first row to one in the last, wrapped lines as one again."""
    text, glue = "", ""
    for place, row in enumerate(rows):
        first = start if place == 0 else row.lead if glue != "\n" else 0
        last = end if place == len(rows) - 1 else None
        text += (glue if place else "") + row.content.plain[first:last].rstrip()
        glue = row.joint
    return text

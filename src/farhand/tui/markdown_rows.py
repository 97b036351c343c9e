"""Markdown as rows of the screen: headings, lists, code in its colours, tables, and no order to the terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from textual.content import Content
from textual.highlight import highlight

from farhand.tui.rows import BLANK, NARROWEST, ShownRow, folded, led, on_ground, wrapped
from farhand.tui.shown_text import plain

# Longer code is shown without colours.
MOST_COLOURED = 20_000
NESTING = 40
MARKS = ("• ", "◦ ", "▪ ")
STYLES = {"strong": "bold", "em": "italic", "s": "strike", "link": "underline"}
HEADINGS = {"h1": "bold underline $text-primary", "h2": "bold $text-primary"}
GAP = 2


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING}).enable(["strikethrough", "table"])


class MarkdownRows:
    """A text that may grow: what came before its last block is read and laid out once."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._done = ""
        self._rows: list[ShownRow] = []

    def show(self, text: str) -> list[ShownRow]:
        """The rows of the text as it is now."""
        if not text.startswith(self._done):
            self._done, self._rows = "", []
        rest = text[len(self._done) :]
        tokens = _parser().parse(rest)
        place = _last_block(tokens)
        if not place:
            return _apart(self._rows, _blocks(SyntaxTreeNode(tokens), self._width))
        last = tokens[place].map
        lines = rest.split("\n")
        closed = "\n".join(lines[: last[0]]) + "\n" if last else ""
        self._rows = _apart(self._rows, _blocks(SyntaxTreeNode(tokens[:place]), self._width))
        self._done += closed
        return _apart(self._rows, _blocks(SyntaxTreeNode(tokens[place:]), self._width))


def _last_block(tokens: Sequence[Token]) -> int:
    """Where the last block begins, which may still grow."""
    return max((place for place, one in enumerate(tokens) if one.level == 0 and one.nesting >= 0), default=0)


def _apart(before: list[ShownRow], after: list[ShownRow]) -> list[ShownRow]:
    return [*before, BLANK, *after] if before and after else [*before, *after]


def markdown_rows(text: str, width: int) -> list[ShownRow]:
    """The rows that show it."""
    return MarkdownRows(width).show(text)


def _blocks(node: SyntaxTreeNode, width: int, *, depth: int = 0, tight: bool = False) -> list[ShownRow]:
    rows: list[ShownRow] = []
    for child in node.children:
        made = _block(child, max(NARROWEST, width), depth)
        rows = [*rows, *made] if tight else _apart(rows, made)
    return rows


def _block(node: SyntaxTreeNode, width: int, depth: int) -> list[ShownRow]:
    match node.type:
        case "paragraph" | "inline":
            return wrapped(_inline(node), width)
        case "heading":
            return wrapped(_inline(node).stylize_before(HEADINGS.get(node.tag, "bold")), width)
        case "fence" | "code_block":
            return _code(node, width)
        case "bullet_list" | "ordered_list":
            return _list(node, width, depth)
        case "blockquote":
            inside = _blocks(node, width - 2, depth=depth)
            return led(inside, ("▎ ", "$secondary"), ("▎ ", "$secondary"))
        case "table":
            return _table(node, width)
        case "hr":
            return [ShownRow(Content.styled("─" * width, "$panel"))]
        case _:
            return wrapped(Content(plain(node.content)), width)


def _code(node: SyntaxTreeNode, width: int) -> list[ShownRow]:
    code, language = plain(node.content).rstrip("\n"), (node.info.split() or ["text"])[0]
    content = highlight(code, language=language) if language != "text" and len(code) < MOST_COLOURED else Content(code)
    return [on_ground(row, width, "on $surface") for row in led(folded(content, width - 2), (" ", ""), (" ", ""))]


def _list(node: SyntaxTreeNode, width: int, depth: int) -> list[ShownRow]:
    rows: list[ShownRow] = []
    first = int(node.attrs.get("start", 1))
    numbered = node.type == "ordered_list"
    tight = all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")
    room = len(f"{first + len(node.children) - 1}. ")
    for place, item in enumerate(node.children):
        mark = f"{first + place}. ".rjust(room) if numbered else MARKS[depth % len(MARKS)]
        inside = _blocks(item, width - len(mark), depth=depth + (not numbered), tight=tight) or [BLANK]
        made = led(inside, (mark, "$text-primary"))
        rows = [*rows, *made] if tight else _apart(rows, made)
    return rows


def _inline(node: SyntaxTreeNode) -> Content:
    return Content.assemble(*_pieces(node, ""))


def _pieces(node: SyntaxTreeNode, style: str) -> Iterator[tuple[str, str]]:
    """The text with its styles; of a link also where it leads, since nobody can look under it."""
    for child in node.children:
        match child.type:
            case "softbreak":
                yield " ", style
            case "hardbreak":
                yield "\n", style
            case "code_inline":
                yield plain(child.content), f"{style} $text-warning on $surface".strip()
            case "image":
                yield f"[{plain(child.content) or 'image'}] ({plain(str(child.attrs.get('src', '')))})", style
            case _ if child.children:
                yield from _pieces(child, f"{style} {STYLES.get(child.type, '')}".strip())
                yield from _target(child)
            case _:
                yield plain(child.content), style


def _target(node: SyntaxTreeNode) -> Iterator[tuple[str, str]]:
    address = plain(str(node.attrs.get("href", ""))) if node.type == "link" else ""
    shown = "".join(plain(one.content) for one in node.walk() if one.type in ("text", "code_inline"))
    if address and address.removeprefix("mailto:") != shown:
        yield f" ({address})", "dim"


def _table(node: SyntaxTreeNode, width: int) -> list[ShownRow]:
    lines = [[_inline(cell) for cell in line.children] for part in node.children for line in part.children]
    widths = _columns([max(cell.cell_length for cell in column) for column in zip(*lines, strict=False)], width)
    rows: list[ShownRow] = []
    for place, line in enumerate(lines):
        rows += _table_line([cell.stylize_before("bold") for cell in line] if place == 0 else line, widths)
        if place == 0:
            rows.append(ShownRow(Content.styled("─" * (sum(widths) + GAP * (len(widths) - 1)), "$secondary")))
    return [ShownRow(piece) for row in rows for piece in row.content.fold(max(NARROWEST, width))]


def _columns(widths: list[int], width: int) -> list[int]:
    """As wide as they want to be; where that is too much, the widest gives way first."""
    while sum(widths) + GAP * (len(widths) - 1) > width and max(widths) > NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _table_line(cells: Sequence[Content], widths: Sequence[int]) -> list[ShownRow]:
    columns = [cell.wrap(max(1, width)) or [Content("")] for cell, width in zip(cells, widths, strict=False)]
    rows: list[ShownRow] = []
    for number in range(max((len(one) for one in columns), default=0)):
        pieces = [one[number] if number < len(one) else Content("") for one in columns]
        padded = [piece.pad_right(width - piece.cell_length) for piece, width in zip(pieces, widths, strict=False)]
        rows.append(ShownRow(Content(" " * GAP).join(padded).rstrip()))
    return rows

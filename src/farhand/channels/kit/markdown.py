"""Reads the Markdown that agents write into styled text, and loses none of it. Pure."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from farhand.channels.kit.split import Span, Styled

KeepsLink = Callable[[str], bool]
LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}\Z")
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
INLINE_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
NESTING = 40
# The reader's time grows with the square of open brackets; no answer of an agent has so many.
MOST_BRACKETS = 2000
# Wider than this, a table's rows are shown one below the other: a phone would wrap them beyond reading.
TABLE_COLUMNS = 44


class Page:
    """The styled text while it grows."""

    def __init__(self, keeps_link: KeepsLink, table_columns: int) -> None:
        self.keeps_link = keeps_link
        self.table_columns = table_columns
        self.parts: list[str] = []
        self.length = 0
        self.spans: list[Span] = []
        self.open: list[tuple[str, int, str]] = []
        self.last = ""

    def put(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)
            self.last = (self.last + text)[-2:]

    def break_to(self, newlines: int) -> None:
        """Makes sure that so many line ends are between what was put and what comes."""
        if not self.length:
            return
        have = len(self.last) - len(self.last.rstrip("\n"))
        self.put("\n" * max(0, newlines - have))

    def start(self, kind: str, argument: str = "") -> None:
        self.open.append((kind, self.length, argument))

    def end(self) -> None:
        kind, start, argument = self.open.pop()
        if self.length > start:
            self.spans.append(Span(kind=kind, start=start, end=self.length, argument=argument))

    def styled(self) -> Styled:
        spans = sorted(self.spans, key=lambda span: (span.start, -span.end))
        return Styled(text="".join(self.parts), spans=tuple(spans))


@cache
def _parser(tables: bool, links: bool) -> MarkdownIt:
    """A reader that takes any link and leaves its address as it was written."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING}).enable("strikethrough")
    # A reference definition would vanish from the text, an indented paragraph would become code by accident,
    # and a line of dashes below a paragraph would make a heading of it where a rule was meant.
    parser.disable(["reference", "code", "lheading", "entity", *([] if links else ["link", "image"])])
    if tables:
        parser.enable("table")
    for rule, unchanged in (("normalizeLink", str), ("normalizeLinkText", str), ("validateLink", bool)):
        setattr(parser, rule, unchanged)
    return parser


def read_markdown(source: str, keeps_link: KeepsLink, table_columns: int = TABLE_COLUMNS) -> Styled:
    """The text as people shall see it. What the surface has no link for is written out behind its text; a table that is
    wider than `table_columns` is shown row below row."""
    source = LONE_SURROGATES.sub("\ufffd", source.replace("\r\n", "\n").replace("\r", "\n"))
    links = source.count("[") <= MOST_BRACKETS
    for tables in (True, False):
        page = Page(keeps_link, table_columns)
        try:
            _blocks(page, _parser(tables, links).parse(source))
        except RecursionError:
            continue
        styled = page.styled()
        if styled.text.strip() and _weight(styled) >= _letters(html.unescape(source)):
            return Styled(text=styled.text.strip("\n"), spans=_moved(styled))
    return Styled(text=source.strip("\n"))


def _moved(styled: Styled) -> tuple[Span, ...]:
    lead = len(styled.text) - len(styled.text.lstrip("\n"))
    last = len(styled.text.strip("\n"))
    moved = (
        Span(kind=s.kind, start=max(0, s.start - lead), end=min(last, s.end - lead), argument=s.argument)
        for s in styled.spans
    )
    return tuple(span for span in moved if span.end > span.start)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _weight(styled: Styled) -> int:
    """How many letters and digits a text has, with those in its links and languages."""
    return _letters(styled.text) + sum(_letters(span.argument) for span in styled.spans)


def _blocks(page: Page, tokens: Sequence[Token]) -> None:
    lists: list[str] = []
    quotes = 0
    place = iter(tokens)
    for token in place:
        match token.type:
            case "paragraph_open":
                _begin_block(page, lists, tight=token.hidden)
            case "heading_open":
                _begin_block(page, lists)
                page.start("bold")
            case "heading_close":
                page.end()
            case "inline":
                _inline(page, token.children or [])
            case "fence" | "code_block":
                _fence(page, token, lists)
            case "hr":
                _begin_block(page, lists)
                page.put("———")
            case "blockquote_open":
                _begin_block(page, lists)
                quotes += 1
                if quotes == 1:
                    page.start("quote")
            case "blockquote_close":
                quotes -= 1
                if quotes == 0:
                    page.end()
            case "bullet_list_open" | "ordered_list_open":
                if not lists:
                    page.break_to(2)
                lists.append("")
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                page.break_to(1)
                marker = f"{token.info}{token.markup} " if token.info else "• "
                page.put("  " * (len(lists) - 1) + marker)
                lists[-1] = "begun"
            case "table_open":
                _begin_block(page, lists)
                _table(page, _rows(place))
            case _:
                pass


def _begin_block(page: Page, lists: list[str], *, tight: bool = False) -> None:
    """Starts a block on a line of its own; the first block of a list's item stands beside its marker."""
    if lists and lists[-1] == "begun":
        lists[-1] = "within"
        return
    page.break_to(1 if tight or lists else 2)
    if lists:
        page.put("  " * len(lists))


def _fence(page: Page, token: Token, lists: list[str]) -> None:
    language, _, rest = token.info.strip().partition(" ")
    if not LANGUAGE.match(language):
        language, rest = "", token.info.strip()
    if lists:
        lists[-1] = "within"
    page.break_to(1 if lists else 2)
    if rest.strip():
        page.put(rest.strip() + "\n")
    page.start("pre", language)
    page.put(token.content.removesuffix("\n"))
    page.end()
    page.put("\n")


def _inline(page: Page, tokens: Sequence[Token]) -> None:
    links: list[tuple[str, str, int, int]] = []
    for token in tokens:
        name = token.type.removesuffix("_open").removesuffix("_close")
        if token.type in {"text", "text_special"}:
            page.put(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            page.put("\n")
        elif token.type == "code_inline":
            page.start("code")
            page.put(token.content)
            page.end()
        elif token.type == "image":
            _image(page, token)
        elif token.type == "link_open":
            url, title = str(token.attrs.get("href", "")), str(token.attrs.get("title", ""))
            links.append((url, title, page.length, len(page.parts)))
            page.start("link", url)
        elif token.type == "link_close":
            _end_link(page, *links.pop())
        elif name in INLINE_STYLES:
            if token.nesting > 0:
                page.start(INLINE_STYLES[name])
            else:
                page.end()
        else:
            page.put(token.content)


def _image(page: Page, token: Token) -> None:
    page.put("🖼 ")
    _inline(page, token.children or [])
    about = [str(token.attrs.get(name, "")) for name in ("src", "title")]
    page.put(f" ({' '.join(one for one in about if one)})")


def _end_link(page: Page, url: str, title: str, start: int, first_part: int) -> None:
    shown = "".join(page.parts[first_part:])
    # Code can be no link on most surfaces: there the address is written out, or it would be lost.
    holds_code = any(span.kind == "code" and span.end > start for span in page.spans)
    if page.keeps_link(url) and page.length > start and not holds_code:
        page.end()
    else:
        page.open.pop()
        if url and shown != url:
            page.put(f" ({url})" if page.length > start else url)
    if title:
        page.put(f" ({title})")


def _rows(place: Iterator[Token]) -> list[list[str]]:
    """The cells of a table as plain text, up to its end."""
    rows: list[list[str]] = []
    for token in place:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            cell = Page(lambda _: False, 0)
            _inline(cell, token.children or [])
            rows[-1].append("".join(cell.parts).replace("\n", " "))
    return rows


def _table(page: Page, rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows if column < len(row)) for column in range(len(rows[0]))]
    if sum(widths) + 3 * (len(widths) - 1) <= page.table_columns:
        padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] for row in rows)
        lines = [" │ ".join(row).rstrip() for row in padded]
        lines.insert(1, "─┼─".join("─" * width for width in widths))
        page.start("pre")
        page.put("\n".join(lines))
        page.end()
        return
    _records(page, rows)


def _records(page: Page, rows: list[list[str]]) -> None:
    """A table too wide for a phone: each row a paragraph, each cell behind its column's name."""
    names = rows[0]
    if len(rows) == 1:
        page.put(" · ".join(names))
    for row in rows[1:]:
        page.break_to(2)
        for column, cell in enumerate(row):
            page.break_to(1 if column else 2)
            page.start("bold")
            page.put(names[column])
            page.end()
            page.put(f": {cell}" if names[column] else cell)

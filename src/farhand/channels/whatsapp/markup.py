"""Styled text with WhatsApp's marks. Pure.

WhatsApp has no way to write a mark that is meant as itself: within code nothing is read as one, elsewhere a text that
happens to look like one is shown so."""

import re

from farhand.channels.kit.markdown import read_markdown
from farhand.channels.kit.split import CODE, Span, Styled
from farhand.model.visible import without_controls

TEXT_CHARACTERS = 4096
MARKS = {"bold": "*", "italic": "_", "strike": "~", "code": "`"}
FENCE = "```"
_LINK = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)


def visible(text: str) -> str:
    """The text without what no phone shows."""
    return without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))


def styled(markdown: str) -> Styled:
    """An agent's Markdown as WhatsApp can show it."""
    return read_markdown(visible(markdown), lambda url: _LINK.match(url) is not None)


def to_marks(text: Styled) -> str:
    """The text with marks around what is styled; a style over several lines is on each of them."""
    code = [span for span in text.spans if span.kind in CODE]
    opens: dict[int, list[str]] = {}
    closes: dict[int, list[str]] = {}
    for span in _marked(text, code):
        before, after = _marks(text, span)
        opens.setdefault(span.start, []).append(before)
        closes.setdefault(span.end, []).insert(0, after)
    written: list[str] = []
    places = sorted({0, len(text.text), *opens, *closes})
    for place, following in zip(places, [*places[1:], len(text.text)], strict=True):
        written += [*closes.get(place, ()), *opens.get(place, ()), text.text[place:following]]
    return "".join(written)


def _marked(text: Styled, code: list[Span]) -> list[Span]:
    """The stretches that get marks, the outer ones first: nothing within code, and no style that ends in a space."""
    found: list[Span] = []
    for span in text.spans:
        within = any(one is not span and one.start < span.end and span.start < one.end for one in code)
        if span.kind in {"pre", "link"} and not (within and span.kind == "link"):
            found.append(span)
        elif span.kind in MARKS and (span.kind in CODE or not within):
            found += _lines(text.text, span)
    return sorted(found, key=lambda one: (one.start, -one.end))


def _lines(text: str, span: Span) -> list[Span]:
    """The span on each of its lines, without the space around it: a mark beside a space is none."""
    found: list[Span] = []
    for line in re.finditer(r"[^\n]+", text[span.start : span.end]):
        stretch = line.group()
        start = span.start + line.start() + len(stretch) - len(stretch.lstrip())
        end = span.start + line.start() + len(stretch.rstrip())
        if start < end:
            found.append(Span(kind=span.kind, start=start, end=end))
    return found


def _marks(text: Styled, span: Span) -> tuple[str, str]:
    if span.kind == "pre":
        return f"{FENCE}\n", f"\n{FENCE}" if not text.text[: span.end].endswith("\n") else FENCE
    if span.kind == "link":
        shown = text.text[span.start : span.end]
        return "", "" if shown == span.argument else f" ({span.argument})"
    return MARKS[span.kind], MARKS[span.kind]

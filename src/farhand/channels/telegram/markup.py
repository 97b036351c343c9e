"""Styled text as HTML that Telegram always accepts, and as plain text when it does not. Pure."""

import html
import re

from farhand.channels.kit.markdown import read_markdown
from farhand.channels.kit.split import CODE, Span, Styled, split
from farhand.model.visible import without_controls

TEXT_UNITS = 4096
TAGS = {"bold": "b", "italic": "i", "underline": "u", "strike": "s", "code": "code", "quote": "blockquote", "link": "a"}
# Telegram drops a link to any other host without a word, and the address with it.
LINK = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,4})?(?:[/?#][^\s<>\"]*)?\Z",
    re.IGNORECASE,
)


def keeps_link(url: str) -> bool:
    """Whether Telegram would keep this link."""
    return LINK.match(url) is not None


def visible(text: str) -> str:
    """The text without what Telegram would drop in silence."""
    return without_controls(text)


def styled(markdown: str) -> Styled:
    """An agent's Markdown as Telegram can show it."""
    return read_markdown(visible(markdown.replace("\r\n", "\n").replace("\r", "\n")), keeps_link)


def pages(text: Styled, limit: int = TEXT_UNITS) -> list[Styled]:
    """The text in as many messages as it needs."""
    return split(text, limit)


def to_html(text: Styled) -> str:
    """The text with Telegram's tags: well nested, nothing within code, no quote within a quote."""
    spans = _allowed(text)
    places = sorted({0, len(text.text), *(s.start for s in spans), *(s.end for s in spans)})
    starts: dict[int, list[Span]] = {}
    for span in sorted(spans, key=lambda one: (one.start, -one.end, one.kind in CODE)):
        starts.setdefault(span.start, []).append(span)
    written: list[str] = []
    stack: list[Span] = []
    for place, following in zip(places, [*places[1:], len(text.text)], strict=True):
        _close(written, stack, place)
        for span in starts.get(place, []):
            # A style that would outlive the one around it is closed with it and opened anew.
            written.append(_opening(span))
            stack.append(span)
        written.append(_escaped(text.text[place:following]))
    return "".join(written)


def _close(written: list[str], stack: list[Span], place: int) -> None:
    """Closes what ends here; what crosses it is closed too, and opened again."""
    reopened: list[Span] = []
    while any(span.end <= place for span in stack):
        top = stack.pop()
        written.append(_closing(top))
        if top.end > place:
            reopened.append(top)
    for span in reversed(reopened):
        written.append(_opening(span))
        stack.append(span)


def _escaped(text: str) -> str:
    return html.escape(visible(text), quote=False)


def _opening(span: Span) -> str:
    if span.kind == "pre":
        return f'<pre><code class="language-{html.escape(span.argument)}">' if span.argument else "<pre>"
    if span.kind == "link":
        return f'<a href="{html.escape(span.argument)}">'
    return f"<{TAGS[span.kind]}>"


def _closing(span: Span) -> str:
    if span.kind == "pre":
        return "</code></pre>" if span.argument else "</pre>"
    return f"</{TAGS[span.kind]}>"


def _allowed(text: Styled) -> list[Span]:
    """The spans that mean something to Telegram; code rules out all else where it stands."""
    seen = [
        span
        for span in text.spans
        if text.text[span.start : span.end].strip() and (span.kind in TAGS or span.kind == "pre")
    ]
    code: list[Span] = []
    for span in seen:
        if span.kind in CODE and not any(one.start < span.end and span.start < one.end for one in code):
            code.append(span)
    quotes: list[Span] = []
    for span in seen:
        if span.kind == "quote" and not any(one.start < span.end and span.start < one.end for one in quotes):
            quotes.append(span)
    rest = [
        span
        for span in seen
        if span.kind not in CODE
        and span.kind != "quote"
        and not any(one.start < span.end and span.start < one.end for one in code)
    ]
    return [*quotes, *code, *rest]

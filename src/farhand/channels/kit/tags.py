"""Files that a worker names in its answer, `[[image:/path|caption]]` and `[[file:/path|caption]]`. Pure."""

import html
import re
import sys
from bisect import bisect_right
from collections.abc import Sequence

from farhand.channels.kit.card import Card
from farhand.model.words import Attachment, Word, replace

# A path or a caption does not reach over the beginning of another tag: a text full of them is read in one pass.
_TAG = re.compile(
    r"(?<!\\)\[\[(image|file):((?:(?!\[\[(?:image|file):)[^|\n])+?)"
    r"(?:\|((?:(?!\[\[(?:image|file):)[^\n])*?))?\]\]"
)
_ESCAPED = re.compile(r"\\(?=\[\[(?:image|file):)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TICKS = re.compile(r"`+")
_HTML_CODE = re.compile(r"<(pre|code)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_GAP = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


class NamedFile(Word):
    """A file that was named, and as what it is to be shown."""

    path: str
    caption: str = ""
    picture: bool = True


def take_tags(text: str, *, is_html: bool = False) -> tuple[str, tuple[NamedFile, ...]]:
    """The text without its tags, and the files they name. What stands in code or behind a backslash is only text."""
    code = _code(text, is_html=is_html)
    named: list[NamedFile] = []

    def replaced(found: re.Match[str]) -> str:
        if _within(code, found.start()):
            return found.group(0)
        path, caption = found.group(2).strip(), (found.group(3) or "").strip()
        if is_html:
            path, caption = html.unescape(path), html.unescape(caption)
        named.append(NamedFile(path=path, caption=caption, picture=found.group(1) == "image"))
        return ""

    rest = _TAG.sub(replaced, text)
    return (_GAP.sub("\n\n", rest).strip() if named else text), tuple(named)


def _code(text: str, *, is_html: bool) -> list[tuple[int, int]]:
    """The stretches of code: sorted, and none within another."""
    fences = [found.span() for found in _FENCE.finditer(text)]
    spans = fences + [span for span in _inline(text) if not _within(fences, span[0])]
    if is_html:
        spans += [found.span() for found in _HTML_CODE.finditer(text)]
    outer: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if outer and start < outer[-1][1]:
            outer[-1] = (outer[-1][0], max(end, outer[-1][1]))
        else:
            outer.append((start, end))
    return outer


def _within(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether the place is in one of the spans, which are sorted."""
    before = bisect_right(spans, (place, sys.maxsize)) - 1
    return before >= 0 and place < spans[before][1]


def _inline(text: str) -> list[tuple[int, int]]:
    """What stands between two runs of as many backticks, with something between them."""
    runs = [found.span() for found in _TICKS.finditer(text)]
    following: dict[int, int] = {}
    closes = [-1] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        start, end = runs[place]
        closes[place] = following.get(end - start, -1)
        following[end - start] = place
    found, place = [], 0
    while place < len(runs):
        if closes[place] < 0:
            place += 1
            continue
        found.append((runs[place][0], runs[closes[place]][1]))
        place = closes[place] + 1
    return found


def split_off_files(card: Card) -> list[Card]:
    """The card without the tags in it, then one card for each file."""
    if not (card.markdown or card.html):
        return [card]
    is_html = bool(card.html)
    text, named = take_tags(card.html or card.markdown, is_html=is_html)
    files = [
        Card(
            key=f"{card.key}:file{number}",
            worker=card.worker,
            file=Attachment(path=one.path, caption=one.caption),
            picture=one.picture,
        )
        for number, one in enumerate(named)
    ]
    if named and not text and not card.foot:
        return files
    if is_html:
        return [replace(card, html=text), *files]
    # Markdown would take the backslash of an escaped tag for its own.
    return [replace(card, markdown=_ESCAPED.sub(r"\\\\", text)), *files]

"""Files that a worker names in its answer, `[[image:/path|caption]]` and `[[file:/path|caption]]`. Pure."""

import html
import re

from farhand.channels.kit.card import Card
from farhand.model.words import Attachment, Word, replace

_TAG = re.compile(r"(?<!\\)\[\[(image|file):([^|\n]+?)(?:\|([^\n]*?))?\]\]")
_ESCAPED = re.compile(r"\\(?=\[\[(?:image|file):)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_HTML_CODE = re.compile(r"<(pre|code)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
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
        if any(start <= found.start() < end for start, end in code):
            return found.group(0)
        path, caption = found.group(2).strip(), (found.group(3) or "").strip()
        if is_html:
            path, caption = html.unescape(path), html.unescape(caption)
        named.append(NamedFile(path=path, caption=caption, picture=found.group(1) == "image"))
        return ""

    rest = _TAG.sub(replaced, text)
    return (_GAP.sub("\n\n", rest).strip() if named else text), tuple(named)


def _code(text: str, *, is_html: bool) -> list[tuple[int, int]]:
    fences = [found.span() for found in _FENCE.finditer(text)]
    inline = (found.span() for found in _INLINE.finditer(text))
    spans = fences + [span for span in inline if not any(start <= span[0] < end for start, end in fences)]
    if is_html:
        spans += [found.span() for found in _HTML_CODE.finditer(text)]
    return spans


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

"""Cuts long text for a surface's limit, counted in UTF-16 units of what is shown. Pure.

Never inside a tag, an entity or a glyph; a block that must be cut is closed and opened again."""

import html
import re
import unicodedata
from typing import NamedTuple

_TOKEN = re.compile(r"<[^<>]*>|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});|[^<&]+|[<&]", re.DOTALL)
_NAME = re.compile(r"</?\s*([a-zA-Z0-9-]+)")
_JOINER = "\u200d"
# A glyph is kept whole up to so many code points; what is longer is no glyph but an attack.
_LONGEST_GLYPH = 16


def utf16_length(text: str) -> int:
    """How long a surface counts the text: two units for everything beyond the basic plane."""
    return len(text) + sum(character > "\uffff" for character in text)


class _Piece(NamedTuple):
    """One shown character with its markup, or a tag, which is not shown."""

    markup: str
    shown: str
    width: int


def split_plain(text: str, limit: int) -> list[str]:
    """Text without markup, in parts of at most `limit` units."""
    return _split([_Piece(character, character, utf16_length(character)) for character in text], limit)


def split_html(text: str, limit: int) -> list[str]:
    """HTML in parts whose shown text has at most `limit` units; tags that are open at a cut go on after it."""
    return _split(_pieces(text), limit)


def shown(text: str) -> str:
    """What a person sees of the HTML."""
    tokens = _TOKEN.findall(text)
    return "".join("" if len(one) > 1 and one[0] == "<" else html.unescape(one) for one in tokens)


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    for token in _TOKEN.findall(text):
        if token.startswith("<") and len(token) > 1:
            pieces.append(_Piece(token, "", 0))
        elif token.startswith("&") and len(token) > 1:
            character = html.unescape(token)
            pieces.append(_Piece(token, character, utf16_length(character)))
        else:
            pieces.extend(_Piece(character, character, utf16_length(character)) for character in token)
    return pieces


def _split(pieces: list[_Piece], limit: int) -> list[str]:
    if limit < 2:
        raise ValueError("a part holds at least two units")
    parts: list[str] = []
    open_tags: list[str] = []
    start = 0
    while start < len(pieces):
        stop = _stop(pieces, start, limit)
        if stop < len(pieces):
            stop = _best_cut(pieces, start, stop, limit)
        before = list(open_tags)
        for piece in pieces[start:stop]:
            _note(open_tags, piece)
        inside_block = any(_name(tag) == "pre" for tag in open_tags)
        part = _part(before, pieces[start:stop], open_tags, last=stop >= len(pieces))
        if part:
            parts.append(part)
        start = _skip_blank(pieces, stop, inside_block=inside_block)
    return parts


def _stop(pieces: list[_Piece], start: int, limit: int) -> int:
    """The first piece that does not fit any more."""
    used = 0
    for index in range(start, len(pieces)):
        used += pieces[index].width
        if used > limit:
            return index
    return len(pieces)


def _best_cut(pieces: list[_Piece], start: int, stop: int, limit: int) -> int:
    """A blank line, then a line's end, then a space, each only past the half; else as late as a glyph allows."""
    half = _stop(pieces, start, limit // 2)
    for ending in ("\n\n", "\n", " "):
        cut = _last(pieces, half, stop, ending)
        if cut is not None:
            return cut
    cut = stop
    while cut > start + 1 and stop - cut < _LONGEST_GLYPH and _belongs_together(pieces, cut):
        cut -= 1
    if stop - cut >= _LONGEST_GLYPH:
        cut = stop
    return max(cut, start + 1)


def _last(pieces: list[_Piece], half: int, stop: int, ending: str) -> int | None:
    """The cut after the last such ending in the second half; the ending itself may stand right after the cut."""
    for index in range(min(stop, len(pieces) - 1), half, -1):
        if pieces[index].shown == ending[-1] and (len(ending) == 1 or _shown_before(pieces, index) == "\n"):
            return index
    return None


def _shown_before(pieces: list[_Piece], index: int) -> str:
    for piece in reversed(pieces[max(0, index - 4) : index]):
        if piece.shown:
            return piece.shown
    return ""


def _belongs_together(pieces: list[_Piece], cut: int) -> bool:
    """Whether the character after the cut continues the glyph before it."""
    after, before = pieces[cut].shown, pieces[cut - 1].shown
    if not after or not before:
        return False
    return (
        _continues(after[0]) or before[-1] == _JOINER or ("\U0001f1e6" <= after[0] <= "\U0001f1ff" and before == after)
    )


def _continues(character: str) -> bool:
    return (
        character == _JOINER
        or unicodedata.combining(character) != 0
        or "\ufe00" <= character <= "\ufe0f"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _skip_blank(pieces: list[_Piece], start: int, *, inside_block: bool) -> int:
    """Drops the white space at a cut: all of it in prose, one line's end inside a block, whose indents matter."""
    if inside_block:
        return start + 1 if start < len(pieces) and pieces[start].shown == "\n" else start
    while start < len(pieces) and pieces[start].shown.isspace():
        start += 1
    return start


def _name(tag: str) -> str:
    found = _NAME.match(tag)
    return found.group(1).lower() if found else ""


def _note(open_tags: list[str], piece: _Piece) -> None:
    """Keeps account of the tags that are open."""
    if piece.width or not piece.markup.startswith("<"):
        return
    name = _name(piece.markup)
    if piece.markup.startswith("</"):
        for index in range(len(open_tags) - 1, -1, -1):
            if _name(open_tags[index]) == name:
                del open_tags[index]
                break
    elif name and not piece.markup.endswith("/>"):
        open_tags.append(piece.markup)


def _part(before: list[str], pieces: list[_Piece], after: list[str], *, last: bool) -> str:
    if not any(piece.shown.strip() for piece in pieces):
        return ""
    body = "".join(piece.markup for piece in pieces)
    closing = "".join(f"</{_name(tag)}>" for tag in reversed(after))
    return "".join(before) + (body if last and not after else body.rstrip()) + closing

"""Text with styles, and how it is cut for a surface's limit: counted on what people see. Pure."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

from farhand.model.split import utf16_length
from farhand.model.words import Word, replace

Measure: TypeAlias = Callable[[str], int]
# Styles whose white space has meaning, and which nothing else can be within.
CODE = frozenset({"pre", "code"})
JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


class Span(Word):
    """A styled stretch of a text, by its characters: bold, italic, underline, strike, code, pre, link or quote."""

    kind: str
    start: int
    end: int
    # A link's address, or the language of a code block.
    argument: str = ""


class Styled(Word):
    """A text as people see it, and how it is styled."""

    text: str
    spans: tuple[Span, ...] = ()


def joined(parts: list[Styled]) -> Styled:
    """The parts one after the other as one text."""
    texts: list[str] = []
    spans: list[Span] = []
    length = 0
    for part in parts:
        spans += [replace(span, start=span.start + length, end=span.end + length) for span in part.spans]
        texts.append(part.text)
        length += len(part.text)
    return Styled(text="".join(texts), spans=tuple(spans))


def cut(styled: Styled, start: int, end: int) -> Styled:
    """A piece of the text with the styles that are on it."""
    spans = (
        replace(span, start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in styled.spans
        if max(span.start, start) < min(span.end, end)
    )
    return Styled(text=styled.text[start:end], spans=tuple(spans))


def split(styled: Styled, limit: int, measure: Measure = utf16_length) -> list[Styled]:
    """The text in pieces that fit the limit. Cuts at a blank line, a line's end, a space; through a word as a last
    resort. Space around a cut is dropped, within code only the line's end."""
    pieces: list[Styled] = []
    start, whole = 0, len(styled.text)
    while start < whole:
        end = _furthest(styled.text, start, limit, measure)
        if end < whole:
            end = _best_cut(styled, start, end)
        piece = _trimmed(styled, start, end)
        if piece.text.strip():
            pieces.append(piece)
        start = _next_start(styled, end)
    return pieces


def _furthest(text: str, start: int, limit: int, measure: Measure) -> int:
    """The last place up to which the text fits."""
    end = min(len(text), start + limit)
    while measure(text[start:end]) > limit:
        # A character counts for two at most, so this converges on the limit from above.
        end -= max(1, (measure(text[start:end]) - limit) // 2)
    return max(end, start + 1)


def _best_cut(styled: Styled, start: int, end: int) -> int:
    half = start + (end - start) // 2
    fences = [span for span in styled.spans if span.kind in CODE and span.start < end and span.end > half]

    def within_code(place: int) -> bool:
        return any(span.start < place < span.end for span in fences)

    for mark in ("\n\n", "\n"):
        place = styled.text.rfind(mark, half, end)
        while place > half:
            if not within_code(place):
                return place
            place = styled.text.rfind(mark, half, place)
    for mark in ("\n\n", "\n", " "):
        place = styled.text.rfind(mark, half, end)
        if place > half:
            return place
    return _whole_character(styled.text, half, end)


def _whole_character(text: str, half: int, end: int) -> int:
    """A place that does not part an emoji or a letter from what belongs to it."""
    place = end
    while place > half and (
        text[place] in JOINERS
        or text[place - 1] == "\u200d"
        or unicodedata.combining(text[place])
        or "\U0001f3fb" <= text[place] <= "\U0001f3ff"
    ):
        place -= 1
    return place if place > half else end


def _trimmed(styled: Styled, start: int, end: int) -> Styled:
    piece = styled.text[start:end]
    in_code = any(span.kind in CODE and span.start < end <= span.end for span in styled.spans)
    stripped = piece.rstrip("\n" if in_code else " \t\n")
    return cut(styled, start, start + len(stripped))


def _next_start(styled: Styled, end: int) -> int:
    in_code = any(span.kind in CODE and span.start < end < span.end for span in styled.spans)
    place = end
    if in_code:
        return place + 1 if styled.text[place : place + 1] == "\n" else place
    while place < len(styled.text) and styled.text[place] in " \t\n":
        if any(span.kind in CODE and span.start <= place < span.end for span in styled.spans):
            break
        place += 1
    return place

"""A line being typed, and text fitted to the width of a terminal. Pure."""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

_KEY = re.compile(r"\x1b\[[0-9;?]*[@-~]|\x1bO[A-Za-z]|\x1b[\r\n]|\x1b(?=[^\[O])|[^\x1b]")
_INDENT = re.compile(r" *(?:\d{1,3}\. )?")
_STYLE_CODE = re.compile(r"\x1b\[[0-9;]*m")
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_LEFT = {"\x1b[D", "\x1bOD", "\x02"}
_RIGHT = {"\x1b[C", "\x1bOC", "\x06"}
_UP = {"\x1b[A", "\x1bOA", "\x10"}
_DOWN = {"\x1b[B", "\x1bOB", "\x0e"}
_HOME = {"\x1b[H", "\x1bOH", "\x1b[1~", "\x01"}
_END = {"\x1b[F", "\x1bOF", "\x1b[4~", "\x05"}
REMEMBERED = 100


@dataclass(frozen=True)
class LineEditor:
    """What is typed so far, where the cursor is, and the lines that were typed before."""

    text: str = ""
    place: int = 0
    before: tuple[str, ...] = ()
    # How many lines back in what was typed before; 0 is the line itself.
    back: int = 0
    # What was typed when one went back.
    draft: str = ""
    pasting: bool = False


def keys(pending: str) -> tuple[list[str], str]:
    """The whole keys in what came from the keyboard, and the beginning of one that is still to come."""
    found: list[str] = []
    place = 0
    while match := _KEY.match(pending, place):
        found.append(match.group())
        place = match.end()
    return found, pending[place:]


def press(typing: LineEditor, key: str) -> LineEditor:
    """The line after a key that only changes it. Enter and leaving are the caller's."""
    if key in (_PASTE_BEGINS, _PASTE_ENDS):
        return replace(typing, pasting=key == _PASTE_BEGINS)
    if typing.pasting:
        return _insert(typing, "\n" if key == "\r" else key)
    if key in _LEFT | _RIGHT | _HOME | _END:
        return replace(typing, place=_moved(typing, key))
    if key in _UP | _DOWN:
        return _recalled(typing, typing.back + (1 if key in _UP else -1))
    match key:
        case "\x1b\r" | "\x1b\n":
            # Alt-Enter.
            return _insert(typing, "\n")
        case "\x7f" | "\x08":
            return _cut(typing, max(0, typing.place - 1), typing.place)
        case "\x1b[3~" | "\x04":
            return _cut(typing, typing.place, typing.place + 1)
        case "\x15":
            return _cut(typing, 0, typing.place)
        case "\x0b":
            return _cut(typing, typing.place, len(typing.text))
        case "\x17":
            words = typing.text[: typing.place].rstrip().rpartition(" ")
            return _cut(typing, len(words[0] + words[1]), typing.place)
        case _:
            return _insert(typing, key) if key.isprintable() else typing


def completed(typing: LineEditor, candidates: Sequence[str]) -> LineEditor:
    """The line after Tab: the word before the cursor as far as all candidates that begin so agree."""
    word = word_before(typing)
    fitting = _fitting(word, candidates)
    common = _shared_beginning(fitting)
    if not word or len(common) <= len(word):
        return typing
    done = f"{common} " if len(fitting) == 1 and not common.endswith("/") else common
    return _insert(_cut(typing, typing.place - len(word), typing.place), done)


def offered(typing: LineEditor, candidates: Sequence[str]) -> list[str]:
    """What Tab could complete the word to, where it cannot tell which is meant."""
    word = word_before(typing)
    fitting = _fitting(word, candidates)
    return fitting if word and len(fitting) > 1 and len(_shared_beginning(fitting)) <= len(word) else []


def word_before(typing: LineEditor) -> str:
    """The word that the cursor is at the end of."""
    start = max(typing.text.rfind(" ", 0, typing.place), typing.text.rfind("\n", 0, typing.place)) + 1
    return typing.text[start : typing.place]


def _fitting(word: str, candidates: Sequence[str]) -> list[str]:
    return [one for one in candidates if one.startswith(word) and one != word]


def _shared_beginning(words: Sequence[str]) -> str:
    """The letters with which all of them begin."""
    letters = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))
    return "".join(column[0] for column in letters)


def entered(typing: LineEditor) -> LineEditor:
    """An empty line that remembers the one that was handed over."""
    lines = typing.before
    if typing.text.strip() and typing.text not in lines[-1:]:
        lines = (*lines, typing.text)[-REMEMBERED:]
    return LineEditor(before=lines)


def _insert(typing: LineEditor, text: str) -> LineEditor:
    whole = typing.text[: typing.place] + text + typing.text[typing.place :]
    return replace(typing, text=whole, place=typing.place + len(text))


def _cut(typing: LineEditor, start: int, end: int) -> LineEditor:
    return replace(typing, text=typing.text[:start] + typing.text[end:], place=start)


def _moved(typing: LineEditor, key: str) -> int:
    if key in _HOME:
        return 0
    if key in _END:
        return len(typing.text)
    return min(len(typing.text), max(0, typing.place + (1 if key in _RIGHT else -1)))


def _recalled(typing: LineEditor, back: int) -> LineEditor:
    back = min(len(typing.before), max(0, back))
    if back == typing.back:
        return typing
    draft = typing.draft if typing.back else typing.text
    text = typing.before[-back] if back else draft
    return replace(typing, text=text, place=len(text), back=back, draft=draft)


# --- what fits


def width(text: str) -> int:
    """How many columns a text takes."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def on_one_row(text: str) -> str:
    """The text on one row: what would move the cursor is shown instead of obeyed."""
    spaced = text.replace("\n", "⏎").replace("\t", " ")
    return "".join(character if unicodedata.category(character) != "Cc" else "·" for character in spaced)


def rows(text: str, columns: int) -> list[str]:
    """One line of text cut into rows, between words where it can be; what follows keeps the line's indent, and stands
    under the words of a numbered one."""
    begins = _INDENT.match(text)
    hang = min(begins.end() if begins else 0, columns // 2)
    pieces = (text[start:end] for start, end in cuts(text, columns, hang))
    return [f"{' ' * hang if number else ''}{piece}" for number, piece in enumerate(pieces)]


def cuts(text: str, columns: int, hang: int = 0, *, words: bool = True) -> list[tuple[int, int]]:
    """Where one line of text is cut into rows, of which all but the first have `hang` columns less.

    Between words where it can be; the blanks there belong to no row."""
    found: list[tuple[int, int]] = []
    place = 0
    while width(rest := text[place:]) > (room := columns - (hang if found else 0)):
        end = fitting(rest, room)
        space = rest.rfind(" ", 0, end + 1) if words else -1
        # A space that only indents the line is no place for a cut.
        cut = space if rest[: max(space, 0)].strip() else end
        found.append((place, place + (len(rest[:cut].rstrip()) if words else cut)))
        place += cut + (len(rest[cut:]) - len(rest[cut:].lstrip(" ")) if words else 0)
    return [*found, (place, len(text))]


def without_codes(text: str) -> str:
    """The text without the codes that style it."""
    return _STYLE_CODE.sub("", text)


def fitting(text: str, columns: int) -> int:
    """How many characters fit into so many columns; one at least."""
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return max(1, place)
    return len(text)


def window(text: str, place: int, columns: int) -> tuple[str, int]:
    """The part of a typed line around the cursor that fits, and the cursor's column in it."""
    shown = on_one_row(text)
    start = 0
    while width(shown[start:place]) >= columns:
        start += max(1, columns // 2)
        start = min(start, place)
    rest = shown[start:]
    return rest[: fitting(rest, columns)] if rest else "", width(shown[start:place])

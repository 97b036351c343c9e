"""Which characters an eye cannot see or cannot tell apart: shown as their code, or taken out. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Format (bidirectional and zero-width among them), control, private, surrogate, unassigned, line and paragraph ends.
from farhand.model.lazy_pattern import lazy_pattern

_HIDDEN: Final = frozenset({"Cf", "Cc", "Co", "Cs", "Cn", "Zl", "Zp"})
# Blank to the eye, though Unicode calls them letters, marks or symbols: what is Default_Ignorable and of no category
# above (fillers of Hangul, joiners, vowels of Khmer, selectors of Mongolian, variation selectors), and blank Braille.
_BLANK_RANGES: Final = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
_BLANK: Final = frozenset(chr(one) for first, last in _BLANK_RANGES for one in range(first, last + 1))
# What is text, though it is a control character: line ends and tabs.
_TEXT: Final = "\n\t "
CONTROLS: Final = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
TERMINAL_CONTROLS: Final = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Blanks enough to push what follows out of sight: across, or down.
_LONG_BLANKS: Final = lazy_pattern(r"[ \t]{24,}|\n(?:[ \t]*\n){4,}")
# A word of Latin letters with one of these in it reads as another word. Those that Unicode itself makes ASCII of
# (fullwidth and mathematical letters, Roman numerals, the Kelvin sign) are found by their decomposition.
_LOOKALIKES: Final = frozenset(
    "аеорсухіјѕԁһԛԝӏѵүԌАВЕКМНОРСТУХІЈЅӀѴҮԚԜαοιυνρκϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϜօոսհցզյՕՍɑɡıɩǀǃᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ"
    "∕⁄⧸⟋∖⧵․‐‑−٭∗∼∣∶꞉˸：；＂＇｀＄＆｜＜＞（）"
)
_ASCII_BY: Final = frozenset(("", "<font>", "<wide>", "<narrow>", "<small>", "<compat>"))
_WORD: Final = lazy_pattern(r"[^\s]+")
_CODE: Final = lazy_pattern(r"‹U\+[0-9A-F]{4,6}›")
_TAG: Final = lazy_pattern(r"(?:<\w+>)?")
_LETTERS: Final = lazy_pattern(r"[^\W\d_]+")
_LATIN: Final = lazy_pattern(r"[A-Za-z0-9]")


def visible(text: str) -> str:
    """The text as it should be shown to somebody who is about to allow it.

    Hidden characters, spaces other than the ordinary one and letters that pass for Latin ones stand as `‹U+202E›`,
    long blanks as `‹40 blanks›`. Done twice, it changes nothing more."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(_code(one) if _to_spell_out(one) else one for one in text)
        text = _WORD.sub(lambda word: _told_apart(word[0]), text)
    return _LONG_BLANKS.sub(_counted, text)


def is_hidden(character: str) -> bool:
    """Whether nobody can see it, though it may change what they see. Line ends, tabs and spaces are no such thing."""
    if character in _TEXT:
        return False
    return unicodedata.category(character) in _HIDDEN or character in _BLANK


def without_controls(text: str) -> str:
    """The text without ASCII control characters; line ends and tabs stay."""
    return CONTROLS.sub("", text)


def for_terminal(text: str) -> str:
    """The text without what a terminal would take for an order: an agent's words must not move its cursor."""
    return TERMINAL_CONTROLS.sub("", text)


def _to_spell_out(character: str) -> bool:
    return character != " " and (is_hidden(character) or unicodedata.category(character) == "Zs")


def _code(character: str) -> str:
    return f"‹U+{ord(character):04X}›"


def _told_apart(word: str) -> str:
    """The word, with each sign and letter that passes for one of ASCII spelled out where there is ASCII beside it.

    Letters among those of their own script, as in `файл.txt`, are what they seem."""
    if word.isascii() or not _LATIN.search(_CODE.sub("", word)):
        return word
    own = {place for run in _LETTERS.finditer(word) if _is_foreign(run[0]) for place in range(*run.span())}
    return "".join(_code(one) if _passes(one) and place not in own else one for place, one in enumerate(word))


def _is_foreign(letters: str) -> bool:
    """Whether some of these letters cannot be taken for Latin ones, and none of them is one."""
    others = [one for one in letters if not _passes(one)]
    return bool(others) and not any(unicodedata.name(one, "").startswith("LATIN ") for one in others)


def _passes(character: str) -> bool:
    """Whether it is taken for an ASCII character that it is not."""
    if character.isascii() or character in _LOOKALIKES:
        return not character.isascii()
    same, how = unicodedata.normalize("NFKC", character), _TAG.match(unicodedata.decomposition(character))
    return len(same) == 1 and same.isascii() and how is not None and how[0] in _ASCII_BY


def _counted(blanks: re.Match[str]) -> str:
    lines = blanks[0].count("\n")
    return f"\n‹{lines - 1} empty lines›\n" if lines else f" ‹{len(blanks[0])} blanks› "

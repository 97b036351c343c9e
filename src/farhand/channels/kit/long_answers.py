"""Answers too long for a chat: their beginning as text and the whole as a file, within limits. Pure."""

import re
from dataclasses import dataclass

from farhand.channels.kit.card import Card
from farhand.channels.kit.tags import split_off_files
from farhand.model.split import shown, split_html
from farhand.model.words import Attachment, replace

# How much of a long answer is text in the chat: it fits one message.
BEGINNING_CHARACTERS = 3000
_UNFINISHED = re.compile(r"(?:<[^<>]*|&[^;\s<>&]{0,32})\Z")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)


@dataclass(frozen=True)
class AnswerLimits:
    """How much of one answer goes to a chat, and how."""

    # An answer of more characters goes as its beginning and a file.
    characters: int = 16_000
    # What is longer is cut, in the file, too.
    most_characters: int = 1_000_000
    # How many files that one answer names are sent.
    files: int = 10


def answer_cards(card: Card, limits: AnswerLimits | None) -> list[Card]:
    """The card as a chat can take it: the files it names split off, a long text as its beginning and a file."""
    if limits is None or not (card.markdown or card.html):
        return split_off_files(card)
    first, *files = split_off_files(_cut(card, limits.most_characters))
    if first.file is not None:
        first, files = Card(key=""), [first, *files]
    text = _as_beginning_and_file(first, limits.characters) if first.key else []
    return [*text, *files[: limits.files], *_left_out(card, files[limits.files :])]


def _cut(card: Card, most: int) -> Card:
    """The card with no more text than that; what was cut is told where it ends."""
    length = len(card.html or card.markdown)
    if length <= most:
        return card
    note = f"\n\n… cut here: the answer has {length:,} characters. The rest stands in the agent's own conversation."
    if card.html:
        return replace(card, html=_UNFINISHED.sub("", card.html[:most]) + note)
    return replace(card, markdown=closed(card.markdown[:most]) + note)


def _as_beginning_and_file(card: Card, most: int) -> list[Card]:
    text = card.html or card.markdown
    if len(text) <= most:
        return [card]
    whole = shown(text) if card.html else text
    name = f"{card.worker or 'farhand'}-answer.md"
    note = f"… {len(whole):,} characters in all: the whole answer is in {name}, below."
    if card.html:
        begins = _UNFINISHED.sub("", text[: 3 * BEGINNING_CHARACTERS])
        first = replace(card, html=f"{split_html(begins, BEGINNING_CHARACTERS)[0]}\n\n{note}")
    else:
        foot = f"{note}\n{card.foot}" if card.foot else note
        first = replace(card, markdown=closed(beginning(text, BEGINNING_CHARACTERS)), foot=foot)
    file = Attachment(path=name, name=name, caption="the whole answer")
    key = f"{card.key}:whole"
    return [first, Card(key=key, worker=card.worker, file=file, content=whole, picture=False, silent=True)]


def beginning(text: str, most: int) -> str:
    """The text up to a blank line, a line's end or a space before that many characters, past the half."""
    piece = text[:most]
    for end in ("\n\n", "\n", " "):
        place = piece.rfind(end)
        if place > most // 2:
            return piece[:place].rstrip()
    return piece


def closed(markdown: str) -> str:
    """The Markdown with the block of code that is open at its end closed."""
    fence = ""
    for found in _FENCE.finditer(markdown):
        marks = found.group(1)
        if not fence:
            fence = marks
        elif marks[0] == fence[0] and len(marks) >= len(fence):
            fence = ""
    return f"{markdown}\n{fence}" if fence else markdown


def _left_out(card: Card, files: list[Card]) -> list[Card]:
    if not files:
        return []
    names = ", ".join(one.file.path for one in files if one.file)
    head = f"{card.worker} named {len(files)} files more than are sent of one answer: {names[:1000]}"
    return [Card(key=f"{card.key}:files", worker=card.worker, head=head, silent=True)]

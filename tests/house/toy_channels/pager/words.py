"""What a pager shows and what is done there: cards become lines, posts become messages and taps. Pure."""

from __future__ import annotations

import msgspec

from farhand.channels.kit.card import Card
from farhand.channels.kit.surface import ChatMessage, ChatTap
from farhand.channels.kit.tap_data import tap_data
from farhand.model.store_ports import Parcel
from farhand.model.words import Word


class PagerButton(Word):
    label: str
    data: str


class PagerLine(Word):
    """One line of the screen's file: a message, another text for the message of its slot, or its end."""

    chat: str
    slot: str
    text: str
    buttons: tuple[PagerButton, ...] = ()
    silent: bool = False
    remove: bool = False


class PagerPost(msgspec.Struct):
    """What somebody posts: a text, or a tap with what the button carried."""

    id: str
    pager: str
    text: str = ""
    tap: str = ""


def parse(post: PagerPost) -> ChatMessage | ChatTap:
    if post.tap:
        return ChatTap(id=post.id, chat=post.pager, data=post.tap, who=post.pager)
    return ChatMessage(id=post.id, chat=post.pager, text=post.text, who=post.pager)


def render(card: Card, chat: str) -> list[Parcel]:
    if card.reaction or card.file:
        return []
    parts = (card.head, card.markdown, card.html, card.verbatim, card.foot)
    line = PagerLine(
        chat=chat,
        slot=card.slot or card.key,
        text="\n".join(part for part in parts if part),
        buttons=tuple(PagerButton(label=one.label, data=tap_data(one.tap)) for row in card.buttons for one in row),
        silent=card.silent,
        remove=card.remove,
    )
    return [Parcel(key=card.key, chat=chat, body=msgspec.json.encode(line), slot=card.slot, edit=card.edit)]


def screen(lines: list[PagerLine]) -> list[PagerLine]:
    """What is on the screen after these lines."""
    shown: dict[str, PagerLine] = {}
    for line in lines:
        if line.remove:
            shown.pop(line.slot, None)
        else:
            shown[line.slot] = line
    return list(shown.values())

"""Lays cards out for Telegram: its markup, its limits, its buttons. Pure."""

from pathlib import PurePath

from farhand.channels.kit.card import Card
from farhand.channels.kit.sendable_files import IMAGES
from farhand.channels.kit.split import Span, Styled, joined, split
from farhand.channels.kit.tap_data import tap_data
from farhand.channels.telegram.markup import TEXT_UNITS, pages, styled, to_html, visible
from farhand.channels.telegram.parse import message_place
from farhand.channels.telegram.words import Amend, Disarm, Key, Outgoing, Post, React, Remove, Show, encode_outgoing
from farhand.model.split import shown as shown_of
from farhand.model.split import split_html, utf16_length
from farhand.model.store_ports import Parcel
from farhand.model.words import Attachment

CAPTION_UNITS = 1024
LABEL_CHARACTERS = 64
# Kept free on every page for the worker's name and its markup.
PREFIX_UNITS = 30
# A question with more to read than this comes with the whole as a file, and its buttons stay in sight.
MOST_VERBATIM = 3000
# Stands where there is nothing to show, for Telegram takes no empty message.
NOTHING = Styled(text="·")


def render(card: Card, chat: int, via: str, bot: str) -> list[Parcel]:
    """The parcels that show a card in a chat, one for each page."""
    if card.reaction:
        place = message_place(card.answers or "", via, bot)
        return [_parcel(card, React(chat=place[0], message=place[1], emoji=card.reaction))] if place else []
    if card.remove:
        return [_parcel(card, Remove(chat=chat, slot=card.slot))]
    if card.disarm:
        return [_parcel(card, Disarm(chat=chat, slot=card.slot))]
    if card.file is not None:
        return [_parcel(card, _show(card, card.file, chat))]
    if len(card.verbatim) > MOST_VERBATIM and not card.edit:
        return [_whole(card, chat), *_posts(card, chat, via, bot)]
    if card.edit:
        return [_parcel(card, _amend(card, chat))]
    return _posts(card, chat, via, bot)


def _is_prefixed(card: Card) -> bool:
    """Whether the worker itself speaks, so that its name stands before every page; a head may begin with it already."""
    named = bool(card.head) and card.head.startswith(card.worker)
    return bool(card.worker) and not named and bool(card.html or card.markdown or (card.foot and not card.head))


def body(card: Card) -> Styled:
    """All that a card says, styled, with the name of the worker that says it."""
    prefix = [_bold(f"{card.worker}:"), Styled(text="\n")] if _is_prefixed(card) else []
    return joined([*prefix, _content(card)])


def _content(card: Card) -> Styled:
    parts: list[Styled] = []
    if card.head:
        parts.append(_head(card))
    if card.markdown:
        parts.append(styled(card.markdown))
    if verbatim := shortened_verbatim(card):
        parts.append(Styled(text=verbatim, spans=(Span(kind="pre", start=0, end=len(verbatim)),)))
    if card.foot:
        parts.append(Styled(text=visible(card.foot)))
    lined: list[Styled] = []
    for part in parts:
        lined += [Styled(text="\n"), part] if lined else [part]
    return joined([part for part in lined if part.text])


def shortened_verbatim(card: Card) -> str:
    """What is shown letter by letter: its beginning and its end, when the whole went before as a file."""
    text = visible(card.verbatim)
    if len(text) <= MOST_VERBATIM:
        return text
    half = MOST_VERBATIM // 3
    left_out = f"\n… {len(text) - 2 * half:,} characters more: all of it is in {whole_name(card)} …\n"
    return text[:half] + left_out + text[-half:]


def whole_name(card: Card) -> str:
    """The name of the file that has the whole of a long text."""
    return f"{card.worker or 'farhand'}-asks.txt"


def _whole(card: Card, chat: int) -> Parcel:
    file = Attachment(path=whole_name(card), name=whole_name(card))
    text = visible(card.verbatim)
    show = Show(chat=chat, file=file, text=text, caption="", photo=False, silent=True, topic=card.topic)
    return Parcel(key=f"{card.key}#whole", chat=str(chat), body=encode_outgoing(show))


def _bold(text: str) -> Styled:
    return Styled(text=text, spans=(Span(kind="bold", start=0, end=len(text)),))


def _head(card: Card) -> Styled:
    """Our own words, with the worker's name in bold where they begin with it."""
    head = visible(card.head)
    if card.worker and head.startswith(card.worker):
        return joined([_bold(card.worker), Styled(text=head[len(card.worker) :])])
    return Styled(text=head)


def _keys(card: Card) -> tuple[tuple[Key, ...], ...]:
    return tuple(
        tuple(Key(text=button.label[:LABEL_CHARACTERS] or "·", data=tap_data(button.tap)) for button in row)
        for row in card.buttons
    )


def _pages(card: Card) -> list[tuple[str, str]]:
    """What a card says as HTML and as plain text, in pages that fit; text without any style has no HTML."""
    if not _is_prefixed(card):
        shown = pages(_content(card)) or [NOTHING]
        return [(to_html(page) if page.spans else "", page.text) for page in shown]
    limit = TEXT_UNITS - len(card.worker) - PREFIX_UNITS
    if card.html:
        parts = [(part, shown_of(part)) for part in split_html(card.html, limit)]
    else:
        parts = [(to_html(page), page.text) for page in pages(_content(card), limit)]
    bold, plain = to_html(_bold(f"{card.worker}:")), f"{card.worker}:"
    return [(f"{bold}\n{html}", f"{plain}\n{text}") for html, text in parts or [("·", "·")]]


def _posts(card: Card, chat: int, via: str, bot: str) -> list[Parcel]:
    """One message a page. Later pages answer the page before, the buttons are under the last."""
    reply_to = _answered(card, chat, via, bot)
    shown = _pages(card)
    parcels: list[Parcel] = []
    for number, (html, plain) in enumerate(shown):
        last = number == len(shown) - 1
        # The slot is the page that may be edited: the one with the buttons.
        slot = card.slot if last else f"{card.key}#{number}"
        post = Post(
            chat=chat,
            topic=card.topic,
            html=html,
            plain=plain,
            keys=_keys(card) if last else (),
            silent=card.silent or number > 0,
            wants_reply=card.wants_reply and last,
            reply_to=None if number else reply_to,
            reply_to_slot=f"{card.key}#{number - 1}" if number else card.answers_slot,
        )
        key = card.key if not number else f"{card.key}#{number}"
        parcels.append(Parcel(key=key, chat=str(chat), body=encode_outgoing(post), slot=slot))
    return parcels


def _answered(card: Card, chat: int, via: str, bot: str) -> int | None:
    """The number of the message that the card answers, if it is in this chat."""
    if card.answers_reference:
        return int(card.answers_reference)
    place = message_place(card.answers or "", via, bot)
    return place[1] if place and place[0] == chat else None


def _amend(card: Card, chat: int) -> Amend:
    """The last page anew: what is longer than one message keeps its end, where the foot is."""
    page = fitted(body(card))
    return Amend(chat=chat, slot=card.slot, html=to_html(page), plain=page.text, keys=_keys(card))


def fitted(text: Styled) -> Styled:
    """The text, or the page of it that was last, for a message that can only be one."""
    if utf16_length(text.text) <= TEXT_UNITS:
        return text if text.text.strip() else NOTHING
    return split(text, TEXT_UNITS)[-1]


def _show(card: Card, file: Attachment, chat: int) -> Show:
    words = f"{card.worker}: {file.caption}".strip() if card.worker else file.caption
    caption = split(Styled(text=words), CAPTION_UNITS)[:1]
    return Show(
        chat=chat,
        file=file,
        text=visible(card.content),
        caption=caption[0].text if caption else "",
        photo=PurePath(file.path).suffix.lower() in IMAGES if card.picture is None else card.picture,
        silent=card.silent,
        worker=card.worker,
        topic=card.topic,
    )


def _parcel(card: Card, outgoing: Outgoing) -> Parcel:
    return Parcel(
        key=card.key,
        chat=str(outgoing.chat),
        body=encode_outgoing(outgoing),
        slot=card.slot if card.edit else "",
        edit=card.edit,
    )

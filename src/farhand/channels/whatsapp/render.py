"""Lays cards out for WhatsApp: one message each, its limits, its buttons and lists. Pure.

Nothing can be edited or taken away there, and every message costs and buzzes: what only shows a state that passes is
left out, and what would change an older message is said anew where a person needs it."""

from pathlib import PurePath

from farhand.channels.kit.card import PROGRESS_SLOTS, Button, Card, shortened
from farhand.channels.kit.hire_taps import FOLDER
from farhand.channels.kit.long_answers import beginning, closed
from farhand.channels.kit.sendable_files import IMAGES
from farhand.channels.kit.split import Span, Styled, joined
from farhand.channels.kit.tap_data import tap_data
from farhand.channels.whatsapp.markup import FENCE, TEXT_CHARACTERS, styled, to_marks, visible
from farhand.channels.whatsapp.parse import message_of
from farhand.channels.whatsapp.words import (
    WhatsAppKey,
    WhatsAppOutgoing,
    WhatsAppReact,
    WhatsAppSend,
    WhatsAppShow,
    encode_outgoing,
)
from farhand.model.split import shown as shown_of
from farhand.model.split import utf16_length
from farhand.model.store_ports import Parcel
from farhand.model.words import Attachment, replace

# What a message with buttons or a list may say, and what stands below a file.
BODY_CHARACTERS = 1024
CAPTION_CHARACTERS = 1024
BUTTONS, ROWS = 3, 10
BUTTON_CHARACTERS, ROW_CHARACTERS, MORE_CHARACTERS = 20, 24, 72
QUEUED = "queued:"
SAID = "said:"
WAITS = "⏳"
# What happens to a card that changes an older one: these are said anew.
SAID_ANEW = ("ask:", FOLDER, "life:")


def render(card: Card, chat: str, via: str, phone_id: str, *, reactions: bool = True) -> list[Parcel]:
    """The parcels that show a card in a chat; none where there is nothing that a person needs."""
    reaction = card.reaction or (WAITS if card.slot.startswith(QUEUED) and not (card.edit or card.remove) else "")
    if reaction:
        message = message_of(card.answers or "", via, phone_id) if reactions else ""
        # A later reaction takes the place of an earlier one.
        react = WhatsAppReact(chat=chat, message=message, emoji=reaction)
        return [Parcel(key=card.key, chat=chat, body=encode_outgoing(react))] if message else []
    if card.remove or card.disarm or card.slot.startswith(PROGRESS_SLOTS) or card.key.startswith(SAID):
        return []
    if card.edit:
        return _anew(card, chat, via, phone_id)
    return _new(card, chat, via, phone_id)


def _anew(card: Card, chat: str, via: str, phone_id: str) -> list[Parcel]:
    """An edit as a message of its own, where it is news to somebody who cannot see it."""
    if not card.slot.startswith(SAID_ANEW) or (card.slot.startswith("life:") and card.buttons):
        return []
    if card.slot.startswith("ask:") and not card.buttons:
        # It was settled: by a tap in this very chat, which shows it, or elsewhere.
        if card.via == via:
            return []
        settled = Card(key=card.key, worker=card.worker, head=shortened(card.head, 300))
        last = card.foot.rsplit("\n", maxsplit=1)[-1]
        return _new(replace(settled, foot=last, answers_slot=card.slot), chat, via, phone_id)
    return _new(replace(card, edit=False), chat, via, phone_id)


def _new(card: Card, chat: str, via: str, phone_id: str) -> list[Parcel]:
    if card.file is not None:
        return [_parcel(card, _show(card, card.file, chat, via, phone_id))]
    if more := left_out(card.buttons):
        card = replace(card, foot=f"{card.foot}\n{more}".strip())
    text = text_of(card)
    limit = BODY_CHARACTERS if card.buttons else TEXT_CHARACTERS
    if utf16_length(text) <= limit:
        return [_parcel(card, _send(card, text or "·", chat, via, phone_id))]
    if card.buttons:
        return _long_question(card, text, chat, via, phone_id)
    return [_parcel(card, _as_file(card, chat, via, phone_id))]


def _long_question(card: Card, text: str, chat: str, via: str, phone_id: str) -> list[Parcel]:
    """All of it first, as a message or as a file; then the buttons under its beginning and its end."""
    bare = replace(card, key=f"{card.key}#whole", slot="", buttons=())
    whole = _parcel(bare, _send(bare, text, chat, via, phone_id))
    if utf16_length(text) > TEXT_CHARACTERS:
        whole = _parcel(bare, _as_file(bare, chat, via, phone_id))
    head, foot = fitted(visible(card.head), BODY_CHARACTERS // 2), fitted(visible(card.foot), BODY_CHARACTERS // 3)
    short = "\n\n".join(part for part in (head, "(All of it is above.)", foot) if part)
    return [whole, _parcel(card, _send(card, fitted(short, BODY_CHARACTERS), chat, via, phone_id))]


def text_of(card: Card) -> str:
    """What a card says, with WhatsApp's marks."""
    head, foot = visible(card.head), visible(card.foot)
    named = bool(card.worker) and head.startswith(card.worker)
    name = _bold(card.worker) if named else Styled(text="")
    own = joined([name, Styled(text=head[len(card.worker) :] if named else head)])
    parts = [to_marks(own), to_marks(styled(card.markdown)) if card.markdown else "", visible(shown_of(card.html))]
    parts += [fenced(visible(card.verbatim)), foot]
    text = "\n\n".join(part for part in parts if part.strip())
    speaks = bool(card.worker) and not named and bool(card.html or card.markdown or (foot and not head))
    return f"{to_marks(_bold(f'{card.worker}:'))}\n{text}" if speaks else text


def fenced(text: str) -> str:
    """The text letter by letter; one that would end the fence itself stands without."""
    return f"{FENCE}\n{text}\n{FENCE}" if text.strip() and FENCE not in text else text


def plain_of(card_text: str) -> str:
    """The text of a sent message as somebody would quote it: the worker's name without its marks."""
    first, line_end, rest = card_text.partition("\n")
    return f"{first.strip('*')}{line_end}{rest}" if first.startswith("*") else card_text


def _bold(text: str) -> Styled:
    return Styled(text=text, spans=(Span(kind="bold", start=0, end=len(text)),))


def fitted(text: str, most: int) -> str:
    """The text, or its beginning with a mark that there is more."""
    if utf16_length(text) <= most:
        return text
    piece = text[: most - 2]
    while utf16_length(piece) > most - 2:
        piece = piece[:-1]
    return f"{piece.rstrip()} …"


def _as_file(card: Card, chat: str, via: str, phone_id: str) -> WhatsAppShow:
    """A text that no message holds: its beginning below a file with all of it, which is one message, too."""
    name = f"{card.worker or 'farhand'}-{'asks' if card.key.startswith('ask:') else 'answer'}.txt"
    whole = "\n\n".join(filter(None, (card.head, card.markdown or shown_of(card.html), card.verbatim, card.foot)))
    begins = replace(card, markdown=closed(beginning(card.markdown, CAPTION_CHARACTERS)), html="", verbatim="")
    shown = (
        text_of(begins) if card.markdown else text_of(replace(begins, verbatim=card.verbatim or shown_of(card.html)))
    )
    note = f"\n\n… {len(whole):,} characters in all: the whole is in the file."
    caption = fitted(shown, CAPTION_CHARACTERS - len(note)) + note
    return WhatsAppShow(
        chat=chat,
        file=Attachment(path=name, name=name, media_type="text/plain"),
        text=visible(whole),
        caption=caption,
        worker=card.worker,
        reply_to=_reply_to(card, via, phone_id),
    )


def _show(card: Card, file: Attachment, chat: str, via: str, phone_id: str) -> WhatsAppShow:
    words = f"{card.worker}: {file.caption}".strip() if card.worker else file.caption
    picture = PurePath(file.path).suffix.lower() in IMAGES if card.picture is None else card.picture
    return WhatsAppShow(
        chat=chat,
        file=file,
        text=visible(card.content),
        caption=fitted(words, CAPTION_CHARACTERS),
        picture=picture,
        worker=card.worker,
        reply_to=_reply_to(card, via, phone_id),
    )


def _send(card: Card, text: str, chat: str, via: str, phone_id: str) -> WhatsAppSend:
    reply_to = _reply_to(card, via, phone_id)
    slot = "" if reply_to else card.answers_slot
    keys = keys_of(card.buttons)
    return WhatsAppSend(chat=chat, text=text, keys=keys, reply_to=reply_to, reply_to_slot=slot)


def _reply_to(card: Card, via: str, phone_id: str) -> str:
    return card.answers_reference or message_of(card.answers or "", via, phone_id)


def keys_of(rows: tuple[tuple[Button, ...], ...]) -> tuple[WhatsAppKey, ...]:
    """The buttons as WhatsApp can show them: three, or ten rows of a list; each says something of its own."""
    buttons = offered(rows)
    as_buttons = len(buttons) <= BUTTONS and all(len(one.label) <= BUTTON_CHARACTERS for one in buttons)
    limit = BUTTON_CHARACTERS if as_buttons else ROW_CHARACTERS
    found: list[WhatsAppKey] = []
    for place, button in enumerate(buttons, 1):
        label = shortened(visible(button.label), limit) or "·"
        if any(one.text == label for one in found):
            label = f"{shortened(label, limit - 4)} ({place})"
        more = "" if as_buttons or label == button.label else shortened(visible(button.label), MORE_CHARACTERS)
        found.append(WhatsAppKey(text=label, data=tap_data(button.tap), more=more))
    return tuple(found)


def offered(rows: tuple[tuple[Button, ...], ...]) -> list[Button]:
    """The buttons that there is room for; the last one, which mostly says no, is among them."""
    buttons = [button for row in rows for button in row]
    return buttons if len(buttons) <= ROWS else [*buttons[: ROWS - 1], buttons[-1]]


def left_out(rows: tuple[tuple[Button, ...], ...]) -> str:
    """What is said of the buttons that there is no room for."""
    shown = offered(rows)
    missing = [button.label for row in rows for button in row if button not in shown]
    return f"Not in the list, but you can write it: {visible('; '.join(missing))}" if missing else ""


def is_list(keys: tuple[WhatsAppKey, ...]) -> bool:
    """Whether the keys are rows of a list."""
    return len(keys) > BUTTONS or any(len(key.text) > BUTTON_CHARACTERS or key.more for key in keys)


def _parcel(card: Card, outgoing: WhatsAppOutgoing) -> Parcel:
    return Parcel(key=card.key, chat=outgoing.chat, body=encode_outgoing(outgoing), slot=card.slot)

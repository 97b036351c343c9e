"""Messages that wait, with buttons: the list of `/queue`, and the request for what one shall say instead. Pure."""

from collections.abc import Collection

import msgspec

from farhand.channels.kit.card import Button, Card, RewordTap, SteerTap, WithdrawTap, shortened
from farhand.channels.kit.queue_texts import QUOTED_CHARACTERS, queue, workers_having
from farhand.model.present import Message, Present, Worker
from farhand.model.provenance import shown_text
from farhand.model.slash_argument import numbered
from farhand.model.visible import visible
from farhand.model.words import Word, replace

# How the slots begin of the list, and of a request for words.
QUEUE, REWORD = "queue:", "reword:"
# So many messages of the list have buttons; a keyboard with more is read by nobody.
MOST_ROWS = 8
REPLY_TO_THIS = "as a reply to this message."


class RewordRequest(Word):
    """Which message the words are for, the tap that asked for them, and the slot of the list that shows it, if one
    does."""

    message: str
    tap: str
    shown_in: str = ""


def with_queue(card: Card, identity: str, present: Present, of: str, steers: Collection[str]) -> Card:
    """The answer to `/queue` with its buttons; its slot tells whose messages it lists, so that it can follow them."""
    buttons = queue_buttons(present, of, steers)
    return replace(card, slot=f"{QUEUE}{of}:{identity}", buttons=buttons) if buttons else card


def queue_anew(slot: str, key: str, present: Present, steers: Collection[str]) -> Card:
    """The list of that slot as things are now."""
    of = slot.removeprefix(QUEUE).partition(":")[0]
    buttons = queue_buttons(present, of, steers)
    return Card(key=key, slot=slot, head=queue(present, of), buttons=buttons, edit=True, silent=True)


def queue_buttons(present: Present, of: str, steers: Collection[str]) -> tuple[tuple[Button, ...], ...]:
    """A row for each message, by its number; the name comes along where several workers have some. What cannot be
    heard in mid-turn is not offered."""
    having = workers_having(present, of)
    each = [(worker, place, message) for worker in having for place, message in numbered(worker)]
    return tuple(
        _row(worker, message, f"{worker.name} {place}" if len(having) > 1 else f"{place}", steers)
        for worker, place, message in each[:MOST_ROWS]
    )


def _row(worker: Worker, message: Message, number: str, steers: Collection[str]) -> tuple[Button, ...]:
    now = (Button(label=f"Now {number}", tap=SteerTap(message=message.id)),) if worker.kind in steers else ()
    edit = Button(label=f"Edit {number}", tap=RewordTap(message=message.id))
    return (*now, edit, Button(label=f"Drop {number}", tap=WithdrawTap(message=message.id)))


def request_for_rewording(tap: str, worker: str, message: Message, shown_in: str) -> Card:
    """Asks for the words, as a message that the surface answers with a reply; its slot says what they change."""
    said = visible(shortened(shown_text(message.text, message.by), QUOTED_CHARACTERS)) or "the file's caption"
    request = RewordRequest(message=message.id, tap=tap, shown_in=shown_in if shown_in.startswith(QUEUE) else "")
    slot = f"{REWORD}{msgspec.json.encode(request).decode()}"
    head = f"{worker}: write what “{said}” shall say instead, {REPLY_TO_THIS}"
    return Card(key=slot, slot=slot, head=head, wants_reply=True, silent=True, topic=worker)


def reword_request(slot: str) -> RewordRequest | None:
    """What a request for words is about; None for any other slot."""
    if not slot.startswith(REWORD):
        return None
    try:
        return msgspec.json.decode(slot.removeprefix(REWORD), type=RewordRequest)
    except msgspec.MsgspecError:
        return None

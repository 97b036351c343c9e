"""Texts that wait for a decision of the person who wrote them: kept in the slot of the card that asks. Pure."""

import msgspec

from farhand.channels.kit.card import Button, Card, HeldTap, shortened
from farhand.model.plain_orders import not_begun
from farhand.model.present import Message, Worker
from farhand.model.provenance import NODES_OWN, is_by_pipe
from farhand.model.words import Attachment, Word, replace

HELD = "held:"
DENY, ANSWER, AFTER, STOP, OTHER, HERE = "deny", "answer", "after", "stop", "other", "here"


class HeldMessage(Word):
    """A message that a stop took back, as it would be said again."""

    text: str
    attachments: tuple[Attachment, ...] = ()


class HeldText(Word):
    """A text that waits for a decision: who and which question it met, and what it would say to the worker.

    `given` is what would answer the question, where a reply's context makes that another text; `back` is what a stop
    took back, in its order; `other` is whom it may be for instead, and `other_text` what that one would be told."""

    worker: str
    ask: str
    message: str
    text: str
    given: str = ""
    back: tuple[HeldMessage, ...] = ()
    other: str = ""
    other_text: str = ""
    # The command that does it here, without its slash: kept here, for what a tap brings can be made up.
    command: str = ""


def slot_of(held: HeldText) -> str:
    """The slot of the card that asks about it."""
    return f"{HELD}{msgspec.json.encode(held).decode()}"


def held_in(slot: str) -> HeldText:
    """What the card of that slot asks about."""
    return msgspec.json.decode(slot.removeprefix(HELD), type=HeldText)


def slots_of(worker: str, ask: str) -> str:
    """How the slots of all texts begin that were held for that question."""
    return slot_of(HeldText(worker=worker, ask=ask, message="", text="")).partition(',"message":')[0]


def say_it(worker: str, what: str = AFTER) -> Button:
    """Says the held text to the worker."""
    return Button(label=f"Say it to {worker}", tap=HeldTap(what=what))


def taken_back(worker: Worker | None) -> list[Message]:
    """What a stop takes back that a person has said: colleagues and programs say theirs again themselves."""
    waits = not_begun(worker) if worker else []
    return [one for one in waits if one.by.via not in NODES_OWN and not is_by_pipe(one.by)]


def say_after_all(card: Card, message: str, worker: Worker | None) -> Card:
    """The answer to a stop, with a button that says what it took back all the same; the worker as it was before it."""
    back = tuple(HeldMessage(text=one.text, attachments=one.attachments) for one in taken_back(worker))
    if worker is None or not back:
        return card
    held = HeldText(worker=worker.name, ask="", message=message, text="", back=back)
    label = "Say it after all" if len(back) == 1 else "Say them after all"
    return replace(card, slot=slot_of(held), buttons=((Button(label=label, tap=HeldTap(what=AFTER)),),))


def not_said(slot: str) -> Card:
    """What was held for a question that is closed: it was said to nobody, and still can be."""
    held = held_in(slot)
    said = shortened(held.given or held.text, 80)
    return Card(
        key=f"{slot}:closed",
        slot=slot,
        worker=held.worker,
        head=f"{held.worker}'s question is closed. “{said}” was not said to {held.worker}.",
        buttons=((say_it(held.worker),),),
        edit=True,
        silent=True,
    )

"""What a person's text asks for, before anybody obeys it: a command, a message, a question to the surface. Pure."""

from typing import Literal, TypeAlias

from farhand.model.commands import Command, Interrupt, Say
from farhand.model.plain_orders import PlainOrder, can_stop, order_for, plain_order
from farhand.model.present import Present
from farhand.model.words import Word

# What a surface can be asked to tell: what all of them tell alike, and what each has its own words for.
SharedTopic: TypeAlias = Literal["inbox", "mode", "queue", "quiet", "review", "sprint", "usage"]
Topic: TypeAlias = SharedTopic | Literal["digest", "help", "history", "progress", "settings", "start", "team"]


class InfoRequest(Word):
    """The manager wants to know something that the surface itself can tell."""

    id: str
    about: Topic
    # What or whom it is about, where that can be named.
    of: str = ""
    # How much of it; 0 for as much as is usual.
    count: int = 0


class Wrong(Word):
    """What was sent cannot be obeyed, and why."""

    id: str
    why: str
    # The command of an agent's own that a chat refuses, where it is one.
    blocked: str = ""


class Tell(Word):
    """A message for a worker, for the focused one when no name is given, or for everybody who is online."""

    id: str
    text: str
    worker: str = ""
    # The worker is focused as well.
    focus: bool = False
    everybody: bool = False
    # More than bare text: without a focused worker it is refused in other words.
    needs_focus: bool = False


class Listing(Word):
    """The manager wants to see which conversations agents have on the node's machine: of a backend, of a folder."""

    id: str
    backend: str = ""
    directory: str = ""


NOBODY_ONLINE = "No one's online to share with."
NOBODY_STOPS = "Nobody is at anything."
# What a surface says that cannot show devices itself.
DEVICES_AT_SHELL = "Type `farhand devices` in a shell: it lists the devices, and revokes one."


class DeviceWish(Word):
    """The manager wants to see the devices that are paired with the node, or one of them revoked."""

    id: str
    revoke: str = ""


class Unsure(Word):
    """Words that may be an order or a message, where there is nothing to obey, or that may be for somebody else: the
    person says which of them it is."""

    id: str
    # Whom they are said to, and what would be said.
    worker: str
    text: str
    # What the person is asked, and whether what runs can be stopped.
    question: str
    can_stop: bool = False
    # What the node itself would do, if they are for it: the command without its slash, and what a button says.
    command: str = ""
    label: str = ""
    # Which other worker they may be for, and what that one would be told.
    other: str = ""
    other_text: str = ""


class Quit(Word):
    """The person leaves this conversation."""

    id: str


Wish: TypeAlias = Command | InfoRequest | Wrong | Tell | Listing | DeviceWish | Unsure | Quit


def targets(wish: Tell, present: Present) -> tuple[str, ...]:
    """The names of those who are meant."""
    if wish.everybody:
        there = [one for one in present.workers.values() if one.online and not one.ending]
        # Who is at nothing has nothing to stop, and would take it for a task.
        orders = plain_order(wish.text) is PlainOrder.STOP
        return tuple(one.name for one in there if not orders or order_for(one, wish.text) is None or can_stop(one))
    name = wish.worker or present.focus
    return (name,) if name else ()


def nobody_meant(wish: Tell) -> str:
    """Why a message for everybody found nobody."""
    return NOBODY_STOPS if plain_order(wish.text) is PlainOrder.STOP else NOBODY_ONLINE


def named_alone(wish: Tell, present: Present) -> str:
    """The worker whose name is all that was said: the answer to who should be talked to. Empty where it is none."""
    said = wish.text.strip().casefold()
    return next((name for name in present.workers if name.casefold() == said), "")


def say(wish: Tell, worker: str) -> Say:
    """The command that brings the message to that worker; each of several has an id of its own."""
    return Say(id=f"{wish.id}:{worker}" if wish.everybody else wish.id, text=wish.text, worker=worker)


def stop_of(wish: Tell, worker: str, present: Present) -> Interrupt | None:
    """What a lone stop for everybody is to one of them; None for any other message."""
    known = present.workers.get(worker) if wish.everybody else None
    if known is None or order_for(known, wish.text) is not PlainOrder.STOP:
        return None
    return Interrupt(id=say(wish, worker).id, worker=worker, withdraw=True)

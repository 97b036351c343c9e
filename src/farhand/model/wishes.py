"""What a person's text asks for, before anybody obeys it: a command, a message, a question to the surface. Pure."""

from typing import TypeAlias

from farhand.model.commands import Command, Say
from farhand.model.present import Present
from farhand.model.words import Word


class InfoRequest(Word):
    """The manager wants to know something that the surface itself can tell."""

    id: str
    about: str
    # What or whom it is about, where that can be named.
    of: str = ""


class Wrong(Word):
    """What was sent cannot be obeyed, and why."""

    id: str
    why: str


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


# What a surface says that cannot show devices itself.
DEVICES_AT_SHELL = "Type `farhand devices` in a shell: it lists the devices, and revokes one."


class DeviceWish(Word):
    """The manager wants to see the devices that are paired with the node, or one of them revoked."""

    id: str
    revoke: str = ""


class Quit(Word):
    """The person leaves this conversation."""

    id: str


Wish: TypeAlias = Command | InfoRequest | Wrong | Tell | Listing | DeviceWish | Quit


def targets(wish: Tell, present: Present) -> tuple[str, ...]:
    """The names of those who are meant."""
    if wish.everybody:
        return tuple(one.name for one in present.workers.values() if one.online and not one.ending)
    name = wish.worker or present.focus
    return (name,) if name else ()


def named_alone(wish: Tell, present: Present) -> str:
    """The worker whose name is all that was said: the answer to who should be talked to. Empty where it is none."""
    said = wish.text.strip().casefold()
    return next((name for name in present.workers if name.casefold() == said), "")


def say(wish: Tell, worker: str) -> Say:
    """The command that brings the message to that worker; each of several has an id of its own."""
    return Say(id=f"{wish.id}:{worker}" if wish.everybody else wish.id, text=wish.text, worker=worker)

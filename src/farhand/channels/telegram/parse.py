"""Turns what people do on Telegram into commands. Pure: no clock, no network."""

import hashlib
from typing import TypeAlias

import msgspec

from farhand.channels.kit.card import AnswerTap, StopTap, Tap
from farhand.channels.telegram.words import Heard, Message, Query, Update
from farhand.model import commands
from farhand.model.commands import Command
from farhand.model.present import Present
from farhand.model.words import Word

DATA_BYTES = 64
ANSWER, ANSWER_BY_DIGEST, STOP = "a", "d", "s"


class Question(Word):
    """The manager wants to know something that the channel itself can tell."""

    id: str
    about: str


class Wrong(Word):
    """What was sent cannot be obeyed, and why."""

    id: str
    why: str


Wish: TypeAlias = Command | Question | Wrong


def heard(update: bytes | msgspec.Raw) -> tuple[int, Heard]:
    """The update's number and what it brings: a message, a tap, or nothing that we know."""
    try:
        told = msgspec.json.decode(update, type=Update)
    except msgspec.MsgspecError:
        return update_number(update), None
    try:
        if bytes(told.callback_query):
            return told.update_id, msgspec.json.decode(told.callback_query, type=Query)
        part = bytes(told.message) or bytes(told.edited_message)
        return told.update_id, msgspec.json.decode(part, type=Message) if part else None
    except msgspec.MsgspecError:
        return told.update_id, None


class _Numbered(msgspec.Struct):
    update_id: int


def update_number(update: bytes | msgspec.Raw) -> int:
    """The update's number alone, whatever else is in it."""
    try:
        return msgspec.json.decode(update, type=_Numbered).update_id
    except msgspec.MsgspecError:
        return 0


def message_command_id(message: Message, bot: str) -> str:
    """The id under which a message is known for ever. Update ids will not do, for they restart at random; and every
    bot counts its messages for itself."""
    place = f"{bot}:{message.chat.id}:{message.message_id}"
    return f"e:{place}:{message.edit_date}" if message.edit_date else f"m:{place}"


def message_place(message: str, via: str, bot: str) -> tuple[int, int] | None:
    """The chat and number of a message that came over this bot."""
    parts = message.removeprefix(f"{via}:m:{bot}:").split(":")
    if not message.startswith(f"{via}:m:{bot}:") or len(parts) != 2:
        return None
    try:
        return int(parts[0]), int(parts[1])
    except ValueError:
        return None


def to_wish(message: Message, present: Present, via: str, bot: str) -> Wish | None:
    """What a message asks for; nothing when it says nothing that we understand."""
    identity = message_command_id(message, bot)
    text = message.text or message.caption
    if message.edit_date:
        known = f"{via}:m:{bot}:{message.chat.id}:{message.message_id}"
        return commands.Reword(id=identity, message=known, text=text) if text.strip() else None
    if text.startswith("/"):
        return _slash(identity, text, present)
    if text.startswith("@"):
        name, _, rest = text[1:].partition(" ")
        if name.lower() in present.workers and rest.strip():
            return commands.Say(id=identity, worker=name.lower(), text=rest.strip())
    return commands.Say(id=identity, text=text) if text.strip() else None


def _slash(identity: str, text: str, present: Present) -> Wish:
    token, _, rest = text[1:].partition(" ")
    name, argument = token.partition("@")[0].lower(), rest.strip()
    # A command's name on Telegram has no hyphen, so a worker's hyphen is an underscore there.
    worker = next((one for one in present.workers if one.replace("-", "_") == name.replace("-", "_")), "")
    if worker:
        return (
            commands.Say(id=identity, worker=worker, text=argument)
            if argument
            else commands.Focus(id=identity, worker=worker)
        )
    match name:
        case "start" | "team" | "help":
            return Question(id=identity, about=name)
        case "pause" | "stop":
            return commands.Interrupt(id=identity, worker=argument)
        case "relaunch":
            return commands.Relaunch(id=identity, worker=argument)
        case "focus":
            return (
                commands.Focus(id=identity, worker=argument)
                if argument
                else Wrong(id=identity, why="Usage: /focus <name>")
            )
        case "end":
            usage = "Offboarding is permanent. Usage: /end <name>"
            return commands.End(id=identity, worker=argument) if argument else Wrong(id=identity, why=usage)
        case "hire":
            return _hire(identity, argument)
        case _:
            return commands.Say(id=identity, text=text)


def _hire(identity: str, argument: str) -> Wish:
    words = argument.split()
    if not words:
        return Wrong(id=identity, why="Usage: /hire <name>")
    backend = "claude"
    if "--backend" in words[1:-1]:
        backend = words[words.index("--backend") + 1]
    return commands.Hire(id=identity, worker=words[0], backend=backend)


def digest(name: str) -> str:
    """A short name for a long one."""
    return hashlib.sha256(name.encode()).hexdigest()[:20]


def tap_data(tap: Tap) -> str:
    """What a button carries: within 64 bytes, whatever the ids are."""
    match tap:
        case AnswerTap(ask=ask, place=place):
            whole = f"{ANSWER}:{place}:{ask}"
            return whole if len(whole.encode()) <= DATA_BYTES else f"{ANSWER_BY_DIGEST}:{place}:{digest(ask)}"
        case StopTap(turn=turn):
            return f"{STOP}:{digest(turn)}"


def tap_to_wish(query: Query, present: Present) -> Wish:
    """What a tap asks for. The ask or turn that is meant must be the one that the button was made for."""
    identity = f"t:{query.id}"
    kind, _, rest = query.data.partition(":")
    if kind == STOP:
        running = (one for one in present.workers.values() if one.turn and digest(one.turn.id) == rest)
        worker = next(running, None)
        if worker is None:
            return Wrong(id=identity, why="That turn is over already.")
        return commands.Interrupt(id=identity, worker=worker.name)
    place, _, name = rest.partition(":")
    if kind not in {ANSWER, ANSWER_BY_DIGEST} or not (place.isascii() and place.isdigit() and len(place) < 4):
        return Wrong(id=identity, why="That button is not one of mine.")
    asks = [one for worker in present.workers.values() for one in worker.asks]
    known = next((one for one in asks if (one.id if kind == ANSWER else digest(one.id)) == name), None)
    if known is None and kind == ANSWER_BY_DIGEST:
        return Wrong(id=identity, why="Too late: that question is closed.")
    choices = known.choices if known else ()
    choice = choices[int(place)].id if int(place) < len(choices) else ""
    return commands.Answer(id=identity, ask=known.id if known else name, choice=choice)

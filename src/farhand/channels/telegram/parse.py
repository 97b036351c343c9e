"""Turns what people do on Telegram into commands. Pure: no clock, no network."""

import hashlib

import msgspec

from farhand.channels.kit.card import (
    AdoptTap,
    AnswerTap,
    DoneTap,
    PickTap,
    RetryTap,
    SteerTap,
    StopTap,
    Tap,
    WithdrawTap,
    WordsTap,
)
from farhand.channels.telegram.words import CallbackQuery, Heard, TelegramMessage, Update
from farhand.model import commands, grammar
from farhand.model.grammar import CHAT
from farhand.model.names import origin
from farhand.model.present import Ask, Present
from farhand.model.slash import Surface
from farhand.model.wishes import Tell, Wish, Wrong
from farhand.model.words import Word

DATA_BYTES = 64
MASK_CHARACTERS = 32
ANSWER, ANSWER_BY_DIGEST, STOP, STEER, WITHDRAW, PICK, DONE, WORDS = "a", "d", "s", "n", "b", "p", "o", "w"
RETRY, ADOPT = "r", "h"
NOT_MINE = "That button is not one of mine."
CLOSED = "Too late: that question is closed."


class TappedChoice(Word):
    """Somebody ticks choices of an ask and has not sent them yet."""

    ask: Ask
    chosen: tuple[int, ...]


class Wordless(Word):
    """Somebody has made a choice that wants words; only they settle the ask."""

    ask: Ask
    chosen: tuple[int, ...]


def heard(update: bytes | msgspec.Raw) -> tuple[int, Heard]:
    """The update's number and what it brings: a message, a tap, or nothing that we know."""
    try:
        decoded = msgspec.json.decode(update, type=Update)
    except msgspec.MsgspecError:
        return update_number(update), None
    try:
        if bytes(decoded.callback_query):
            return decoded.update_id, msgspec.json.decode(decoded.callback_query, type=CallbackQuery)
        part = bytes(decoded.message) or bytes(decoded.edited_message)
        return decoded.update_id, msgspec.json.decode(part, type=TelegramMessage) if part else None
    except msgspec.MsgspecError:
        return decoded.update_id, None


class _Numbered(msgspec.Struct):
    update_id: int


def update_number(update: bytes | msgspec.Raw) -> int:
    """The update's number alone, whatever else is in it."""
    try:
        return msgspec.json.decode(update, type=_Numbered).update_id
    except msgspec.MsgspecError:
        return 0


def message_command_id(message: TelegramMessage, bot: str) -> str:
    """The id under which a message is known for ever. Update ids will not do, for they restart at random; and every
    bot counts its messages for itself."""
    place = f"{bot}:{message.chat.id}:{message.message_id}"
    return f"e:{place}:{message.edit_date}" if message.edit_date else f"m:{place}"


def message_place(message: str, via: str, bot: str) -> tuple[int, int] | None:
    """The chat and number of a message that came over this bot."""
    message = origin(message)
    parts = message.removeprefix(f"{via}:m:{bot}:").split(":")
    # What went to everybody has the worker's name behind it.
    if not message.startswith(f"{via}:m:{bot}:") or len(parts) not in {2, 3}:
        return None
    try:
        return int(parts[0]), int(parts[1])
    except ValueError:
        return None


def to_wish(message: TelegramMessage, present: Present, via: str, bot: str, surface: Surface = CHAT) -> Wish | None:
    """What a message asks for; nothing when it says nothing that we understand."""
    identity = message_command_id(message, bot)
    wish = _read_text(identity, message, present, surface)
    if not message.edit_date:
        return wish
    if not isinstance(wish, Tell) or message.photo or message.document:
        return None
    known = f"{via}:m:{bot}:{message.chat.id}:{message.message_id}"
    return commands.Reword(id=identity, message=known, text=wish.text)


def _read_text(identity: str, message: TelegramMessage, present: Present, surface: Surface) -> Wish | None:
    text, quoted = message.text or message.caption, message.reply_to_message
    wish = grammar.read(identity, text, present, surface)
    context = (quoted.text or quoted.caption) if quoted else ""
    is_bare = isinstance(wish, Tell) and not wish.worker and not wish.everybody and not text.startswith("/")
    return grammar.read_reply(identity, text, context, present) if is_bare and context.strip() else wish


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
        case RetryTap(worker=worker):
            return f"{RETRY}:{worker}"
        case AdoptTap(backend=backend, session=session):
            # The beginning of a long id will do.
            return f"{ADOPT}:{backend}:{session}".encode()[:DATA_BYTES].decode(errors="ignore")
        case SteerTap(message=message):
            return f"{STEER}:{digest(message)}"
        case WithdrawTap(message=message):
            return f"{WITHDRAW}:{digest(message)}"
        case PickTap(ask=ask, chosen=chosen):
            return f"{PICK}:{mask(chosen)}:{digest(ask)}"
        case DoneTap(ask=ask, chosen=chosen):
            return f"{DONE}:{mask(chosen)}:{digest(ask)}"
        case WordsTap(ask=ask, chosen=chosen):
            return f"{WORDS}:{mask(chosen)}:{digest(ask)}"


def mask(chosen: tuple[int, ...]) -> str:
    """The places of choices as one short number: a keyboard has a hundred buttons at most."""
    return f"{sum(1 << place for place in set(chosen)):x}"


def places(given: str) -> tuple[int, ...] | None:
    """The places that such a number stands for; None when it is none."""
    if not given or len(given) > MASK_CHARACTERS or not set(given) <= set("0123456789abcdef"):
        return None
    number = int(given, 16)
    return tuple(place for place in range(number.bit_length()) if number >> place & 1)


def tap_to_wish(query: CallbackQuery, present: Present) -> Wish | TappedChoice | Wordless:
    """What a tap asks for. The ask, turn or message that is meant must be the one that the button was made for."""
    identity = f"t:{query.id}"
    kind, _, rest = query.data.partition(":")
    if kind in {PICK, DONE, WORDS}:
        return _chosen(identity, kind, rest, present)
    if kind in {STEER, WITHDRAW}:
        return _waiting(identity, kind, rest, present)
    if kind == STOP:
        running = (one for one in present.workers.values() if one.turn and digest(one.turn.id) == rest)
        worker = next(running, None)
        if worker is None:
            return Wrong(id=identity, why="That turn is over already.")
        return commands.Interrupt(id=identity, worker=worker.name)
    if kind == RETRY:
        return commands.Retry(id=identity, worker=rest)
    if kind == ADOPT:
        backend, _, session = rest.partition(":")
        return commands.Hire(id=identity, worker="", backend=backend, session=session)
    place, _, name = rest.partition(":")
    if kind not in {ANSWER, ANSWER_BY_DIGEST} or not (place.isascii() and place.isdigit() and len(place) < 4):
        return Wrong(id=identity, why=NOT_MINE)
    asks = [one for worker in present.workers.values() for one in worker.asks]
    known = next((one for one in asks if (one.id if kind == ANSWER else digest(one.id)) == name), None)
    if known is None and kind == ANSWER_BY_DIGEST:
        return Wrong(id=identity, why=CLOSED)
    choices = known.choices if known else ()
    choice = choices[int(place)].id if int(place) < len(choices) else ""
    return commands.Answer(id=identity, ask=known.id if known else name, choice=choice)


def _chosen(identity: str, kind: str, rest: str, present: Present) -> Wish | TappedChoice | Wordless:
    given, _, name = rest.partition(":")
    chosen = places(given)
    if chosen is None:
        return Wrong(id=identity, why=NOT_MINE)
    asks = [one for worker in present.workers.values() for one in worker.asks]
    known = next((one for one in asks if digest(one.id) == name and one.settled is None), None)
    if known is None:
        return Wrong(id=identity, why=CLOSED)
    if any(place >= len(known.choices) for place in chosen):
        return Wrong(id=identity, why=NOT_MINE)
    if kind == PICK:
        return TappedChoice(ask=known, chosen=chosen)
    return Wordless(ask=known, chosen=chosen) if kind == WORDS else answer(identity, known, chosen)


def answer(identity: str, ask: Ask, chosen: tuple[int, ...], note: str = "") -> commands.Answer:
    """The answer with the choices at these places."""
    made = ",".join(ask.choices[place].id for place in chosen if place < len(ask.choices))
    return commands.Answer(id=identity, ask=ask.id, choice=made, note=note)


def _waiting(identity: str, kind: str, name: str, present: Present) -> Wish:
    queued = (one for worker in present.workers.values() for one in worker.queue if digest(one.id) == name)
    message = next(queued, None)
    if message is None:
        return Wrong(id=identity, why="That message waits no more.")
    if kind == STEER:
        return commands.Steer(id=identity, message=message.id)
    return commands.Withdraw(id=identity, message=message.id)

"""What a button carries, in 64 bytes, and what a tap on it asks for. Pure."""

from farhand.channels.kit.card import (
    AdoptTap,
    AnswerTap,
    CommandTap,
    DoneTap,
    FocusTap,
    HaltTap,
    HeldTap,
    ModelTap,
    ModeTap,
    PickTap,
    RelaunchTap,
    RetryTap,
    ReviewTap,
    RewordTap,
    SteerTap,
    StopTap,
    Tap,
    TryAgainTap,
    VoiceTap,
    WithdrawTap,
    WordsTap,
)
from farhand.channels.kit.hire_taps import KINDS, HireTap, digest, hire_data, hire_tap
from farhand.channels.kit.surface import ChatTap
from farhand.model import commands
from farhand.model.failed_turns import TRIED_ALREADY
from farhand.model.grammar import Wish, Wrong
from farhand.model.present import Ask, Message, Present
from farhand.model.slash import TYPED_BY_BUTTONS
from farhand.model.words import Mode, Word

DATA_BYTES = 64
MASK_CHARACTERS = 32
ANSWER, ANSWER_BY_DIGEST, STOP, STEER, WITHDRAW, PICK, DONE, WORDS = "a", "d", "s", "n", "b", "p", "o", "w"
RETRY, ADOPT, ADOPT_ANYWAY, HELD, RELAUNCH, HALT, REVIEW = "r", "h", "H", "k", "l", "q", "v"
VOICE, FOCUS, MODE, TRY_AGAIN, MODEL, COMMAND, REWORD = "y", "u", "t", "e", "g", "i", "j"
NOT_MINE = "That button is not one of mine."
CLOSED = "Too late: that question is closed."


class TappedChoice(Word):
    """Somebody ticks choices of an ask and has not sent them yet."""

    ask: Ask
    chosen: tuple[int, ...]


class ChoiceWantsWords(Word):
    """Somebody has made a choice that wants words; only they settle the ask."""

    ask: Ask
    chosen: tuple[int, ...]


class MessageWantsWords(Word):
    """Somebody wants to say a message that waits otherwise; only the words change it."""

    worker: str
    message: Message


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
        case TryAgainTap(turn=turn):
            return f"{TRY_AGAIN}:{digest(turn)}"
        case AdoptTap(backend=backend, session=session, anyway=anyway):
            # The beginning of a long id will do.
            return f"{ADOPT_ANYWAY if anyway else ADOPT}:{backend}:{session}".encode()[:DATA_BYTES].decode(
                errors="ignore"
            )
        case RelaunchTap(worker=worker):
            return f"{RELAUNCH}:{worker}"
        case ModeTap(worker=worker, mode=mode):
            return f"{MODE}:{mode}:{worker}"
        case ModelTap(worker=worker, model=model):
            return f"{MODEL}:{worker}:{model}"
        case CommandTap(command=command):
            return f"{COMMAND}:{command}"
        case HaltTap(worker=worker):
            return f"{HALT}:{worker}"
        case ReviewTap(what=what, review=review):
            return f"{REVIEW}:{what}:{review}"
        case FocusTap(worker=worker):
            return f"{FOCUS}:{worker}"
        case HeldTap(what=what):
            return f"{HELD}:{what}"
        case VoiceTap(what=what):
            return f"{VOICE}:{what}"
        case HireTap():
            return hire_data(tap)
        case SteerTap(message=message):
            return f"{STEER}:{digest(message)}"
        case WithdrawTap(message=message):
            return f"{WITHDRAW}:{digest(message)}"
        case RewordTap(message=message):
            return f"{REWORD}:{digest(message)}"
        case PickTap(ask=ask, chosen=chosen):
            return f"{PICK}:{mask(chosen)}:{digest(ask)}"
        case DoneTap(ask=ask, chosen=chosen):
            return f"{DONE}:{mask(chosen)}:{digest(ask)}"
        case WordsTap(ask=ask, chosen=chosen):
            return f"{WORDS}:{mask(chosen)}:{digest(ask)}"


def held_choice(tap: ChatTap) -> str:
    """What a tap wants done with the text that its message holds; empty for any other tap."""
    kind, _, what = tap.data.partition(":")
    return what if kind == HELD else ""


def voice_choice(tap: ChatTap) -> str:
    """What a tap wants done with what was heard in a recording; empty for any other tap."""
    kind, _, what = tap.data.partition(":")
    return what if kind == VOICE else ""


def typed_command(tap: ChatTap) -> str:
    """The command that a tap types, with the name of its worker where it has one; empty for any other tap."""
    kind, _, command = tap.data.partition(":")
    return f"/{command}" if kind == COMMAND and command.split(" ")[0] in TYPED_BY_BUTTONS else ""


def is_about_queue(tap: ChatTap) -> bool:
    """Whether a tap is about a message that waits."""
    return tap.data.partition(":")[0] in {STEER, WITHDRAW, REWORD}


def mask(chosen: tuple[int, ...]) -> str:
    """The places of choices as one short number: a keyboard has a hundred buttons at most."""
    return f"{sum(1 << place for place in set(chosen)):x}"


def places(given: str) -> tuple[int, ...] | None:
    """The places that such a number stands for; None when it is none."""
    if not given or len(given) > MASK_CHARACTERS or not set(given) <= set("0123456789abcdef"):
        return None
    number = int(given, 16)
    return tuple(place for place in range(number.bit_length()) if number >> place & 1)


def tap_to_wish(tap: ChatTap, present: Present) -> Wish | TappedChoice | ChoiceWantsWords | MessageWantsWords | HireTap:
    """What a tap asks for. The ask, turn or message that is meant must be the one that the button was made for."""
    identity = f"t:{tap.id}"
    kind, _, rest = tap.data.partition(":")
    if kind in KINDS:
        return hire_tap(tap.data) or Wrong(id=identity, why=NOT_MINE)
    if kind in {PICK, DONE, WORDS}:
        return _chosen(identity, kind, rest, present)
    if is_about_queue(tap):
        return _waiting(identity, kind, rest, present)
    if kind == STOP:
        running = (one for one in present.workers.values() if one.turn and digest(one.turn.id) == rest)
        worker = next(running, None)
        if worker is None:
            return Wrong(id=identity, why="That turn is over already.")
        return commands.Interrupt(id=identity, worker=worker.name, withdraw=True)
    if kind == RETRY:
        return commands.Retry(id=identity, worker=rest)
    if kind == TRY_AGAIN:
        return _try_again(identity, rest, present)
    if kind == HALT:
        return commands.Halt(id=identity, worker=rest)
    if kind == REVIEW:
        return _review(identity, rest, present)
    if kind == FOCUS:
        return commands.Focus(id=identity, worker=rest)
    if kind == RELAUNCH:
        return commands.Relaunch(id=identity, worker=rest)
    if kind == MODE:
        return _mode(identity, rest)
    if kind == MODEL:
        worker_name, _, model = rest.partition(":")
        return commands.Tune(id=identity, worker=worker_name, model=model)
    if kind in {ADOPT, ADOPT_ANYWAY}:
        backend, _, session = rest.partition(":")
        anyway = kind == ADOPT_ANYWAY
        return commands.Hire(id=identity, worker="", backend=backend, session=session, anyway=anyway)
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


def _chosen(identity: str, kind: str, rest: str, present: Present) -> Wish | TappedChoice | ChoiceWantsWords:
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
    return ChoiceWantsWords(ask=known, chosen=chosen) if kind == WORDS else answer(identity, known, chosen)


def answer(identity: str, ask: Ask, chosen: tuple[int, ...], note: str = "") -> commands.Answer:
    """The answer with the choices at these places."""
    made = ",".join(ask.choices[place].id for place in chosen if place < len(ask.choices))
    return commands.Answer(id=identity, ask=ask.id, choice=made, note=note)


def _mode(identity: str, rest: str) -> Wish:
    word, _, worker = rest.partition(":")
    mode = next((one for one in Mode if one == word), None)
    return commands.Tune(id=identity, worker=worker, mode=mode) if mode else Wrong(id=identity, why=NOT_MINE)


def _review(identity: str, rest: str, present: Present) -> Wish:
    what, _, review = rest.partition(":")
    worker = next((one.name for one in present.workers.values() if any(each.id == review for each in one.reviews)), "")
    if not worker:
        return Wrong(id=identity, why="That review is no longer kept.")
    match what:
        case "send":
            return commands.SendFindings(id=identity, worker=worker, review=review)
        case "again":
            return commands.Review(id=identity, worker=worker, again=review)
        case "cancel":
            return commands.CancelReview(id=identity, worker=worker, review=review)
        case _:
            return Wrong(id=identity, why=NOT_MINE)


def _try_again(identity: str, name: str, present: Present) -> Wish:
    failed = ((worker, one) for worker in present.workers.values() for one in worker.failed if digest(one.turn) == name)
    worker, found = next(failed, (None, None))
    if worker is None or found is None:
        return Wrong(id=identity, why=TRIED_ALREADY)
    return commands.Retry(id=identity, worker=worker.name, turn=found.turn)


def _waiting(identity: str, kind: str, name: str, present: Present) -> Wish | MessageWantsWords:
    each = ((worker, one) for worker in present.workers.values() for one in worker.queue)
    worker, message = next(((worker, one) for worker, one in each if digest(one.id) == name), (None, None))
    if worker is None or message is None:
        return Wrong(id=identity, why="That message waits no more.")
    if kind == REWORD:
        return MessageWantsWords(worker=worker.name, message=message)
    if kind == STEER:
        return commands.Steer(id=identity, message=message.id)
    return commands.Withdraw(id=identity, message=message.id)

"""A message of a chat surface as a value: texts, buttons, and what each tap means. Pure, without limits and markup."""

from typing import TypeAlias

from farhand.channels.kit.hire_taps import HireTap
from farhand.model.words import Attachment, MessageId, Mode, Word

NOTICE_CHARACTERS = 20_000
# How the slots begin of what shows a state that passes: it may come late, or not at all.
PROGRESS_SLOTS = ("progress:", "queued:")
_REMOVED = ":gone"


class AnswerTap(Word, tag="answer"):
    """The button settles an ask with the choice at this place."""

    ask: str
    place: int


class PickTap(Word, tag="pick"):
    """The button changes what is chosen, where several may be: the choices at these places from now on."""

    ask: str
    chosen: tuple[int, ...]


class DoneTap(Word, tag="done"):
    """The button settles an ask with the choices at these places."""

    ask: str
    chosen: tuple[int, ...]


class WordsTap(Word, tag="words"):
    """The button asks for the words that go with the choices at these places; they settle the ask."""

    ask: str
    chosen: tuple[int, ...]


class SteerTap(Word, tag="steer"):
    """The button puts a message that waits into the running turn."""

    message: str


class WithdrawTap(Word, tag="withdraw"):
    """The button takes a message back that waits."""

    message: str


class RewordTap(Word, tag="reword"):
    """The button asks for the words that a message that waits shall say instead."""

    message: str


class StopTap(Word, tag="stop"):
    """The button stops a turn, and no other."""

    turn: str


class RetryTap(Word, tag="retry"):
    """The button goes on with what waits although the worker's usage limit may still hold."""

    worker: str


class TryAgainTap(Word, tag="try_again"):
    """The button says the message of a turn that failed again."""

    turn: str


class RelaunchTap(Word, tag="relaunch"):
    """The button starts the worker's agent again."""

    worker: str


class ModeTap(Word, tag="mode"):
    """The button changes the worker's mode."""

    worker: str
    mode: Mode


class ModelTap(Word, tag="model"):
    """The button changes the worker's model."""

    worker: str
    model: str


class CommandTap(Word, tag="command"):
    """The button types a command; the slash is left out."""

    command: str


class HaltTap(Word, tag="halt"):
    """The button ends the worker's sprint after the turn that runs."""

    worker: str


class ReviewTap(Word, tag="review"):
    """The button sends a review's findings back, has the work judged again, or cancels the review."""

    what: str
    review: str


class FocusTap(Word, tag="focus"):
    """The button focuses the worker."""

    worker: str


class AdoptTap(Word, tag="adopt"):
    """The button takes a conversation up as a worker, `anyway` although it is open at the desk."""

    backend: str
    session: str
    anyway: bool = False


class HeldTap(Word, tag="held"):
    """The button says what shall become of the text that its message holds."""

    what: str


class VoiceTap(Word, tag="voice"):
    """The button sends what was heard in a recording, or drops it."""

    what: str


AskTap: TypeAlias = AnswerTap | PickTap | DoneTap | WordsTap
Tap: TypeAlias = (
    AskTap
    | SteerTap
    | WithdrawTap
    | RewordTap
    | StopTap
    | RetryTap
    | TryAgainTap
    | RelaunchTap
    | ModeTap
    | ModelTap
    | CommandTap
    | HaltTap
    | ReviewTap
    | FocusTap
    | AdoptTap
    | HeldTap
    | VoiceTap
    | HireTap
)


class Button(Word):
    """What a button says and does."""

    label: str
    tap: Tap


class Card(Word):
    """One message of a surface. A card with `edit` changes the message of its slot, one with `remove` takes it away."""

    # Names the card for ever: the same fact makes the same card under the same key.
    key: str
    slot: str = ""
    worker: str = ""
    # The worker in whose part of the chat it belongs, where a chat has parts; empty for the team's.
    topic: str = ""
    # Our own words, then the agent's Markdown, then text shown letter by letter, then our own words again.
    head: str = ""
    markdown: str = ""
    verbatim: str = ""
    # The worker's own HTML, in place of Markdown.
    html: str = ""
    foot: str = ""
    buttons: tuple[tuple[Button, ...], ...] = ()
    file: Attachment | None = None
    # What is in the file, when it is none on the disk.
    content: str = ""
    # Whether the file is shown as a picture; None leaves it to the surface.
    picture: bool | None = None
    # The message that this one answers, if the surface knows it: by the hub's id, by the slot of one of our own
    # messages, or by what the surface calls it.
    answers: MessageId | None = None
    answers_slot: str = ""
    answers_reference: str = ""
    # The surface should open a reply to this message.
    wants_reply: bool = False
    reaction: str = ""
    # The surface on which somebody did what the card tells of, where that is one.
    via: str = ""
    silent: bool = False
    edit: bool = False
    remove: bool = False
    # Nothing is left but the text that stands there: the buttons go.
    disarm: bool = False


def plain_notice(key: str, text: str, *, answers_reference: str = "", silent: bool = False) -> Card:
    """A short message of the channel itself."""
    if (more := len(text) - NOTICE_CHARACTERS) > 0:
        text = f"{text[:NOTICE_CHARACTERS]}\n… {more:,} characters more were cut."
    return Card(key=key, head=text, answers_reference=answers_reference, silent=silent)


def removal(slot: str) -> Card:
    """Takes the message of a slot away."""
    return Card(key=f"{slot}{_REMOVED}", slot=slot, remove=True, silent=True)


def disarmed(slot: str) -> Card:
    """Takes the buttons of a slot's message away; what it says stays."""
    return Card(key=f"{slot}:disarmed", slot=slot, edit=True, disarm=True, silent=True)


def removed_slot(key: str) -> str:
    """The slot whose message the card of this key takes away; empty for any other card."""
    return key.removesuffix(_REMOVED) if key.endswith(_REMOVED) else ""


def shortened(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"

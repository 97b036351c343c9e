"""The buttons below a reply: what somebody may want to do next with what it says. Pure."""

import time
from collections.abc import Callable, Collection, Sequence

from farhand.channels.kit.card import Button, Card, CommandTap, FocusTap, ModelTap, ModeTap
from farhand.channels.kit.held_texts import say_after_all
from farhand.channels.kit.queue_cards import with_queue
from farhand.channels.kit.surface import ChatMessage, is_command
from farhand.model import commands
from farhand.model.present import Present, Worker
from farhand.model.quiet import is_quiet
from farhand.model.slash import OFFERS
from farhand.model.wishes import InfoRequest, Wish, Wrong
from farhand.model.words import Mode, WorkerName, replace

Rows = tuple[tuple[Button, ...], ...]
ModelsOf = Callable[[Worker], Sequence[str]]
# A keyboard with more is read by nobody.
MOST_MODELS = 6
MODEL_CHARACTERS = 24
# What a label has room for on every chat.
LABEL_CHARACTERS = 20
MODES = {
    Mode.DEFAULT: "Ask before acting",
    Mode.AUTO_EDIT: "Edit, ask the rest",
    Mode.PLAN: "Only read and plan",
}
BUZZ_AGAIN = (Button(label="Buzz again", tap=CommandTap(command="quiet off")),)
# The commands of `OFFERS` that are about one worker.
_OF_WORKER = frozenset({"tune", "mode", "progress", "relaunch"})


def with_buttons(
    card: Card,
    message: ChatMessage,
    wish: Wish | None,
    present: Present,
    models: ModelsOf,
    steers: Collection[str] = (),
) -> Card:
    """The card that answers a message, with what a tap can do about it."""
    match wish:
        case Wrong(blocked=blocked) if blocked in OFFERS:
            return replace(card, buttons=offered(blocked, message.topic, message.text))
        case InfoRequest(about="mode", of=of) if worker := present.workers.get(of or present.focus):
            slot = settings_slot(worker, message.id)
            return replace(card, slot=slot, buttons=settings_buttons(worker, models(worker)))
        case InfoRequest(about="queue", of=of):
            return with_queue(card, message.id, present, of, steers)
        case InfoRequest(about="quiet") if is_quiet(present.attention, time.time()):
            return replace(card, buttons=(BUZZ_AGAIN,))
        case commands.SetAttention(settings=settings) if is_quiet(settings, time.time()):
            return replace(card, buttons=(BUZZ_AGAIN,))
        case commands.Interrupt(worker=name, withdraw=True):
            return say_after_all(card, message.id, present.workers.get(name or present.focus))
        case InfoRequest(about="history", of=of) if len(present.workers) > 1:
            others = [name for name in sorted(present.workers) if name != (of or present.focus)]
            return replace(card, buttons=named_buttons("History of", "history", others))
        case Wrong() if is_command(message, "focus", alone=True):
            return replace(card, buttons=named_buttons("Talk to", "focus", sorted(present.workers)))
        case _:
            return card


def offered(blocked: str, worker: WorkerName = "", said: str = "") -> Rows:
    """The button that does here what a command of an agent's own does at a keyboard; in a worker's part of the chat,
    for that worker. A model that was named with it is the one that is meant."""
    label, command = OFFERS[blocked]
    named = f"{command} {worker}" if worker and command in _OF_WORKER else command
    model = said.split()[1:]
    if blocked == "model" and len(model) == 1 and len(model[0]) <= LABEL_CHARACTERS - len("Use "):
        label, named = f"Use {model[0]}", f"{named} model={model[0]}"
    return ((Button(label=label, tap=CommandTap(command=named)),),)


def settings_slot(worker: Worker, message: str) -> str:
    """The slot of an answer that tells how a worker is set; without a message, how all of that worker's begin."""
    return f"settings:{worker.name}:{worker.since}:{message}"


def settings_buttons(worker: Worker, models: Sequence[str]) -> Rows:
    """The other modes and models of a worker."""
    return (*mode_buttons(worker.name, worker.mode), *model_buttons(worker, models))


def mode_buttons(worker: WorkerName, mode: Mode) -> Rows:
    """The other modes, by what the worker does in them, each in a row of its own, for the words are long; the one that
    asks for nothing must be typed."""
    others = (one for one in MODES if one is not mode)
    return tuple((Button(label=MODES[one], tap=ModeTap(worker=worker, mode=one)),) for one in others)


def model_buttons(worker: Worker, models: Sequence[str]) -> Rows:
    """The other models that are known by name, three in a row."""
    others = [one for one in models if one != worker.model and len(one) <= MODEL_CHARACTERS][:MOST_MODELS]
    buttons = [Button(label=f"Model {one}", tap=ModelTap(worker=worker.name, model=one)) for one in others]
    return tuple(tuple(buttons[place : place + 3]) for place in range(0, len(buttons), 3))


def named_buttons(label: str, command: str, names: Sequence[WorkerName]) -> Rows:
    """A button for each worker, which types the command with its name."""
    return tuple((Button(label=f"{label} {name}", tap=CommandTap(command=f"{command} {name}")),) for name in names)


def team_buttons(present: Present) -> Rows:
    """A button for each worker, which focuses it."""
    return tuple((Button(label=name, tap=FocusTap(worker=name)),) for name in sorted(present.workers))

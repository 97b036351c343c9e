"""What a chat shows of words that were said to a worker elsewhere: no answer comes without its question. Pure."""

from farhand.channels.kit.card import Card
from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.provenance import NODES_OWN, is_by_pipe, writer
from farhand.model.visible import visible
from farhand.model.words import Sender

# How the node and programs with its key speak: what they say is no part of the conversation between people and workers.
PROGRAMS = NODES_OWN | {"http"}
# What people call the places where they type.
PLACES = {"chat": "terminal", "cli": "command line"}
MOST_CHARACTERS = 1000


def said_elsewhere(event: Event, surface: str, *, waits: bool) -> list[Card]:
    """A silent card for what a person said elsewhere; none for a message that waits, which has a card of its own."""
    match event.fact:
        case facts.Queued(text=text, by=by) if is_elsewhere(by, surface) and not waits:
            return [_card(event, line(event.worker, text, by))]
        case facts.TurnStarted(message=None, text=text) if text.strip():
            return [_card(event, desk_line(event.worker, text))]
        case _:
            return []


def is_elsewhere(by: Sender, surface: str) -> bool:
    """Whether a person said it, and not on this surface, or a colleague through a pipe."""
    return is_by_pipe(by) or (bool(by.who) and by.via != surface and by.via not in PROGRAMS)


def line(worker: str, text: str, by: Sender) -> str:
    """Who said what to whom, and where."""
    if is_by_pipe(by):
        return f"{writer(by)} → {worker}: {text}"
    return f"{by.who or 'you'} ({PLACES.get(by.via, by.via)}) → {worker}: {text or 'a file'}"


def desk_line(worker: str, text: str) -> str:
    """What was typed into the agent's own box."""
    return f"at the desk → {worker}: {text}"


def _card(event: Event, text: str) -> Card:
    # Cut first: to look at every character of a text that was made to be long takes long.
    shown = visible(text[:MOST_CHARACTERS])[:MOST_CHARACTERS]
    more = f"… ({len(text) - MOST_CHARACTERS:,} characters more)" if len(text) > MOST_CHARACTERS else ""
    return Card(key=f"said:{event.seq}", head=f"{shown}{more}", silent=True)

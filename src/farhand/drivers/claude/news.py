"""What reaches a link beside errands: lines, hooks, the CLI's own word on how it stands, and its death."""

from __future__ import annotations

from pathlib import Path

import msgspec

from farhand.drivers.claude.screen import last_words
from farhand.drivers.wires.fields import parse
from farhand.drivers.wires.hooks import Arrival
from farhand.drivers.wires.tmux import Death, TmuxGone
from farhand.model.errors import AgentGone
from farhand.model.facts import Fact


class Written(msgspec.Struct, frozen=True):
    """Something may have been added to the transcript."""


class Standing(msgspec.Struct, frozen=True):
    """What Claude Code says of itself: idle, busy or waiting, and its session."""

    status: str = ""
    session: str = ""


class Priced(msgspec.Struct, frozen=True):
    """What Claude Code last told its status line, of what its session has cost among other things."""

    payload: bytes = b""


class Later(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    prompt: str
    payload: bytes = b""
    tries: int = 0


class Told(msgspec.Struct, frozen=True):
    """Facts that an errand brought forth."""

    facts: tuple[Fact, ...]


Item = Written | Standing | Priced | Later | Told | Arrival | Death | TmuxGone


def read_standing(file: Path) -> Standing:
    """What the CLI's own status file says; empty when it cannot be read."""
    try:
        record = parse(file.read_bytes())
    except OSError:
        record = None
    return Standing(record.text("status"), record.text("sessionId")) if record else Standing()


def read_cost(file: Path) -> Priced:
    """What the status line left; empty when there is nothing yet."""
    try:
        return Priced(file.read_bytes())
    except OSError:
        return Priced()


def raise_if_wanted(item: Death | TmuxGone) -> None:
    """A clean end at the desk was wanted; any other is healed by a new start."""
    if isinstance(item, Death) and item.status == 0:
        raise AgentGone("Claude Code was ended at the desk. Relaunch the worker to go on with its memory.")


def death_sentence(death: Death) -> str:
    status = "was killed" if death.status is None else f"ended with status {death.status}"
    words = f" Its last words: {last_words(death.screen)}" if death.screen else ""
    return f"Claude Code {status}.{words}"

"""Turns the native agent's lines into facts, and errands into lines. Pure: the line protocol and two words more."""

import json

from farhand.drivers.native.schema import read_session
from farhand.drivers.wires.lines import translate as lines
from farhand.model.facts import SessionKnown
from farhand.model.ports import Change, Errand, Heard


def translate(line: bytes) -> tuple[Heard, ...]:
    """What one line means."""
    session = read_session(line)
    if session:
        return (Heard(fact=SessionKnown(session=session)),)
    return lines.translate(line)


def to_line(errand: Errand, fresh: str) -> tuple[str, bytes] | None:
    """The key and the line of an errand; None when it is not possible. A change has a fresh key each time."""
    if not isinstance(errand, Change):
        return lines.to_line(errand)
    wanted = {"model": errand.model, "mode": errand.mode}
    change = {"change": "", **{name: value for name, value in wanted.items() if value is not None}}
    return f"change {fresh}", json.dumps(change).encode() + b"\n"

"""What is said of messages that wait: which there are, which were taken back, what a stop ends and leaves. Pure."""

from collections.abc import Iterable

from farhand.channels.kit.card import shortened
from farhand.model import commands
from farhand.model.plain_orders import not_begun
from farhand.model.present import Message, Present, Worker
from farhand.model.provenance import NODES_OWN, shown_text
from farhand.model.slash_argument import NO_QUEUE, numbered

LINE_CHARACTERS = 100
QUOTED_CHARACTERS = 60
MOST_QUOTED = 5
TAKEN_BACK = "Taken back."


def queue(present: Present, of: str = "") -> str:
    """`/queue`: the messages that wait, by the numbers that `/now`, `/edit` and `/drop` know them by."""
    if of and of not in present.workers:
        return cannot_find(of)
    having = workers_having(present, of)
    if not having:
        return f"No message waits for {of}." if of else NO_QUEUE
    groups = ["\n".join(f"{place}. {one.name}: {_line(message)}" for place, message in numbered(one)) for one in having]
    return "\n".join(["\n\n".join(groups), _how_to_change(having, present)])


def workers_having(present: Present, of: str = "") -> list[Worker]:
    """The workers that messages wait for, of all or of the named one; the focused one comes first."""
    having = [one for one in present.workers.values() if numbered(one) and of in {"", one.name}]
    return sorted(having, key=lambda one: one.name != present.focus)


def _how_to_change(having: list[Worker], present: Present) -> str:
    """How to change what waits; whoever is not focused must be named."""
    first = having[0].name
    name = "" if first == present.focus or (not present.focus and len(having) == 1) else f"{first} "
    others = f" For {having[1].name}: /drop {having[1].name} 1." if len(having) > 1 else ""
    return f"Change it: /edit {name}1 <message>, /drop {name}1, /now {name}1.{others}"


def cannot_find(name: str) -> str:
    """That nobody is called so."""
    return f"Can't find {name}. Check /team for who's available."


def _line(message: Message) -> str:
    return shortened(shown_text(message.text, message.by), LINE_CHARACTERS) or "a file"


def quoted(messages: Iterable[Message]) -> str:
    """The messages as one reads them in a sentence; the node's own words to its workers are none."""
    said = [one for one in messages if one.by.via not in NODES_OWN]
    texts = [f"“{shortened(shown_text(one.text, one.by), QUOTED_CHARACTERS) or 'a file'}”" for one in said]
    more = f" and {len(texts) - MOST_QUOTED} more" if len(texts) > MOST_QUOTED else ""
    return ", ".join(texts[:MOST_QUOTED]) + more


def stopped(worker: Worker | None, name: str, *, withdraw: bool) -> str:
    """What a stop ends and what becomes of what waits, for the worker as it was before it."""
    if worker is None:
        return f"{name} is being stopped."
    waits = quoted(not_begun(worker))
    ends = f"What {name} was at is being stopped" if worker.turn else "Nothing was running"
    if waits and worker.turn is not None and not withdraw:
        return f"{ends}. Then comes: {waits}."
    lines = [f"{ends}, and nothing goes on by itself: say what comes next."]
    if joined := quoted(worker.steering):
        lines.append(f"{joined} went into that, and is stopped with it.")
    if waits:
        lines.append(f"Taken back, for {name} had not begun: {waits}.")
    return "\n".join(lines)


def taken_back(command: commands.Withdraw, before: Present | None) -> str:
    """What was taken back, and from whom."""
    workers = before.workers.values() if before else ()
    found = next(((one.name, each) for one in workers for each in one.queue if each.id == command.message), None)
    if found is None:
        return TAKEN_BACK
    name, message = found
    return f"Taken back from {name}: {quoted([message])}."

"""While you were away: what happened, in five lines at most, each of which leads somewhere. Pure."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from farhand.model.app_places import app_address, place_of
from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import Matter
from farhand.model.words import Word, WorkerName

MOST_LINES = 5
NOTHING = "Nothing happened while you were away."
# What matters most comes first.
_ORDER = (
    AttentionKind.ASK,
    AttentionKind.FAILED,
    AttentionKind.OFFLINE,
    AttentionKind.SPRINT,
    AttentionKind.LIMIT,
    AttentionKind.FINISHED,
    AttentionKind.NODE,
)
_WORDS = {
    AttentionKind.ASK: ("{worker} asks: {text}", "{worker} asks {n} questions, the last: {text}"),
    AttentionKind.FAILED: ("{worker} failed: {text}", "{worker} failed {n} times, last: {text}"),
    AttentionKind.OFFLINE: ("{worker} is offline: {text}", "{worker} went offline {n} times: {text}"),
    AttentionKind.SPRINT: ("{worker}'s sprint is over: {text}", "{worker} ended {n} sprints: {text}"),
    AttentionKind.LIMIT: ("{worker} has reached its usage limit", "{worker} has reached its usage limit {n} times"),
    AttentionKind.FINISHED: ("{worker} is done: {text}", "{worker} finished {n} turns, the last: {text}"),
    AttentionKind.NODE: ("{text}", "{n} notices of the node, the last: {text}"),
}
# What shows each in a chat, where the app cannot be opened.
_COMMANDS = {
    AttentionKind.ASK: "/inbox",
    AttentionKind.FAILED: "/history {worker}",
    AttentionKind.OFFLINE: "/inbox",
    AttentionKind.SPRINT: "/history {worker}",
    AttentionKind.LIMIT: "/inbox",
    AttentionKind.FINISHED: "/history {worker}",
    AttentionKind.NODE: "/settings",
}


class DigestLine(Word):
    """One line: so many things of one kind of one worker; `key` names the newest, and leads to it."""

    kind: AttentionKind
    key: str
    at: float
    count: int = 1
    worker: WorkerName = ""
    text: str = ""
    # How many workers' lines had no room; only the last line has any.
    more: int = 0


# What leads from a line to what it tells of.
Leads: TypeAlias = Callable[[DigestLine], str]


def digest(matters: Iterable[Matter], open_asks: frozenset[str]) -> tuple[DigestLine, ...]:
    """The lines of what happened; an ask that was answered meanwhile is none of them."""
    groups: dict[tuple[AttentionKind, WorkerName], list[Matter]] = {}
    for one in matters:
        if one.kind is not AttentionKind.ASK or one.key in open_asks:
            groups.setdefault((one.kind, one.worker), []).append(one)
    ordered = sorted(groups.items(), key=lambda group: (_ORDER.index(group[0][0]), group[1][0].at))
    left = max(0, len(ordered) - MOST_LINES)
    shown = ordered[:MOST_LINES]
    return tuple(
        _line(kind, found, left if place == len(shown) - 1 else 0) for place, ((kind, _), found) in enumerate(shown)
    )


def _line(kind: AttentionKind, found: list[Matter], more: int) -> DigestLine:
    last = found[-1]
    return DigestLine(
        kind=kind, key=last.key, at=last.at, count=len(found), worker=last.worker, text=last.text, more=more
    )


def line_text(line: DigestLine) -> str:
    """A line as words, for chats and terminals."""
    one, several = _WORDS[line.kind]
    words = (one if line.count == 1 else several).format(worker=line.worker, text=line.text, n=line.count)
    return f"{words.rstrip(': ')}{f' (and {line.more} more)' if line.more else ''}"


def leads_to(origin: str) -> Leads:
    """The address in the app for each line, where there is a way in; otherwise the command of a chat that shows it."""

    def lead(line: DigestLine) -> str:
        if origin:
            return app_address(origin, place_of(line.kind, line.worker, line.key))
        return _COMMANDS[line.kind].format(worker=line.worker)

    return lead


def digest_text(lines: Iterable[DigestLine], leads: Leads) -> str:
    """The whole of it as words, each line with what leads to what it tells of."""
    return "\n".join(f"• {line_text(line)}\n   {leads(line)}" for line in lines) or NOTHING

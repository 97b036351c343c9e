"""The list of conversations that could be taken up, laid out with a button for each. Pure."""

from collections.abc import Sequence

from farhand.channels.kit.card import AdoptTap, Button, Card, shortened
from farhand.model.ports import SessionFound

MOST_SESSIONS = 8


def session_list(key: str, found: Sequence[SessionFound], now: float) -> Card:
    """Conversations that could be taken up, each with a button where nobody has it."""
    lines: list[str] = []
    buttons: list[tuple[Button, ...]] = []
    for number, one in enumerate(found[:MOST_SESSIONS], 1):
        whose = f" · {one.worker} has it" if one.worker else " · open at the desk" if one.open else ""
        lines.append(f"{number}. {shortened(one.title, 80) or one.id}\n   {one.backend} · {ago(now - one.at)}{whose}")
        lines.append(f"   {shortened(one.directory, 80)}")
        if not one.worker:
            tap = AdoptTap(backend=one.backend, session=one.id, anyway=bool(one.open))
            label = f"{number}. {'Take over: ' if one.open else ''}{one.title or one.id}"
            buttons.append((Button(label=shortened(label, 40), tap=tap),))
    left = len(found) - MOST_SESSIONS
    more = [f"… and {left} older; name a folder to see less: /sessions <backend> <folder>"] if left > 0 else []
    head = "\n".join(["Conversations on this machine; tap one to take it up:", *lines, *more])
    return Card(key=key, head=head if found else "No agent has a conversation there.", buttons=tuple(buttons))


def ago(seconds: float) -> str:
    """How long ago, as people say it."""
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if (number := int(seconds // length)) >= 1:
            return f"{number} {name}{'' if number == 1 else 's'} ago"
    return "just now"

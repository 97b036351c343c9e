"""Reads Codex's screen: its input box and its dialogs. Pure: for liveness and keys, never for content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from farhand.drivers.wires.tmux.screen import begins, bright, plain

PROMPT = "›"
LOADING = "loading"
# A message that is longer is shown as a token, and arrives whole all the same.
_TOKEN = re.compile(r"^\[Pasted Content \d+ chars\]")
# What stands under a dialog, where else the footer of the box would be.
_ASKING = re.compile(
    r"(?:press )?enter (?:to )?(?:confirm|continue|select)|esc (?:to )?(?:cancel|skip|quit|go back)", re.I
)
_FOOT = 6


def read_box(screen: str) -> str | None:
    """What stands in the input box; '' when only its hint does, None when there is no box."""
    lines = screen.splitlines()
    bare = [plain(line) for line in lines]
    foot = [line for line in bare if line.strip()][-_FOOT:]
    if any(_ASKING.search(line) for line in foot):
        return None
    number = next((n for n in range(len(bare) - 1, -1, -1) if bare[n].startswith(PROMPT)), None)
    if number is None:
        return None
    end = next((n for n in range(number + 1, len(bare)) if not bare[n].strip()), len(bare))
    typed = "\n".join(bright(line) for line in lines[number:end])
    return typed.removeprefix(PROMPT).strip()


def is_ready(screen: str) -> bool:
    """Whether the box is there and Codex has opened its session."""
    return read_box(screen) is not None and not any(line.strip() == LOADING for line in plain(screen).splitlines())


def is_asking(screen: str) -> bool:
    """Whether a dialog stands open."""
    foot = [line for line in plain(screen).splitlines() if line.strip()][-_FOOT:]
    return any(_ASKING.search(line) for line in foot)


def takes_escape(screen: str) -> bool:
    """Whether it works or asks: at rest, Escape means something else."""
    return is_asking(screen) or "esc to interrupt" in screen


def holds(box: str, text: str) -> bool:
    """Whether the box begins with this text, or with the token of a long one."""
    return begins(box, text) or bool(_TOKEN.match(box))


def dialog_key(screen: str, dialogs: Sequence[Mapping[str, str]]) -> str | None:
    """The next key for the dialog on the screen: to its choice, then Enter once that is seen to be chosen."""
    lines = [line.strip() for line in plain(screen).splitlines()]
    words = " ".join(lines)
    for dialog in dialogs:
        if dialog["words"] not in words:
            continue
        if any(line.startswith(PROMPT) and dialog["choice"] in line for line in lines):
            return "Enter"
        return "Down" if any(dialog["choice"] in line for line in lines) else None
    return None

"""Reads Codex's screen: its input box and its dialogs. Pure: for liveness and keys, never for content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from farhand.drivers.wires.tmux.screen import begins, bright, newest_block, plain
from farhand.model.lazy_pattern import lazy_pattern

PROMPT = "›"
LOADING = "loading"
# Under what was sent before Codex had started; it is taken up by itself.
STARTING = "Waiting for startup"
# A message that is longer is shown as a token, and arrives whole all the same.
_TOKEN = lazy_pattern(r"^\[Pasted Content \d+ chars\]")
# What stands under a dialog, where else the footer of the box would be.
_ASKING = lazy_pattern(
    r"(?:press )?enter (?:to )?(?:confirm|continue|select)|esc (?:to )?(?:cancel|skip|quit|go back)|· esc back\b", re.I
)
_FOOT = 6
# The newest line after a turn that was stopped.
STOPPED = "■"
# At the end of the first line that is shown of a text which is higher than the box.
SCROLLED = "↑"
ANSWER = "• "
# It may leave such a command in the box.
UNKNOWN = "• Unrecognized command "
# After an Escape at rest: one more would open what was said before.
EDITING = "again to edit"
# Under the answer of a turn that is over.
WORKED = "  Worked for "
_STATUS = lazy_pattern(rf"^(?:• Working|{WORKED})")
_DONE = lazy_pattern(
    r"^• (?:Running|Ran|Explor|Edit|Added|Deleted|Updated|Call|Search|View|Propos|Wait|Read|List|Start|Generat)\w*\b"
)


def read_box(screen: str) -> str | None:
    """What stands in the input box; '' when only its hint does, None when there is no box."""
    lines = screen.splitlines()
    bare = [plain(line) for line in lines]
    number = _prompt(bare)
    if number is None or any(_ASKING.search(line) for line in _foot(screen)):
        return None
    end = next((n for n in range(number + 1, len(bare)) if not bare[n].strip()), len(bare))
    typed = "\n".join(bright(line) for line in lines[number:end])
    return typed.removeprefix(PROMPT).strip()


def _prompt(lines: Sequence[str]) -> int | None:
    """The line that the box begins with."""
    return next((n for n in range(len(lines) - 1, -1, -1) if lines[n].startswith(PROMPT)), None)


def is_all_of(screen: str, text: str) -> bool:
    """Whether the box holds this text, or as much of its end as it has room for, and nothing that somebody added."""
    lines = screen.splitlines()
    # The last line may hold nothing but a change of colours.
    while lines and not plain(lines[-1]).strip():
        lines.pop()
    bare = [plain(line) for line in lines]
    number = _prompt(bare)
    # Below the box, after a blank line, stands the footer; a text may have blank lines of its own.
    end = next((n for n in range(len(bare) - 1, -1, -1) if not bare[n].strip()), 0)
    if number is None or end <= number:
        return False
    typed = "".join("".join(bright(line) for line in lines[number:end]).removeprefix(PROMPT).split())
    given = "".join(text.split())
    scrolled = bare[number].rstrip().endswith(SCROLLED)
    return bool(typed) and (given.endswith(typed) if scrolled else given == typed)


def is_stopped(screen: str) -> bool:
    """Whether the newest that Codex shows is that its turn was stopped."""
    lines = plain(screen).splitlines()
    blocks = [line for line in lines[: _prompt(lines) or 0] if line.strip() and not line.startswith(" ")]
    return bool(blocks) and blocks[-1].startswith(STOPPED)


def refusals(screen: str) -> int:
    """How many commands Codex says on this screen that it does not know."""
    return sum(line.startswith(UNKNOWN) for line in plain(screen).splitlines())


def answer_on(screen: str) -> str:
    """What Codex shows of the model's newest message; '' when a person, or a tool, came after it."""
    lines = plain(screen).splitlines()
    box = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].startswith(PROMPT)), len(lines))
    # A tool's line has the same mark, and ends what was said before it.
    shown = ("-" if _DONE.match(line) else line for line in lines[:box] if not _STATUS.match(line))
    return newest_block(shown, ANSWER)


def is_ready(screen: str) -> bool:
    """Whether the box is there and Codex has opened its session."""
    return read_box(screen) is not None and not any(line.strip() == LOADING for line in plain(screen).splitlines())


def is_starting(screen: str) -> bool:
    """Whether Codex holds back what it was sent until it has started."""
    return any(STARTING in line for line in _foot(screen))


def is_asking(screen: str) -> bool:
    """Whether a dialog stands open."""
    return any(_ASKING.search(line) and STARTING not in line for line in _foot(screen))


def _foot(screen: str) -> list[str]:
    """What stands below the box, or below a dialog's choices; above it are an agent's words and Codex's tips."""
    lines = plain(screen).splitlines()
    number = _prompt(lines)
    return [line for line in lines[0 if number is None else number + 1 :] if line.strip()][-_FOOT:]


def takes_escape(screen: str) -> bool:
    """Whether it works or asks, for a turn that is not known to be over: at rest, Escape means something else.

    While it writes an answer it does not show that it works, but then, that it has worked."""
    return is_asking(screen) or "esc to interrupt" in screen or _is_writing(screen)


def _is_writing(screen: str) -> bool:
    lines = plain(screen).splitlines()
    above = [line for line in lines[: _prompt(lines) or 0] if line.strip()]
    at_rest = (bool(above) and above[-1].startswith(WORKED)) or any(EDITING in line for line in _foot(screen))
    return bool(answer_on(screen)) and not at_rest


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

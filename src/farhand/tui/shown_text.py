"""Texts as the screen shows them: harmless to a terminal, diffs in colour, long ones cut with a count. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content

from farhand.model.live_session import MessageState, Role, SessionMessage, SessionPart
from farhand.model.visible import for_terminal

MOST_LINES = 400
# A diff of so many lines is shown at once.
MOST_OPEN_LINES = 24
_HUNK = re.compile(r"^@@ .* @@|^--- .*\n\+\+\+ ", re.MULTILINE)


def plain(text: str) -> str:
    """The text without what a terminal would take for an order; tabs as blanks."""
    return for_terminal(text).replace("\t", "    ")


def cut(text: str, most: int = MOST_LINES) -> str:
    """The beginning of a long text, with a count of what is left out."""
    lines = text.splitlines()
    if len(lines) <= most:
        return text
    return "\n".join([*lines[:most], f"… {len(lines) - most:,} lines more"])


def tool_title(part: SessionPart) -> Content:
    """One line that tells what a tool does, and how it went; of a diff, how many lines came and went."""
    mark, style = {None: ("●", "$warning"), True: ("✓", "$success"), False: ("✗", "$error")}[part.ok]
    title = Content.assemble((f"{mark} ", style), " ".join(plain(part.title).split()))
    if not _HUNK.search(part.text):
        return title
    lines = [line for line in part.text.splitlines() if not line.startswith(("+++", "---"))]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return Content.assemble(title, (f"  +{added}", "$text-success"), (f" −{removed}", "$text-error"))


def tool_body(part: SessionPart) -> Content:
    """What a tool was given and what it brought: a diff in its colours."""
    given, brought = plain(part.detail).strip(), cut(plain(part.text)).strip()
    pieces = [Content.styled(given, "dim")] if given else []
    pieces += [diff(brought) if _HUNK.search(brought) else Content(brought)] if brought else []
    return Content("\n\n").join(pieces)


def diff(text: str) -> Content:
    """A diff with its lines in colour; of one file, without the two lines that name it."""
    lines = text.splitlines()
    if [line[:4] for line in lines[:2]] == ["--- ", "+++ "] and sum(line.startswith("+++ ") for line in lines) == 1:
        lines = lines[2:]
    return Content("\n").join(_diff_line(line) for line in lines)


def whole_text(text: str) -> Content:
    """The whole of what would be done: a change as a diff in its colours."""
    return diff(text) if _HUNK.search(text) else Content(text)


def _diff_line(line: str) -> Content:
    if line.startswith(("+++", "---")):
        return Content.styled(line, "bold")
    style = {"+": "$text-success on $success-muted", "-": "$text-error on $error-muted", "@": "$text-accent"}
    return Content.styled(line, style[line[:1]]) if line[:1] in style else Content(line)


def is_short_diff(part: SessionPart) -> bool:
    """Whether it changed a file in so few lines that one wants to see them without being asked."""
    return bool(part.ok) and part.text.count("\n") <= MOST_OPEN_LINES and _HUNK.search(part.text) is not None


def thought_title(text: str) -> Content:
    """One line of what the model thinks."""
    line = next((line for line in plain(text).strip().splitlines() if line.strip()), "")
    return Content.styled(f"∴ {line.strip('*# ')}", "dim italic")


def ending(message: SessionMessage) -> str:
    """What stands below an answer that did not come to its end."""
    return {MessageState.INTERRUPTED: "⏹ stopped", MessageState.FAILED: "✗ the turn failed"}.get(message.state, "")


def printed(messages: Iterable[SessionMessage]) -> str:
    """The conversation as plain text, for the terminal's own scrollback after the app has left."""
    said = [one for one in messages if one.role is not Role.NOTICE and one.text]
    return "\n\n".join(_quoted(one) if one.role is Role.USER else plain(one.text) for one in said)


def _quoted(message: SessionMessage) -> str:
    return "\n".join(f"› {line}" for line in plain(message.text).splitlines())

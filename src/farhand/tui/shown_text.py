"""Texts as the screen shows them: harmless to a terminal, diffs in colour, long ones cut with a count. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content

from farhand.model.live_session import MessageState, Role, SessionMessage, SessionPart
from farhand.model.visible import for_terminal

MOST_LINES = 400
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
    """One line that tells what a tool does, and how it went."""
    mark, style = {None: ("●", "$warning"), True: ("✓", "$success"), False: ("✗", "$error")}[part.ok]
    return Content.assemble((f"{mark} ", style), " ".join(plain(part.title).split()))


def tool_body(part: SessionPart) -> Content:
    """What a tool was given and what it brought: a diff in its colours."""
    given, brought = plain(part.detail).strip(), cut(plain(part.text)).strip()
    pieces = [Content.styled(given, "dim")] if given else []
    pieces += [diff(brought) if _HUNK.search(brought) else Content(brought)] if brought else []
    return Content("\n\n").join(pieces)


def diff(text: str) -> Content:
    """A diff with its lines in colour."""
    return Content("\n").join(_diff_line(line) for line in text.splitlines())


def _diff_line(line: str) -> Content:
    if line.startswith(("+++", "---")):
        return Content.styled(line, "bold")
    style = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}.get(line[:1], "")
    return Content.styled(line, style) if style else Content(line)


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

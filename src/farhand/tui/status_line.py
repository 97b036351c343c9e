"""The lines above and below the conversation: who it is with, how it stands, what each of a team does. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual.content import Content

from farhand.model.live_session import MessageState, SessionMessage, SessionName, SessionStatus
from farhand.tui.shown_text import plain

QUEUE_SHOWN = 3
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
# The width of the list of the team, without its edges.
TEAM_COLUMNS = 24
MARKS = {
    "working": ("●", "$warning"),
    "waiting": ("?", "$error"),
    "available": ("●", "$success"),
    "limited": ("◌", "$warning"),
    "offline": ("○", "dim"),
    "leaving": ("○", "dim"),
}


def title_line(title: str, status: SessionStatus) -> Content:
    """Whom one talks to, with which model, in which folder, and what it may do unasked."""
    told = [plain(one) for one in (status.model, short_path(status.directory)) if one]
    if status.mode:
        told.append(f"mode {plain(status.mode)}")
    return Content.assemble((plain(title), "bold $primary"), "".join(f" · {one}" for one in told))


def status_line(status: SessionStatus, asks: int, seconds: float, spin: int, remote: str = "") -> Content:
    """How the conversation stands, and what one can do about it."""
    parts: list[Content] = []
    if status.why and not status.ready:
        parts.append(Content.styled(plain(status.why), "$text-error"))
    elif asks:
        parts.append(Content.styled("? waits for your answer", "$text-warning"))
    elif status.running:
        parts.append(Content.assemble((SPINNER[spin], "$warning"), f" working {_time(seconds)} · Esc stops"))
    if status.queued:
        parts.append(Content(f"{status.queued} waiting"))
    if status.tokens:
        parts.append(Content(f"{_count(status.tokens)} tokens"))
    if status.cost_dollars is not None:
        parts.append(Content(f"${status.cost_dollars:.2f}"))
    if remote:
        parts.append(Content(remote))
    if status.ready and not status.running and not asks:
        parts.append(Content("Enter sends · Ctrl+J new line · Ctrl+O details"))
    return Content(" · ").join(parts)


def queue_lines(messages: Iterable[SessionMessage]) -> Content:
    """The messages that wait, a line each: the next ones, and how many more there are."""
    waiting = [one for one in messages if one.state is MessageState.QUEUED]
    shown = [f"{place}. {' '.join(plain(one.text).split())}" for place, one in enumerate(waiting[:QUEUE_SHOWN], 1)]
    more = [f"and {len(waiting) - QUEUE_SHOWN} more"] if len(waiting) > QUEUE_SHOWN else []
    return Content("\n".join(f"⋯ {line}" for line in [*shown, *more]))


def team_line(name: SessionName, *, current: bool) -> Content:
    """A worker in the list: how it stands, what was not read yet, what it cost; below it what else there is."""
    mark, style = MARKS.get(name.state, ("·", ""))
    shown, unread = plain(name.name), f" ({name.unread})" if name.unread else ""
    room = TEAM_COLUMNS - len(name.cost) - len(unread) - 3
    shown = shown if len(shown) <= room else f"{shown[: max(room - 1, 1)]}…"
    return Content.assemble(
        (f"{mark} ", style),
        (shown, "bold $primary" if current else ""),
        (unread, "bold $accent"),
        " " * max(room - len(shown) + 1, 1),
        (name.cost, "dim"),
        (f"\n  {plain(name.doing)}"[: TEAM_COLUMNS + 1] if name.doing else "", "dim"),
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def _count(number: int) -> str:
    return str(number) if number < 1000 else f"{number / 1000:.1f}k"


def short_path(directory: str) -> str:
    """A folder as people write it: `~` for their own."""
    home = str(Path.home())
    inside = directory == home or directory.startswith(f"{home}/")
    return plain(f"~{directory[len(home) :]}" if inside else directory)

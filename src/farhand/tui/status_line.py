"""The lines above and below the conversation: who it is with, how it stands, what each of a team does. Pure."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content

from farhand.model.live_session import SessionName, SessionStatus
from farhand.tui.shown_text import plain

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
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
    told = [plain(one) for one in (status.model, _short(status.directory)) if one]
    if status.mode:
        told.append(f"mode {plain(status.mode)}")
    return Content.assemble((plain(title), "bold $primary"), "".join(f" · {one}" for one in told))


def status_line(status: SessionStatus, asks: int, seconds: float, spin: int, remote: str = "") -> Content:
    """How the conversation stands, and what one can do about it."""
    parts: list[Content] = []
    if asks:
        parts.append(Content.styled("? waits for your answer", "$text-warning"))
    elif status.running:
        parts.append(Content.assemble((SPINNER[spin], "$warning"), f" working {_time(seconds)} · Esc stops"))
    elif not status.ready:
        parts.append(Content.styled(plain(status.why) or "not ready", "$text-error"))
    if status.queued:
        parts.append(Content(f"{status.queued} waiting"))
    if status.tokens:
        parts.append(Content(f"{_count(status.tokens)} tokens"))
    if status.cost_dollars is not None:
        parts.append(Content(f"${status.cost_dollars:.2f}"))
    if remote:
        parts.append(Content(remote))
    if status.ready and not status.running and not asks:
        parts.append(Content("Enter sends · Ctrl+J new line · Ctrl+O details · /quit"))
    return Content(" · ").join(parts)


def team_line(name: SessionName, *, current: bool) -> Content:
    """A worker in the list: how it stands, what it cost, and what was not read yet."""
    mark, style = MARKS.get(name.state, ("·", ""))
    unread = f" ({name.unread})" if name.unread else ""
    told = f"  {name.cost}" if name.cost else ""
    return Content.assemble(
        (f"{mark} ", style),
        (plain(name.name), "bold" if current else ""),
        (unread, "bold $accent"),
        (told, "dim"),
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def _count(number: int) -> str:
    return str(number) if number < 1000 else f"{number / 1000:.1f}k"


def _short(directory: str) -> str:
    home = str(Path.home())
    inside = directory == home or directory.startswith(f"{home}/")
    return plain(f"~{directory[len(home) :]}" if inside else directory)

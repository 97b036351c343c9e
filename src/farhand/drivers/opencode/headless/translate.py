"""Turns OpenCode's events into facts. Pure: no clock, no files. A session's messages are told as events, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from farhand.drivers.opencode.headless import messages, requests
from farhand.drivers.opencode.headless import status as standing
from farhand.drivers.opencode.headless.state import Moment, OpenCodeState, Told, rested
from farhand.drivers.opencode.schema import (
    MessageUpdated,
    OpenCodeEvent,
    OpenCodeMessage,
    OpenCodeNamed,
    OpenCodePermission,
    OpenCodeQuestions,
    PartDelta,
    PartUpdated,
    Replied,
    SessionCreated,
    SessionFailed,
    StatusChanged,
    read,
)
from farhand.model.facts import TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import replace

# Events that say nothing about a turn.
SILENT = frozenset(
    """server.connected server.heartbeat server.instance.disposed session.updated session.diff session.deleted
    message.removed message.part.removed plugin.added catalog.updated reference.updated integration.updated
    todo.updated file.edited file.watcher.updated lsp.updated lsp.client.diagnostics mcp.tools.changed
    vcs.branch.updated command.executed installation.updated installation.update-available project.updated
    tui.prompt.append
    tui.command.execute tui.toast.show tui.session.select pty.created pty.updated pty.exited pty.deleted
    global.disposed storage.write ide.installed""".split()
)
# An event of our own: the session was looked at and does nothing.
AT_REST = "farhand.at_rest"


def translate(
    data: bytes, state: OpenCodeState, at: float = 0.0, seconds: float | None = None
) -> tuple[list[Heard], OpenCodeState]:
    """The facts of one event, which came at that time; asks wait that many seconds."""
    event = read(data, OpenCodeEvent)
    if event is None:
        return [], replace(state, skipped=state.skipped + 1)
    handler = _KINDS.get(event.type)
    if handler is None:
        return [], state if event.type in SILENT else replace(state, skipped=state.skipped + 1)
    kind, tell = handler
    found = read(event.properties, kind)
    if found is None:
        return [], replace(state, skipped=state.skipped + 1)
    before = state.turn
    facts, state = tell(found, state, Moment(at=at, seconds=seconds))
    if not facts:
        return [], state
    turn = state.turn or before or None
    heard = [Heard(fact=fact, turn=turn) for fact in facts]
    if isinstance(facts[-1], TurnEnded):
        state = rested(state)
    return heard, state


def told_as_events(message: OpenCodeMessage) -> list[bytes]:
    """A message of a session as the events that it would have come with."""
    parts = [event("message.part.updated", {"part": part}) for part in message.parts]
    return [event("message.updated", {"info": message.info}), *parts]


def event(kind: str, properties: Any) -> bytes:
    """An event as it comes over the stream."""
    return msgspec.json.encode({"type": kind, "properties": properties})


_KINDS: dict[str, tuple[type[Any], Callable[[Any, OpenCodeState, Moment], Told]]] = {
    "message.part.delta": (PartDelta, messages.part_grew),
    "message.part.updated": (PartUpdated, messages.part_updated),
    "message.updated": (MessageUpdated, messages.message_updated),
    "session.status": (StatusChanged, standing.status_changed),
    "session.idle": (OpenCodeNamed, standing.went_idle),
    "session.error": (SessionFailed, standing.session_failed),
    "session.compacted": (OpenCodeNamed, standing.session_compacted),
    "session.created": (SessionCreated, standing.session_created),
    "permission.asked": (OpenCodePermission, requests.leave_wanted),
    "permission.replied": (Replied, requests.request_over),
    "question.asked": (OpenCodeQuestions, requests.question_asked),
    "question.replied": (Replied, requests.request_over),
    "question.rejected": (Replied, requests.request_over),
    AT_REST: (OpenCodeNamed, standing.found_at_rest),
}

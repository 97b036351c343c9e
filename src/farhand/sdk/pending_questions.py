"""Questions that wait, on disk: another process can resume the session, answer them and go on with the turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from farhand.sdk import wire
from farhand.sdk.conversation import INTERRUPTED, Restored, SessionRecords
from farhand.sdk.protocols import Content, Question, ToolCall
from farhand.sdk.recording import CallRecord

SUFFIX = ".pending.json"


@dataclass(frozen=True, slots=True)
class PendingQuestions:
    """Where a turn stood when it asked: the open questions, the model's message, and the calls that had ended."""

    questions: tuple[Question, ...] = ()
    content: Content = field(default_factory=dict[str, Any])
    ended: tuple[CallRecord, ...] = ()
    message: Mapping[str, Any] = field(default_factory=dict[str, Any])


NOTHING_PENDING = PendingQuestions()


def pending_path(recording: Path) -> Path:
    """Where the open questions of a recorded session lie."""
    return recording.with_name(recording.name + SUFFIX)


def write_pending(path: Path, questions: Sequence[Question], content: Content, ended: Sequence[CallRecord]) -> None:
    """Writes the open questions down; without any, the file goes away."""
    from farhand.sdk.workspace import write_text

    if not questions:
        path.unlink(missing_ok=True)
        return
    state = {
        "version": 1,
        "questions": [_question_form(question) for question in questions],
        "content": content,
        "ended": [
            {"id": record.call.id, "parts": list(record.result), "status": record.status, "display": record.display}
            for record in ended
        ],
    }
    path.touch(mode=0o600)
    write_text(path, json.dumps(state, ensure_ascii=False))


def read_pending(path: Path) -> PendingQuestions:
    """The open questions of a session; none when there is no such file, or it is damaged."""
    try:
        state = json.loads(path.read_text("utf-8"))
        content = dict(state["content"])
        calls = {call.id: call for call in wire.calls_of(content)}
        ended = [
            CallRecord(calls[each["id"]], tuple(each["parts"]), str(each["status"]), str(each["display"]))
            for each in state["ended"]
            if each["id"] in calls
        ]
        return PendingQuestions(tuple(_question(each) for each in state["questions"]), content, tuple(ended))
    except (OSError, ValueError, KeyError, TypeError):
        return NOTHING_PENDING


def reopened(
    conversation: SessionRecords, restored: Restored, pending: PendingQuestions
) -> tuple[Restored, PendingQuestions]:
    """The conversation as it stood when the turn asked. A file that is older than it counts for nothing."""
    wanted = [call.id for call in wire.calls_of(pending.content)]
    contents = list(restored.contents)
    if not wanted or len(contents) < 2 or [call.id for call in wire.calls_of(contents[-2])] != wanted:
        return restored, NOTHING_PENDING
    if any(response.get("response") != {"error": INTERRUPTED} for response in wire.responses_of(contents[-1])):
        return restored, NOTHING_PENDING
    losses = tuple(loss for loss in restored.losses if "tool call(s) had no recorded result" not in loss)
    said = [each for each in conversation.messages if each.get("type") == "gemini"]
    return Restored(tuple(contents[:-1]), losses), replace(pending, message=said[-1] if said else {})


def _question_form(question: Question) -> dict[str, Any]:
    call = question.call
    return {
        "id": question.id,
        "kind": question.kind,
        "text": question.text,
        "choices": list(question.choices),
        "call": {"id": call.id, "name": call.name, "arguments": call.arguments} if call else None,
        "fields": dict(question.fields),
        "subagent": question.subagent,
        "reason": question.reason,
    }


def _question(form: Mapping[str, Any]) -> Question:
    call = form["call"]
    return Question(
        form["id"],
        form["kind"],
        form["text"],
        tuple(form["choices"]),
        ToolCall(call["id"], call["name"], dict(call["arguments"])) if call else None,
        dict(form["fields"]),
        str(form.get("subagent", "")),
        str(form.get("reason", "")),
    )

"""A question in the Gemini CLI's terminal as an ask. Pure; whatever is unclear allows nothing."""

from __future__ import annotations

from typing import Any, Final

from farhand.drivers.gemini.schema import digest
from farhand.drivers.gemini.screen import Dialog, shows, shows_of
from farhand.drivers.gemini.titles import detail, title
from farhand.drivers.wires.fields import Fields
from farhand.drivers.wires.titled import in_full
from farhand.drivers.wires.visible import visible
from farhand.model.facts import AskRaised
from farhand.model.words import Choice, Word

ALLOW: Final = "allow"
SESSION: Final = "session"
DENY: Final = "deny"
# How the dialog's options begin; others (an editor at the desk, leave for ever) are not for the phone.
LABELS: Final = {ALLOW: "Allow once", SESSION: "Allow for this session", DENY: "No"}


class Call(Word):
    """A tool and what it is given."""

    tool: str = ""
    arguments: dict[str, Any] = {}


class Question(Word):
    """What the CLI asks leave for, as its hooks told."""

    call: Call
    kind: str
    details: dict[str, Any]


def call_of(payload: Fields) -> Call:
    """The call in a BeforeTool or AfterTool payload."""
    return Call(tool=payload.text("tool_name"), arguments=payload.fields("tool_input").plain)


def question_of(notification: Fields, calls: tuple[Call, ...]) -> Question:
    """The question in a Notification payload, about one of the calls that were announced before."""
    details = notification.fields("details")
    kind = details.text("type")
    fitting = [call for call in calls if _fits(call, kind, details)]
    return Question(call=fitting[-1] if fitting else Call(), kind=kind, details=details.plain)


def _fits(call: Call, kind: str, details: Fields) -> bool:
    arguments = Fields(call.arguments)
    if kind == "exec":
        return arguments.text("command") == details.text("command")
    if kind == "edit":
        return arguments.text("file_path").endswith(details.text("fileName"))
    return True


def digest_of(question: Question) -> str:
    """Names exactly what will run."""
    return digest(question.call.tool, [question.call.arguments, question.details])


def raised(ask: str, question: Question, seconds: float | None, dialog: Dialog) -> AskRaised:
    """The ask, with everything that a person needs to decide, and the answers that the dialog has."""
    offered = tuple(
        Choice(id=choice, label="Deny" if choice == DENY else label, allows=choice != DENY)
        for choice, label in LABELS.items()
        if dialog.key(label)
    )
    call = question.call
    words = title(call.tool, Fields(call.arguments)) if call.tool else _title(question)
    return AskRaised(
        ask=ask,
        question=visible(words),
        choices=offered,
        detail=visible(whole(question)),
        digest=digest_of(question),
        deadline_seconds=seconds,
    )


def _title(question: Question) -> str:
    return Fields(question.details).text("title") or "May this run?"


def whole(question: Question) -> str:
    """The whole of what will run: the command, or the difference with its file."""
    details = Fields(question.details)
    if question.kind == "exec" and details.text("command"):
        return details.text("command")
    if question.kind == "edit" and details.text("fileDiff"):
        return f"{details.text('filePath')}\n\n{details.text('fileDiff')}"
    if question.call.tool:
        return detail(question.call.tool, Fields(question.call.arguments))
    return in_full(question.details)


def is_about(dialog: Dialog, question: Question) -> bool:
    """Whether the dialog on the screen asks this question and no other."""
    details = Fields(question.details)
    if question.kind == "exec":
        return dialog.question.startswith("Allow execution") and shows(dialog, details.text("command"))
    if question.kind == "edit":
        name = details.text("fileName")
        changed = "\n".join(map(details.text, ("fileDiff", "originalContent", "newContent")))
        named = bool(name) and name in dialog.header
        return named and dialog.question.startswith("Apply this change") and shows_of(dialog, changed)
    if question.kind == "mcp":
        return f'"{details.text("toolName")}"' in dialog.question
    return dialog.question.startswith("Do you want to proceed")

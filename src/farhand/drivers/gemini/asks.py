"""A question in the Gemini CLI's terminal as an ask. Pure; whatever is unclear allows nothing."""

from __future__ import annotations

from typing import Any, Final

from farhand.drivers.gemini.schema import digest
from farhand.drivers.gemini.screen import Dialog, bare, shows, shows_of
from farhand.drivers.gemini.titles import detail, title
from farhand.drivers.wires.asking import ALLOW, DENY, OTHER, SESSION, Worded, ask_of, described, labels_of, options
from farhand.drivers.wires.fields import Fields
from farhand.drivers.wires.titled import in_full
from farhand.model.facts import AskRaised
from farhand.model.words import AskKind, Choice, Word, replace

ACCEPT_EDITS: Final = "accept_edits"
# How the dialog's options begin; others (an editor at the desk, leave for ever) are not for the phone.
LABELS: Final = {ALLOW: "Allow once", SESSION: "Allow for this session", DENY: "No"}
PLAN: Final = "exit_plan_mode"
PLAN_TITLE = "Ready to start implementation?"
PLANS: Final = {ALLOW: "Yes, manually accept edits", ACCEPT_EDITS: "Yes, automatically accept edits"}
FEEDBACK = "Type your feedback"
PLAN_CHOICES = (
    Choice(id=ALLOW, label="Go ahead, ask before edits"),
    Choice(id=ACCEPT_EDITS, label="Go ahead, edit freely"),
    Choice(id=DENY, label="Keep planning", allows=False, words=True),
)
CHOICE: Final = "ask_user"
CUSTOM = "Enter a custom value"
ESCAPE = "Escape"


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
    return call.tool == kind if kind in (PLAN, CHOICE) else True


def asked_once(question: Question) -> Fields | None:
    """What a person is asked, if it is one thing with one answer; longer questionnaires are for the desk."""
    questions = Fields(question.call.arguments).list("questions")
    if question.kind != CHOICE or len(questions) != 1 or questions[0].flag("multiSelect"):
        return None
    return questions[0] if labels(questions[0]) else None


def labels(asked: Fields) -> list[str]:
    """Its answers, in the order of their keys."""
    return ["Yes", "No"] if asked.text("type") == "yesno" else labels_of(asked)


def is_for_the_phone(question: Question) -> bool:
    """Whether its dialog can be answered by a key that is sure to mean what a person chose."""
    return question.kind != CHOICE or asked_once(question) is not None


def planned(question: Question, dialog: Dialog, plan: str) -> Question:
    """The question about a plan, with the plan, and with what the dialog shows of it."""
    return replace(question, details={**question.details, "plan": plan, "shown": bare("".join(dialog.words))})


def digest_of(question: Question) -> str:
    """Names exactly what will run."""
    return digest(question.call.tool, [question.call.arguments, question.details])


def raised(ask: str, question: Question, seconds: float | None, dialog: Dialog) -> AskRaised:
    """The ask, with everything that a person needs to decide, and the answers that the dialog has."""
    return ask_of(ask, _worded(question, dialog), digest_of(question), seconds)


def _worded(question: Question, dialog: Dialog) -> Worded:
    asked = asked_once(question)
    if asked is not None:
        choices = options(labels(asked), custom=bool(_own_words(question, dialog)))
        return AskKind.CHOICE, asked.text("question"), choices, described(asked)
    if question.kind == PLAN:
        plan = Fields(question.details).text("plan") or "\n".join(dialog.words[1:])
        return AskKind.PLAN, "Go ahead with this plan?", PLAN_CHOICES, plan
    offered = tuple(
        Choice(id=choice, label=label) for choice, label in LABELS.items() if choice != DENY and dialog.key(label)
    )
    deny = Choice(id=DENY, label="Deny", allows=False, words=True)
    call = question.call
    words = title(call.tool, Fields(call.arguments)) if call.tool else _title(question)
    return AskKind.PERMISSION, words, (*offered, deny), whole(question)


def pressed(question: Question, dialog: Dialog, choice: str, note: str) -> tuple[str, str]:
    """The key that gives this answer, and the words to type behind it; whatever is unclear is no."""
    asked = asked_once(question)
    in_words = note and choice == {CHOICE: OTHER, PLAN: DENY}.get(question.kind)
    if in_words and (key := _own_words(question, dialog)):
        return key, note
    if asked is not None:
        numbers = [str(number) for number in range(1, len(labels(asked)) + 1)]
        return choice if choice in numbers else ESCAPE, ""
    if question.kind == PLAN:
        return dialog.key(PLANS[choice]) if choice in PLANS else ESCAPE, ""
    return dialog.key(LABELS.get(choice, LABELS[DENY])) or ESCAPE, ""


def _own_words(question: Question, dialog: Dialog) -> str:
    """The key of the option that takes a person's own words; it is the last, and may be out of sight."""
    asked = asked_once(question)
    hidden = str(len(labels(asked)) + 1) if asked is not None and dialog.hides else ""
    return dialog.key(CUSTOM) or dialog.key(FEEDBACK) or hidden


def takes_advice(question: Question) -> bool:
    """Whether its dialog takes the words that come with a refusal; otherwise they are the next message."""
    return question.kind in (PLAN, CHOICE)


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
    if question.kind == PLAN:
        same = details.text("shown") in ("", bare("".join(dialog.words)))
        return same and dialog.words[:1] == (PLAN_TITLE,) and all(map(dialog.key, PLANS.values()))
    if question.kind == CHOICE:
        return _asks(dialog, asked_once(question))
    if question.kind == "mcp":
        return f'"{details.text("toolName")}"' in dialog.question
    return dialog.question.startswith("Do you want to proceed")


def _asks(dialog: Dialog, asked: Fields | None) -> bool:
    """Whether the dialog asks this, and each of its first keys stands for the answer of that number."""
    if asked is None or bare(asked.text("question")) not in bare("".join(dialog.words)):
        return False
    numbered = [(dialog.options.get(str(number), ""), label) for number, label in enumerate(labels(asked), 1)]
    seen = [(shown, label) for shown, label in numbered if shown or not dialog.hides]
    return bool(seen) and all(shown and bare(label).startswith(bare(shown)) for shown, label in seen)

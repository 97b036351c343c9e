"""A question in the Gemini CLI's terminal as an ask. Pure; whatever is unclear allows nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from farhand.drivers.gemini.schema import digest
from farhand.drivers.gemini.titles import detail
from farhand.drivers.gemini.tmux.screen import Dialog, bare, shows, shows_of
from farhand.drivers.wires.asks.actions import action_of, compact_json
from farhand.drivers.wires.asks.build import (
    ALLOW,
    DENY,
    OTHER,
    SESSION,
    AskWording,
    ask_of,
    denial,
    labels_of,
    options,
    options_in_full,
    permission,
    plan,
    short_label,
)
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.drivers.wires.text.tool_title import pretty_json
from farhand.model import action as actions
from farhand.model.action import Action, run
from farhand.model.facts import AskRaised
from farhand.model.phrases import choice, phrase
from farhand.model.words import AskKind, Choice, Word, replace

ACCEPT_EDITS: Final = "accept_edits"
# How the dialog's options begin; others (an editor at the desk, leave for ever) are not for the phone.
LABELS: Final = {ALLOW: "Allow once", SESSION: "Allow for this session", DENY: "No"}
PLAN: Final = "exit_plan_mode"
PLAN_TITLE = "Ready to start implementation?"
PLANS: Final = {ALLOW: "Yes, manually accept edits", ACCEPT_EDITS: "Yes, automatically accept edits"}
FEEDBACK = "Type your feedback"
CHOICE: Final = "ask_user"
CUSTOM = "Enter a custom value"
ESCAPE = "Escape"
# How the dialogs of tools end that are neither commands nor edits.
PROCEED = "Do you want to proceed?"
_DRAWN = str.maketrans("", "", "*_`~")
UNSURE = "The dialog does not say for sure which call it is about. Allow it at the desk, or deny it."


class GeminiCall(Word):
    """A tool and what it is given."""

    tool: str = ""
    arguments: JsonObject = {}
    # Of an MCP tool: its server, and its name there.
    server: str = ""
    served: str = ""


class GeminiQuestion(Word):
    """What the CLI asks leave for, as its hooks told."""

    call: GeminiCall
    kind: str
    details: JsonObject
    # Other calls that it may be about as well: then nothing of it is allowed from afar.
    others: tuple[GeminiCall, ...] = ()
    # Which of several its dialog is, once that was seen.
    counter: str = ""


def call_of(payload: Fields) -> GeminiCall:
    """The call in a BeforeTool or AfterTool payload."""
    context = payload.fields("mcp_context")
    return GeminiCall(
        tool=payload.text("tool_name"),
        arguments=payload.fields("tool_input").plain,
        server=context.text("server_name"),
        served=context.text("tool_name"),
    )


def question_of(notification: Fields, calls: tuple[GeminiCall, ...]) -> GeminiQuestion:
    """The question in a Notification payload, about one of the calls that were announced before."""
    details = notification.fields("details")
    kind = details.text("type")
    fitting = _distinct(call for call in calls if _fits(call, kind, details))
    return _about(GeminiQuestion(call=GeminiCall(), kind=kind, details=details.plain), fitting)


def _about(question: GeminiQuestion, calls: list[GeminiCall]) -> GeminiQuestion:
    return replace(question, call=calls[0] if calls else GeminiCall(), others=tuple(calls[1:]))


def _distinct(calls: Iterable[GeminiCall]) -> list[GeminiCall]:
    """Calls that differ in what they do; how the model describes a command is no such thing."""
    found: list[GeminiCall] = []
    for call in calls:
        if not is_among(call, found):
            found.append(call)
    return found


def is_among(call: GeminiCall, calls: Iterable[GeminiCall]) -> bool:
    """Whether one of them does the same."""
    return any(_does(one) == _does(call) for one in calls)


def _does(call: GeminiCall) -> GeminiCall:
    if call.tool != "run_shell_command":
        return call
    return replace(call, arguments={name: one for name, one in call.arguments.items() if name != "description"})


def _fits(call: GeminiCall, kind: str, details: Fields) -> bool:
    """Whether a question with these details may be about this call; one of a kind that nobody knows is about none."""
    arguments = Fields(call.arguments)
    match kind:
        case "exec":
            return bool(arguments.text("command")) and arguments.text("command") == details.text("command")
        case "edit":
            return _is_path(arguments.text("file_path"), details.text("filePath") or details.text("fileName"))
        case "mcp":
            server, tool = details.text("serverName"), details.text("toolName")
            return call.tool == f"mcp_{server}_{tool}" or (bool(tool) and (call.server, call.served) == (server, tool))
        case "info":
            return _informs(call.tool, arguments, details)
        case _:
            return call.tool == kind and kind in (PLAN, CHOICE)


def _is_path(given: str, path: str) -> bool:
    """Whether the path, which is whole, is this one, which may be seen from where the agent works."""
    return bool(given and path) and f"/{path}".endswith("/" + given.removeprefix("./").removeprefix("/"))


def _informs(tool: str, arguments: Fields, details: Fields) -> bool:
    url, title, prompt = arguments.text("url"), details.text("title"), details.text("prompt")
    match tool:
        case "web_fetch":
            return bool(prompt) and prompt == (f"Fetch {url}" if url else arguments.text("prompt"))
        case "enter_plan_mode":
            return title == "Enter Plan Mode"
        case "activate_skill":
            return title == f"Activate Skill: {arguments.text('name')}"
        case _:
            return False


def fitting(question: GeminiQuestion) -> tuple[GeminiCall, ...]:
    """The calls that it may be about."""
    return (question.call, *question.others) if question.call.tool else ()


def is_sure(question: GeminiQuestion) -> bool:
    """Whether it is known which call it is about: nothing else can be allowed from afar."""
    return len(fitting(question)) == 1


def seen_in(dialog: Dialog, questions: list[GeminiQuestion], waiting: tuple[GeminiCall, ...]) -> GeminiQuestion:
    """The question that this dialog asks, out of those that it may ask: about a waiting call that it shows."""
    first = questions[0]
    calls = [
        call for one in questions for call in fitting(one) if is_among(call, waiting) and _shows_call(dialog, one, call)
    ]
    found = replace(_about(first, _distinct(calls)), counter=dialog.counter)
    if is_sure(found) and any(one.details != first.details for one in questions):
        # The same call, announced with different consequences.
        return replace(found, others=(found.call,))
    return found


def asked_once(question: GeminiQuestion) -> Fields | None:
    """What a person is asked, if it is one thing with one answer; longer questionnaires are for the desk."""
    return _asked_by(question.call) if question.kind == CHOICE else None


def _asked_by(call: GeminiCall) -> Fields | None:
    questions = Fields(call.arguments).list("questions")
    if len(questions) != 1 or questions[0].flag("multiSelect"):
        return None
    return questions[0] if labels(questions[0]) else None


def labels(asked: Fields) -> list[str]:
    """Its answers, in the order of their keys."""
    return ["Yes", "No"] if asked.text("type") == "yesno" else labels_of(asked)


def is_for_the_phone(question: GeminiQuestion) -> bool:
    """Whether its dialog can be answered by a key that is sure to mean what a person chose."""
    return question.kind != CHOICE or any(_asked_by(call) is not None for call in fitting(question))


def planned(question: GeminiQuestion, dialog: Dialog, plan: str) -> GeminiQuestion:
    """The question about a plan, with the plan, and with what the dialog shows of it."""
    return replace(question, details={**question.details, "plan": plan, "shown": bare("".join(dialog.words))})


def digest_of(question: GeminiQuestion) -> str:
    """Names exactly what will run."""
    return digest(question.call.tool, [question.call.arguments, question.details])


def to_ask(ask: str, question: GeminiQuestion, seconds: float | None, dialog: Dialog) -> AskRaised:
    """The ask, with everything that a person needs to decide, and the answers that the dialog has."""
    return ask_of(ask, _wording(question, dialog), digest_of(question), seconds)


def _wording(question: GeminiQuestion, dialog: Dialog) -> AskWording:
    deny = denial()
    if not is_sure(question):
        return permission(_action(question), (deny,), _unsure(question))
    asked = asked_once(question)
    if asked is not None:
        choices = options(labels(asked), custom=bool(_own_words(question, dialog)))
        words, every = asked.text("question"), options_in_full(asked)
        return AskWording(about=AskKind.CHOICE, question=words, choices=choices, whole=every)
    if question.kind == PLAN:
        written = Fields(question.details).text("plan") or "\n".join(dialog.words[1:])
        return plan(written, phrase("scope_edit_any"), ACCEPT_EDITS)
    once = choice(ALLOW, phrase("label_allow_once"))
    yeses = {ALLOW: once, SESSION: _for_session(question)}
    offered = tuple(yes for name, yes in yeses.items() if dialog.key(LABELS[name]))
    given = Fields(question.call.arguments)
    where, why = given.text("dir_path") if question.kind == "exec" else "", given.text("description")
    return permission(_action(question), (*offered, deny), whole(question), where=where, why=why)


def _for_session(question: GeminiQuestion) -> Choice:
    """A yes for the session: what the Gemini CLI then no longer asks for."""
    if question.kind == "edit":
        return choice(SESSION, phrase("label_allow_edits_session"), scope=phrase("scope_edit_mode"))
    is_command = question.kind == "exec"
    name = Fields(question.details).text("rootCommand") if is_command else question.call.tool
    if not name:
        label, scope = ("kind", "scope_commands_like") if is_command else ("tool", "scope_tool")
        return choice(SESSION, phrase(f"label_allow_{label}_session"), scope=phrase(scope))
    scoped = phrase("scope_commands_with", commands=name) if is_command else phrase("scope_every", tool=name)
    label_of_it = short_label(phrase("label_allow_every_session", tool=name), "label_allow_kind_session")
    return choice(SESSION, label_of_it, scope=scoped)


def _action(question: GeminiQuestion) -> Action:
    """What would be done, by the call's own arguments; without a sure call, by what its dialog was announced with."""
    call, details = question.call, Fields(question.details)
    if is_sure(question):
        return action_of(call.tool, Fields(call.arguments))
    if question.kind == "exec" and details.text("command"):
        return run(details.text("command"))
    return actions.call(call.tool or details.text("title") or "a tool", compact_json(question.details))


def _unsure(question: GeminiQuestion) -> str:
    """What it may be about, and why it cannot be allowed."""
    details = [detail(call.tool, Fields(call.arguments)) for call in fitting(question)]
    return "\n\n".join([UNSURE, *(details or [pretty_json(question.details)])])


def pressed(question: GeminiQuestion, dialog: Dialog, choice: str, note: str) -> tuple[str, str]:
    """The key that gives this answer, and the words to type behind it; whatever is unclear is no."""
    asked = asked_once(question)
    if not is_sure(question):
        return (dialog.key(LABELS[DENY]) if question.kind not in (PLAN, CHOICE) else "") or ESCAPE, ""
    in_words = note and choice == {CHOICE: OTHER, PLAN: DENY}.get(question.kind)
    if in_words and (key := _own_words(question, dialog)):
        return key, note
    if asked is not None:
        numbers = [str(number) for number in range(1, len(labels(asked)) + 1)]
        return choice if choice in numbers else ESCAPE, ""
    if question.kind == PLAN:
        return dialog.key(PLANS[choice]) if choice in PLANS else ESCAPE, ""
    return dialog.key(LABELS.get(choice, LABELS[DENY])) or ESCAPE, ""


def is_refusal(question: GeminiQuestion, dialog: Dialog, key: str) -> bool:
    """Whether this key allows nothing and chooses nothing."""
    no = dialog.options.get(key, "").startswith(LABELS[DENY])
    return key == ESCAPE or (no and question.kind not in (PLAN, CHOICE))


def _own_words(question: GeminiQuestion, dialog: Dialog) -> str:
    """The key of the option that takes a person's own words; it is the last, and may be out of sight."""
    asked = asked_once(question)
    hidden = str(len(labels(asked)) + 1) if asked is not None and dialog.hides else ""
    return dialog.key(CUSTOM) or dialog.key(FEEDBACK) or hidden


def takes_advice(question: GeminiQuestion) -> bool:
    """Whether its dialog takes the words that come with a refusal; otherwise they are the next message."""
    return question.kind in (PLAN, CHOICE)


def whole(question: GeminiQuestion) -> str:
    """The whole of what will run: the command, or the difference with its file."""
    details = Fields(question.details)
    if question.kind == "exec" and not question.call.tool:
        return details.text("command")
    if question.kind == "edit" and details.text("fileDiff"):
        return f"{details.text('filePath')}\n\n{details.text('fileDiff')}"
    if question.call.tool:
        return detail(question.call.tool, Fields(question.call.arguments))
    return pretty_json(question.details)


def is_asked(dialog: Dialog, question: GeminiQuestion) -> bool:
    """Whether this is the very dialog that the question was seen in."""
    return dialog.counter == question.counter and is_about(dialog, question)


def is_about(dialog: Dialog, question: GeminiQuestion) -> bool:
    """Whether the dialog on the screen asks this question, as far as it shows what it asks."""
    details = Fields(question.details)
    if question.kind == "exec":
        return _ends(dialog, "Allow execution of") and shows(dialog, details.text("command"))
    if question.kind == "edit":
        name = details.text("fileName")
        changed = "\n".join(map(details.text, ("fileDiff", "originalContent", "newContent")))
        named = bool(name) and name in dialog.header
        return named and dialog.question.startswith("Apply this change") and shows_of(dialog, changed)
    if question.kind == PLAN:
        same = details.text("shown") in ("", bare("".join(dialog.words)))
        return same and dialog.words[:1] == (PLAN_TITLE,) and all(map(dialog.key, PLANS.values()))
    if question.kind == CHOICE:
        return any(_shows_call(dialog, question, call) for call in fitting(question))
    if question.kind == "mcp":
        asked = f'Allow execution of MCP tool "{details.text("toolName")}" from server "{details.text("serverName")}"?'
        calls = fitting(question)
        named = bare("".join(dialog.words)).endswith(bare(asked))
        return named and (not calls or any(_shows_call(dialog, question, call) for call in calls))
    return question.kind == "info" and dialog.question == PROCEED and _informed(dialog, details.text("prompt"))


def _ends(dialog: Dialog, words: str) -> bool:
    """Whether it asks so; a warning may stand behind the question, and what will run stands before it."""
    return any(line.startswith(words) for line in dialog.words[-2:] or (dialog.question,))


def _shows_call(dialog: Dialog, question: GeminiQuestion, call: GeminiCall) -> bool:
    """Whether the dialog shows what this call is given: of an MCP tool, as far as one line has room."""
    if question.kind == CHOICE:
        return _asks(dialog, _asked_by(call))
    if question.kind != "mcp":
        return True
    line = bare(_named(dialog)).removeprefix("?")
    given = json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))
    whole = bare(Fields(question.details).text("toolDisplayName") + given)
    return whole.startswith(line[:-1]) if line.endswith("…") else whole == line


def _named(dialog: Dialog) -> str:
    """The line that names the tool and what it is given."""
    return next((line for line in dialog.words if line.startswith("?")), "")


def _informed(dialog: Dialog, prompt: str) -> bool:
    """Whether it shows this and nothing else but the addresses in it; signs that it draws as a style are left out."""
    name = _named(dialog)
    shown = "".join(dialog.words[dialog.words.index(name) + 1 : -1]) if name else ""
    drawn, asked = (bare(text).translate(_DRAWN) for text in (shown, prompt))
    return (
        bool(asked) and drawn.startswith(asked) and (drawn == asked or drawn[len(asked) :].startswith("URLstofetch:"))
    )


def _asks(dialog: Dialog, asked: Fields | None) -> bool:
    """Whether the dialog asks this, and each of its first keys stands for the answer of that number."""
    if asked is None or bare(asked.text("question")) not in bare("".join(dialog.words)):
        return False
    numbered = [(dialog.options.get(str(number), ""), label) for number, label in enumerate(labels(asked), 1)]
    seen = [(shown, label) for shown, label in numbered if shown or not dialog.hides]
    return bool(seen) and all(shown and bare(label).startswith(bare(shown)) for shown, label in seen)

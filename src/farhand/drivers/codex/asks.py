"""A question of Codex as an ask, and its answer as Codex wants it. Pure; whatever is unclear denies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from farhand.drivers.codex.schema import shell_words
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.asks.build import (
    ALLOW,
    DENIED,
    DENY,
    EXPIRED,
    SESSION,
    AskWording,
    ask_of,
    digest_of,
    labels_of,
    options,
    options_in_full,
    step_id,
)
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.drivers.wires.text.tool_title import one_line, pretty_json
from farhand.model.facts import AskRaised
from farhand.model.words import AskKind, Choice, Word

COMMAND: Final = "item/commandExecution/requestApproval"
CHANGE: Final = "item/fileChange/requestApproval"
PERMISSIONS: Final = "item/permissions/requestApproval"
INPUT: Final = "item/tool/requestUserInput"
ELICITATION: Final = "mcpServer/elicitation/request"
HOOK: Final = "PermissionRequest"
METHODS: Final = frozenset((COMMAND, CHANGE, PERMISSIONS, INPUT, ELICITATION))
# What says when or through whom a question came, not what is asked.
_PASSING: Final = frozenset("startedAtMs threadId turnId itemId approvalId availableDecisions environmentId".split())


class CodexQuestion(Word):
    """What the agent asks leave for, as it came."""

    method: str
    params: Mapping[str, object]
    # What the files would become: a question about them names only their item.
    title: str = ""
    detail: str = ""


def digest(question: CodexQuestion) -> str:
    """Names exactly what will run."""
    asked = {name: value for name, value in question.params.items() if name not in _PASSING}
    return digest_of(question.method, asked, question.detail)


def steps(question: CodexQuestion) -> int:
    """How many asks the question is made of: one for each question of a questionnaire."""
    return max(1, len(_questions(question)))


def to_ask(ask: str, question: CodexQuestion, deadline_seconds: float | None, step: int = 0) -> AskRaised:
    """The ask, with everything that a person needs to decide."""
    return ask_of(step_id(ask, step), _wording(question, step), digest(question), deadline_seconds)


def _wording(question: CodexQuestion, step: int) -> AskWording:
    params, questions = Fields(question.params), _questions(question)
    if questions:
        one = questions[min(step, len(questions) - 1)]
        return AskKind.CHOICE, one.text("question") or one.text("header"), options(labels_of(one)), options_in_full(one)
    match question.method:
        case "item/commandExecution/requestApproval":
            command = shell_words(params.any("command"))
            return AskKind.PERMISSION, f"Run: {one_line(command or 'a command')}", _choices(), _command(params, command)
        case "item/fileChange/requestApproval":
            reason = _reason(params, "grantRoot")
            return AskKind.PERMISSION, question.title or "Change files", _choices(), question.detail + reason
        case "PermissionRequest":
            return AskKind.PERMISSION, *_hooked(params)
        case "item/permissions/requestApproval":
            wanted = pretty_json(params.any("permissions")) + _reason(params, "cwd")
            return AskKind.PERMISSION, "Give Codex more permissions", _choices(), wanted
        case _:
            server = params.text("serverName")
            words = params.text("message") or params.text("title") or "A question of a tool server"
            return AskKind.PERMISSION, f"{server}: {words}", _choices(session=False), pretty_json(_elicited(params))


def _elicited(params: Fields) -> JsonObject:
    return {name: value for name, value in params.plain.items() if name not in _PASSING}


def _hooked(params: Fields) -> tuple[str, tuple[Choice, ...], str]:
    """A question of the interactive CLI, whose hook knows yes and no alone."""
    tool, given = params.text("tool_name"), params.fields("tool_input")
    command = shell_words(given.any("command"))
    if tool == "Bash" and command and set(given.plain) <= {"command", "description"}:
        reason = f"\n\nReason: {given.text('description')}" if given.text("description") else ""
        return f"Run: {one_line(command)}", _choices(session=False), command + reason
    words = f"{tool}: {one_line(command)}" if command else tool or "Use a tool"
    return words, _choices(session=False), pretty_json(given.plain)


def _command(params: Fields, command: str) -> str:
    """The whole of what would run, and what it would be allowed to."""
    raw = params.text("command")
    wrapped = f"\n\nAs: {raw}" if raw and raw != command and command not in raw else ""
    more = {name: params.any(name) for name in ("additionalPermissions", "networkApprovalContext")}
    shown = {name: pretty_json(value) for name, value in more.items() if value is not None}
    granted = "".join(f"\n\n{name}: {text}" for name, text in shown.items())
    return (command or raw) + wrapped + granted + _reason(params, "cwd")


def _reason(params: Fields, where: str) -> str:
    told = {"Reason": params.text("reason"), "In": params.text(where)}
    lines = [f"{name}: {text}" for name, text in told.items() if text]
    return "\n\n" + "\n".join(lines) if lines else ""


def _choices(*, session: bool = True) -> tuple[Choice, ...]:
    for_session = (Choice(id=SESSION, label="Allow for this session"),) if session else ()
    return (Choice(id=ALLOW, label="Allow once"), *for_session, Choice(id=DENY, label="Deny", allows=False, words=True))


def _questions(question: CodexQuestion) -> list[Fields]:
    return Fields(question.params).list("questions") if question.method == INPUT else []


def decision(question: CodexQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    """The result of the app-server's request."""
    last = picked[-1] if picked else PartAnswer(choice=DENY)
    allowed = last.choice in (ALLOW, SESSION) and not last.expired
    match question.method:
        case "item/commandExecution/requestApproval" | "item/fileChange/requestApproval":
            yes = "acceptForSession" if last.choice == SESSION else "accept"
            return {"decision": yes if allowed else "decline"}
        case "item/permissions/requestApproval":
            wanted = Fields(question.params).fields("permissions").plain
            granted = {name: value for name, value in wanted.items() if value is not None}
            return {"permissions": granted if allowed else {}, "scope": "session" if last.choice == SESSION else "turn"}
        case "item/tool/requestUserInput":
            return {"answers": _answers(question, picked)}
        case _:
            action = "accept" if allowed else "decline"
            return {"action": action, "content": {} if allowed else None, "_meta": None}


def _answers(question: CodexQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    given = zip(_questions(question), picked, strict=False)
    return {one.text("id"): {"answers": _answer(one, choice)} for one, choice in given}


def _answer(question: Fields, picked: PartAnswer) -> list[str]:
    labels = {str(number): option.text("label") for number, option in enumerate(question.list("options"), 1)}
    if picked.expired or picked.choice == DENY:
        return []
    chosen = [labels[picked.choice]] if picked.choice in labels else []
    return [*chosen, *([picked.note] if picked.note else [])]


def hook_reply(question: CodexQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    """A decision as the PermissionRequest hook prints it."""
    last = picked[-1] if picked else PartAnswer(choice=DENY)
    answer: JsonObject = {"behavior": "allow"}
    if last.choice != ALLOW or last.expired or question.method != HOOK:
        answer = {"behavior": "deny", "message": last.note or (EXPIRED if last.expired else DENIED)}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": answer}}

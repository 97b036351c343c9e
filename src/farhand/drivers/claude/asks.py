"""A question of Claude Code as an ask, and its answer as Claude Code wants it. Pure; whatever is unclear denies."""

from __future__ import annotations

from typing import Final

from farhand.drivers.claude.permission_rules import is_understood, lasting_label, lasting_scope, session_rule
from farhand.drivers.claude.titles import detail
from farhand.drivers.wires.asks.actions import action_of
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.asks.build import (
    ALLOW,
    DENIED,
    DENY,
    EXPIRED,
    OTHER,
    SESSION,
    AskWording,
    ask_of,
    denial,
    digest_of,
    labels_of,
    options,
    options_in_full,
    permission,
    plan,
    step_id,
)
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.model.facts import AskRaised
from farhand.model.phrases import choice, phrase
from farhand.model.words import AskKind, Choice, Word

PATTERN: Final = "pattern"
ACCEPT_EDITS: Final = "accept_edits"


class ClaudeQuestion(Word):
    """What the agent asks leave for, as it came."""

    tool: str
    arguments: JsonObject
    suggestions: tuple[JsonObject, ...] = ()
    # Where the agent stands, if it says so.
    cwd: str = ""


def question_of(payload: Fields, arguments: str = "tool_input") -> ClaudeQuestion:
    """The question in a PermissionRequest payload or (`input`) a can_use_tool request."""
    suggestions = tuple(one.plain for one in payload.list("permission_suggestions"))
    return ClaudeQuestion(
        tool=payload.text("tool_name"),
        arguments=payload.fields(arguments).plain,
        suggestions=suggestions,
        cwd=payload.text("cwd"),
    )


def digest(question: ClaudeQuestion) -> str:
    """Names exactly what will run."""
    return digest_of(question.tool, question.arguments)


def steps(question: ClaudeQuestion) -> int:
    """How many asks the question is made of: one for each question of a questionnaire."""
    return max(1, len(_questions(question)))


def to_ask(ask: str, question: ClaudeQuestion, deadline_seconds: float | None, step: int = 0) -> AskRaised:
    """The ask, with everything that a person needs to decide."""
    questions = _questions(question)
    several = bool(questions) and questions[min(step, len(questions) - 1)].flag("multiSelect")
    wording = _wording(question, step)
    return ask_of(step_id(ask, step), wording, digest(question), deadline_seconds, several=several)


def _wording(question: ClaudeQuestion, step: int) -> AskWording:
    arguments = Fields(question.arguments)
    questions = _questions(question)
    if questions:
        one = questions[min(step, len(questions) - 1)]
        choices = options(labels_of(one))
        return AskWording(
            about=AskKind.CHOICE, question=one.text("question"), choices=choices, whole=options_in_full(one)
        )
    whole = detail(question.tool, arguments)
    if _is_plan(question):
        return plan(whole, phrase("scope_edit_folder"), ACCEPT_EDITS)
    action = action_of(question.tool, arguments)
    why = arguments.text("description")
    return permission(action, _permission_choices(question), whole, where=question.cwd, why=why)


def _questions(question: ClaudeQuestion) -> list[Fields]:
    return Fields(question.arguments).list("questions") if question.tool == "AskUserQuestion" else []


def _permission_choices(question: ClaudeQuestion) -> tuple[Choice, ...]:
    narrow, pattern = session_rule(question.tool, Fields(question.arguments)), _pattern(question)
    for_session = [choice(SESSION, narrow.label, scope=narrow.scope)] if narrow else []
    lasting = [choice(PATTERN, lasting_label(pattern), scope=lasting_scope(pattern))] if pattern else []
    return (choice(ALLOW, phrase("label_allow_once")), *for_session, *lasting, denial())


def _pattern(question: ClaudeQuestion) -> Fields | None:
    """The rule that Claude Code itself proposes, if it proposes one that allows and whose reach can be told."""
    return next((one for one in map(Fields, question.suggestions) if is_understood(one)), None)


def decision(question: ClaudeQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    """What Claude Code is told: allow with exactly what was shown, or deny."""
    last = picked[-1] if picked else PartAnswer(choice=DENY)
    if last.expired:
        return {"behavior": "deny", "message": last.note or EXPIRED}
    if _questions(question):
        return _answers(question, picked)
    allow: JsonObject = {"behavior": "allow", "updatedInput": question.arguments}
    if last.choice == ALLOW:
        # Without a word it goes back to the mode before its plan, which may be the one that edits unasked.
        return {**allow, "updatedPermissions": [_session_mode("default")]} if _is_plan(question) else allow
    if last.choice == SESSION and (narrow := session_rule(question.tool, Fields(question.arguments))):
        return {**allow, "updatedPermissions": [narrow.update]}
    if last.choice == PATTERN and (rule := _pattern(question)):
        return {**allow, "updatedPermissions": [rule.plain]}
    if last.choice == ACCEPT_EDITS and _is_plan(question):
        return {**allow, "updatedPermissions": [_session_mode("acceptEdits")]}
    return {"behavior": "deny", "message": last.note or DENIED}


def _is_plan(question: ClaudeQuestion) -> bool:
    return question.tool == "ExitPlanMode"


def _session_mode(mode: str) -> JsonObject:
    return {"type": "setMode", "mode": mode, "destination": "session"}


def _answers(question: ClaudeQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    questions = _questions(question)
    if len(picked) < len(questions) or any(DENY in _choices_made(one) for one in picked):
        note = next((one.note for one in picked if one.note), "")
        return {"behavior": "deny", "message": note or "The manager did not answer the question."}
    answers = {one.text("question"): _answer(one, choice) for one, choice in zip(questions, picked, strict=False)}
    return {"behavior": "allow", "updatedInput": {**question.arguments, "answers": answers}}


def _choices_made(picked: PartAnswer) -> list[str]:
    """Every choice that was made. No id of ours has a comma in it."""
    return picked.choice.split(",")


def _answer(question: Fields, picked: PartAnswer) -> str:
    options = {str(number): option.text("label") for number, option in enumerate(question.list("options"), 1)}
    labels = [options[one] for one in _choices_made(picked) if one in options]
    if not labels:
        return picked.note or "No preference."
    words = ", ".join(labels)
    if not picked.note:
        return words
    return f"{words}, {picked.note}" if OTHER in _choices_made(picked) else f"{words} ({picked.note})"


def hook_reply(answer: JsonObject) -> JsonObject:
    """A decision as the PermissionRequest hook prints it."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": answer}}

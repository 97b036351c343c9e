"""A question of Claude Code as an ask, and its answer as Claude Code wants it. Pure; whatever is unclear denies."""

from __future__ import annotations

from typing import Final

from farhand.drivers.claude.titles import detail, title
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
    digest_of,
    labels_of,
    options,
    options_in_full,
    step_id,
)
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.model.facts import AskRaised
from farhand.model.visible import visible
from farhand.model.words import AskKind, Choice, Word

PATTERN: Final = "pattern"
ACCEPT_EDITS: Final = "accept_edits"


class ClaudeQuestion(Word):
    """What the agent asks leave for, as it came."""

    tool: str
    arguments: JsonObject
    suggestions: tuple[JsonObject, ...] = ()


def question_of(payload: Fields, arguments: str = "tool_input") -> ClaudeQuestion:
    """The question in a PermissionRequest payload or (`input`) a can_use_tool request."""
    suggestions = tuple(one.plain for one in payload.list("permission_suggestions"))
    return ClaudeQuestion(
        tool=payload.text("tool_name"), arguments=payload.fields(arguments).plain, suggestions=suggestions
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
        return AskKind.CHOICE, one.text("question"), options(labels_of(one)), options_in_full(one)
    if question.tool == "ExitPlanMode":
        return AskKind.PLAN, "Go ahead with this plan?", _plan_choices(), detail(question.tool, arguments)
    words = f"{question.tool}: {title(question.tool, arguments)}"
    return AskKind.PERMISSION, words, _permission_choices(question), detail(question.tool, arguments)


def _questions(question: ClaudeQuestion) -> list[Fields]:
    return Fields(question.arguments).list("questions") if question.tool == "AskUserQuestion" else []


def _plan_choices() -> tuple[Choice, ...]:
    return (
        Choice(id=ALLOW, label="Go ahead, ask before edits"),
        Choice(id=ACCEPT_EDITS, label="Go ahead, edit freely"),
        Choice(id=DENY, label="Keep planning", allows=False, words=True),
    )


def _permission_choices(question: ClaudeQuestion) -> tuple[Choice, ...]:
    pattern = _pattern(question)
    shown = [Choice(id=PATTERN, label=f"Allow {visible(_rule_words(pattern))}")] if pattern else []
    return (
        Choice(id=ALLOW, label="Allow once"),
        Choice(id=SESSION, label="Allow for this session"),
        *shown,
        Choice(id=DENY, label="Deny", allows=False, words=True),
    )


def _pattern(question: ClaudeQuestion) -> JsonObject | None:
    """The rule that Claude Code itself proposes, if it proposes one that allows."""
    for suggestion in question.suggestions:
        found = Fields(suggestion)
        if found.text("type") == "addRules" and found.text("behavior") == "allow" and found.list("rules"):
            return suggestion
    return None


def _rule_words(suggestion: JsonObject | None) -> str:
    rules = Fields(suggestion).list("rules")
    return ", ".join(f"{rule.text('toolName')}({rule.text('ruleContent') or '*'})" for rule in rules)


def _for_session(question: ClaudeQuestion) -> JsonObject:
    rule: JsonObject = {"toolName": question.tool}
    if question.tool == "Bash":
        rule["ruleContent"] = Fields(question.arguments).text("command")
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}


def decision(question: ClaudeQuestion, picked: tuple[PartAnswer, ...]) -> JsonObject:
    """What Claude Code is told: allow with exactly what was shown, or deny."""
    last = picked[-1] if picked else PartAnswer(choice=DENY)
    if last.expired:
        return {"behavior": "deny", "message": last.note or EXPIRED}
    if _questions(question):
        return _answers(question, picked)
    allow: JsonObject = {"behavior": "allow", "updatedInput": question.arguments}
    if last.choice == ALLOW:
        return allow
    if last.choice == SESSION:
        return {**allow, "updatedPermissions": [_for_session(question)]}
    if last.choice == PATTERN and (rule := _pattern(question)):
        return {**allow, "updatedPermissions": [rule]}
    if last.choice == ACCEPT_EDITS and question.tool == "ExitPlanMode":
        mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        return {**allow, "updatedPermissions": [mode]}
    return {"behavior": "deny", "message": last.note or DENIED}


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

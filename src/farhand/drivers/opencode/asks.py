"""A request of OpenCode as an ask, and its answer as OpenCode wants it. Pure; whatever is unclear denies."""

from __future__ import annotations

import hashlib
from typing import Final, TypeAlias

import msgspec

from farhand.drivers.opencode import titles
from farhand.drivers.opencode.schema import Permission, Question, Questions
from farhand.drivers.wires.visible import visible
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.words import AskKind, Choice, HowSettled, Word

ONCE: Final = "once"
SESSION: Final = "session"
DENY: Final = "deny"
OTHER: Final = "other"
DENIED = "The manager said no."
EXPIRED = "Nobody answered in time, so the answer is no."

Request: TypeAlias = Permission | Questions


class Reply(Word):
    """What OpenCode is told about a request for leave; `lasting` are patterns that need no leave any more."""

    reply: str
    message: str = ""
    lasting: tuple[str, ...] = ()


class Answers(Word):
    """The answers to a questionnaire; None when the person did not give them."""

    labels: tuple[tuple[str, ...], ...] | None


def digest(request: Request) -> str:
    """Names exactly what will run: another command, or the same with one more space, has another digest."""
    match request:
        case Permission():
            said: list[object] = [request.permission, request.patterns, request.metadata]
        case Questions():
            said = [request.questions]
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()


def steps(request: Request) -> int:
    """How many asks the request is made of: one for each question."""
    return 1 if isinstance(request, Permission) else max(1, len(request.questions))


def step_id(request: str, step: int) -> str:
    """The id of one step's ask."""
    return f"{request}.{step}" if step else request


def request_of(ask: str) -> str:
    """The request that an ask belongs to."""
    return ask.partition(".")[0]


def raised(request: Request, seconds: float | None) -> list[AskRaised]:
    """The asks, with everything that a person needs to decide."""
    if isinstance(request, Permission):
        return [_permission(request, seconds)]
    return [_question(request, step, seconds) for step in range(len(request.questions))]


def _permission(wanted: Permission, seconds: float | None) -> AskRaised:
    lasting = [Choice(id=SESSION, label=visible(_lasting(wanted)))] if wanted.always else []
    return AskRaised(
        ask=wanted.id,
        question=visible(titles.asked(wanted)),
        choices=(
            Choice(id=ONCE, label="Allow once"),
            *lasting,
            Choice(id=DENY, label="Deny", allows=False, words=True),
        ),
        about=AskKind.PERMISSION,
        detail=visible(titles.detail(wanted)),
        digest=digest(wanted),
        deadline_seconds=seconds,
    )


def _lasting(wanted: Permission) -> str:
    patterns = ", ".join(wanted.always)
    what = wanted.permission if patterns == "*" else patterns
    return titles.one_line(f"Allow {what} for this session")


def _question(asked: Questions, step: int, seconds: float | None) -> AskRaised:
    one = asked.questions[step]
    options = [Choice(id=str(number), label=visible(each.label)) for number, each in enumerate(one.options, 1)]
    other = [Choice(id=OTHER, label="Something else (write it)", words=True)] if one.custom else []
    return AskRaised(
        ask=step_id(asked.id, step),
        question=visible(one.question),
        choices=(*options, *other, Choice(id=DENY, label="Do not answer", allows=False)),
        about=AskKind.CHOICE,
        detail=visible("\n".join(f"{each.label}: {each.description}" for each in one.options)),
        digest=digest(asked),
        deadline_seconds=seconds,
        several=one.multiple,
    )


def reply(wanted: Permission, settled: AskSettled) -> Reply:
    """Leave or none, with a word of advice."""
    if settled.how is HowSettled.EXPIRED:
        return Reply(reply="reject", message=settled.note or EXPIRED)
    if settled.choice == ONCE:
        return Reply(reply="once")
    if settled.choice == SESSION and wanted.always:
        return Reply(reply="once", lasting=tuple(wanted.always))
    return Reply(reply="reject", message=settled.note or DENIED)


def answers(asked: Questions, settled: list[AskSettled | None]) -> Answers | None:
    """All the answers; None while some are missing. One that was refused refuses them all."""
    for one in settled:
        if one is not None and (one.how is HowSettled.EXPIRED or DENY in _made(one) or not one.choice):
            return Answers(labels=None)
    if any(one is None for one in settled) or len(settled) < len(asked.questions):
        return None
    given = zip(asked.questions, settled, strict=False)
    return Answers(labels=tuple(_labels(question, one) for question, one in given if one is not None))


def _labels(question: Question, settled: AskSettled) -> tuple[str, ...]:
    known = {str(number): each.label for number, each in enumerate(question.options, 1)}
    labels = [known[one] for one in _made(settled) if one in known]
    if OTHER in _made(settled) or not labels:
        labels = [*labels, settled.note or "No preference."]
    elif settled.note:
        labels = [*labels, settled.note]
    return tuple(labels)


def _made(settled: AskSettled) -> list[str]:
    """Every choice that was made. No id of ours has a comma in it."""
    return settled.choice.split(",")

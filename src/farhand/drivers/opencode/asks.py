"""A request of OpenCode as an ask, and its answer as OpenCode wants it. Pure; whatever is unclear denies."""

from __future__ import annotations

from typing import Final, TypeAlias

from farhand.drivers.opencode import titles
from farhand.drivers.opencode.schema import OpenCodePermission, OpenCodeQuestion, OpenCodeQuestions, Replied
from farhand.drivers.wires.asks.build import (
    DENIED,
    DENY,
    EXPIRED,
    OTHER,
    SESSION,
    AskWording,
    ask_of,
    denial,
    digest_of,
    options,
    permission,
    short_label,
    step_id,
)
from farhand.drivers.wires.foreign_json import Fields
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.phrases import choice, phrase
from farhand.model.words import AskKind, Choice, HowSettled, Word

ONCE: Final = "once"

OpenCodeRequest: TypeAlias = OpenCodePermission | OpenCodeQuestions


class OpenCodeReply(Word):
    """The answer to a permission request; `lasting` are patterns that are allowed from now on."""

    reply: str
    message: str = ""
    lasting: tuple[str, ...] = ()


class QuestionAnswers(Word):
    """The answers to a questionnaire; None when the person did not give them."""

    labels: tuple[tuple[str, ...], ...] | None


def digest(request: OpenCodeRequest) -> str:
    """Names exactly what will run: another command, or the same with one more space, has another digest."""
    match request:
        case OpenCodePermission():
            return digest_of(request.permission, request.patterns, request.metadata)
        case OpenCodeQuestions():
            return digest_of(request.questions)


def steps(request: OpenCodeRequest) -> int:
    """How many asks the request is made of: one for each question."""
    return 1 if isinstance(request, OpenCodePermission) else max(1, len(request.questions))


def raised(request: OpenCodeRequest, seconds: float | None) -> list[AskRaised]:
    """The asks, with everything that a person needs to decide."""
    if isinstance(request, OpenCodePermission):
        return [_permission(request, seconds)]
    return [_question(request, step, seconds) for step in range(len(request.questions))]


def _permission(wanted: OpenCodePermission, seconds: float | None) -> AskRaised:
    choices = (choice(ONCE, phrase("label_allow_once")), *_lasting(wanted), denial())
    given = Fields(wanted.metadata)
    where = given.text("workdir") if wanted.permission == "bash" else ""
    whole, why = titles.permission_detail(wanted), given.text("description")
    worded = permission(titles.permission_action(wanted), choices, whole, where=where, why=why)
    return ask_of(wanted.id, worded, digest(wanted), seconds)


def _lasting(wanted: OpenCodePermission) -> tuple[Choice, ...]:
    """Leave for the session, by the patterns that OpenCode proposes: all of them are named."""
    if not wanted.always:
        return ()
    tool, patterns = wanted.permission, ", ".join(wanted.always)
    if patterns == "*":
        label, scope = phrase("label_allow_every_session", tool=tool), phrase("scope_every_in_session", tool=tool)
    else:
        label = phrase("label_allow_what_session", what=patterns)
        scope = phrase("scope_fitting", tool=tool, patterns=patterns)
    return (choice(SESSION, short_label(label, "label_allow_patterns_session"), scope=scope),)


def _question(asked: OpenCodeQuestions, step: int, seconds: float | None) -> AskRaised:
    one = asked.questions[step]
    choices = options([each.label for each in one.options], custom=one.custom)
    whole = "\n".join(f"{each.label}: {each.description}" for each in one.options)
    worded = AskWording(about=AskKind.CHOICE, question=one.question, choices=choices, whole=whole)
    return ask_of(step_id(asked.id, step), worded, digest(asked), seconds, several=one.multiple)


def reply(wanted: OpenCodePermission, settled: AskSettled) -> OpenCodeReply:
    """Permission or none, with the person's note."""
    if settled.how is HowSettled.EXPIRED:
        return OpenCodeReply(reply="reject", message=settled.note or EXPIRED)
    if settled.choice == ONCE:
        return OpenCodeReply(reply="once")
    if settled.choice == SESSION and wanted.always:
        return OpenCodeReply(reply="once", lasting=tuple(wanted.always))
    return OpenCodeReply(reply="reject", message=settled.note or DENIED)


def answers(asked: OpenCodeQuestions, settled: list[AskSettled | None]) -> QuestionAnswers | None:
    """All the answers; None while some are missing. One that was refused refuses them all."""
    for one in settled:
        if one is not None and (one.how is HowSettled.EXPIRED or DENY in _chosen(one) or not one.choice):
            return QuestionAnswers(labels=None)
    if any(one is None for one in settled) or len(settled) < len(asked.questions):
        return None
    pairs = zip(asked.questions, settled, strict=False)
    return QuestionAnswers(labels=tuple(_labels(question, one) for question, one in pairs if one is not None))


def settled_at_desk(request: OpenCodeRequest, replied: Replied) -> list[AskSettled]:
    """The request's asks, which somebody answered in the terminal."""
    choice = {"once": ONCE, "always": SESSION, "reject": DENY}.get(replied.reply, "")
    note = "; ".join(", ".join(one) for one in replied.answers)
    return [
        AskSettled(ask=step_id(request.id, step), how=HowSettled.DESK, choice=choice, note=note)
        for step in range(steps(request))
    ]


def _labels(question: OpenCodeQuestion, settled: AskSettled) -> tuple[str, ...]:
    known = {str(number): each.label for number, each in enumerate(question.options, 1)}
    labels = [known[one] for one in _chosen(settled) if one in known]
    if OTHER in _chosen(settled) or not labels:
        labels = [*labels, settled.note or "No preference."]
    elif settled.note:
        labels = [*labels, settled.note]
    return tuple(labels)


def _chosen(settled: AskSettled) -> list[str]:
    """Every choice that was made. No id of ours has a comma in it."""
    return settled.choice.split(",")

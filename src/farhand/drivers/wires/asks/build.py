"""Builds asks: the wording of a yes and a no, the digest of what will run, the steps of a questionnaire. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.foreign_json import Fields
from farhand.model.action import Action, headline
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.phrases import choice, phrase, said
from farhand.model.visible import visible
from farhand.model.words import AskKind, Choice, HowSettled, Mode, Phrase, Word, replace

ALLOW: Final = "allow"
SESSION: Final = "session"
DENY: Final = "deny"
OTHER: Final = "other"
# What a button has room for; what is longer stands whole in the card alone.
LONGEST_LABEL: Final = 56
DENIED = "The manager said no."
EXPIRED = "Nobody answered in time, so the answer is no."
GONE = "The agent no longer waits for that answer; nothing was allowed."
CHANGED = "What the agent wants to run has changed since it was shown; nothing was allowed."


def digest_of(*exact: object) -> str:
    """Names exactly what will run: another command, or the same with one more space, has another digest."""
    return hashlib.sha256(msgspec.json.encode(exact, order="deterministic")).hexdigest()


def step_id(ask: str, step: int) -> str:
    """The id of one step of a question."""
    return f"{ask}.{step}" if step else ask


def question_id(ask: str) -> str:
    """The question that an ask is a step of."""
    return ask.partition(".")[0]


def part_answer(settled: AskSettled) -> PartAnswer:
    """What a person chose, as it is stored."""
    return PartAnswer(choice=settled.choice, note=settled.note, expired=settled.how is HowSettled.EXPIRED)


class AskWording(Word):
    """What a person is asked: the agent's question or what would be done, the choices, and the whole of it."""

    about: AskKind
    question: str
    choices: tuple[Choice, ...]
    whole: str = ""
    action: Action | None = None
    where: str = ""
    # In the agent's own words.
    why: str = ""
    # The question by code, where it is ours.
    phrase: Phrase | None = None


def permission(
    action: Action, choices: tuple[Choice, ...], whole: str, *, where: str = "", why: str = ""
) -> AskWording:
    """Leave for an action: its headline is what would be done, never how the agent describes it."""
    return AskWording(
        about=AskKind.PERMISSION,
        question=headline(action),
        choices=choices,
        whole=whole,
        action=action,
        where=where,
        why=why,
    )


def ask_of(
    ask: str, wording: AskWording, digest: str, deadline_seconds: float | None, *, several: bool = False
) -> AskRaised:
    """The ask, with everything that a person needs to decide; nothing in it can hide."""
    return AskRaised(
        ask=ask,
        question=visible(wording.question),
        question_phrase=wording.phrase,
        choices=wording.choices,
        about=wording.about,
        detail=visible(wording.whole),
        action=wording.action,
        where=wording.where,
        why=wording.why,
        digest=digest,
        deadline_seconds=deadline_seconds,
        several=several,
    )


def options(labels: Iterable[str], *, custom: bool = True) -> tuple[Choice, ...]:
    """The choices of a question, numbered from 1; words of one's own where they may be, and no answer at all."""
    numbered = tuple(Choice(id=str(number), label=label) for number, label in enumerate(labels, 1))
    other = (choice(OTHER, phrase("label_something_else"), words=True),) if custom else ()
    return (*numbered, *other, choice(DENY, phrase("label_no_answer"), allows=False))


def denial() -> Choice:
    """The no of a permission, with words or without."""
    return choice(DENY, phrase("label_deny"), allows=False, words=True)


def plan(whole: str, freely: Phrase, accept_edits: str) -> AskWording:
    """Leave to carry a plan out: asking before edits, editing freely as far as is said, or not yet."""
    question = phrase("question_plan" if whole else "question_no_plan")
    choices = (
        replace(choice(ALLOW, phrase("label_edit_asking")), mode=Mode.DEFAULT),
        replace(choice(accept_edits, phrase("label_edit_freely"), scope=freely), mode=Mode.AUTO_EDIT),
        choice(DENY, phrase("label_keep_planning"), allows=False, words=True),
    )
    return AskWording(about=AskKind.PLAN, question=said(question), phrase=question, choices=choices, whole=whole)


def short_label(label: Phrase, otherwise: str) -> Phrase:
    """The label, or the phrase of that code where a button would cut it."""
    return label if len(said(label)) <= LONGEST_LABEL else phrase(otherwise)


def labels_of(question: Fields) -> list[str]:
    """The labels of its options."""
    return [option.text("label") for option in question.list("options")]


def options_in_full(question: Fields) -> str:
    """Its options in full."""
    return "\n".join(f"{option.text('label')}: {option.text('description')}" for option in question.list("options"))

"""An ask as it goes into the journal: where it would be done, its risks in words, and nothing in it hidden. Pure."""

from __future__ import annotations

import posixpath
from typing import Final

from farhand.model.action import Action, on_one_line
from farhand.model.facts import AskRaised
from farhand.model.phrases import said, shown
from farhand.model.present import Ask
from farhand.model.risk import risks_of
from farhand.model.visible import visible
from farhand.model.words import AskKind, Choice, replace

WHY_CHARACTERS: Final = 600


def as_shown(raised: AskRaised, folder: str) -> AskRaised:
    """The ask with all that a person needs to decide, whoever raised it and wherever it is shown."""
    permission = raised.about is AskKind.PERMISSION
    where = posixpath.normpath(posixpath.join(folder, raised.where)) if raised.where else folder if permission else ""
    phrases = risks_of(raised.action, where or folder) if permission and not raised.risks else raised.risk_phrases
    risks = raised.risks or tuple(map(said, phrases))
    return replace(
        raised,
        question=visible(raised.question),
        detail=visible(raised.detail),
        action=_action(raised.action),
        where=visible(where),
        why=visible(raised.why),
        risks=tuple(map(visible, risks)),
        question_phrase=shown(raised.question_phrase),
        risk_phrases=tuple(one for one in map(shown, phrases) if one),
        choices=tuple(map(_choice, raised.choices)),
    )


def _action(action: Action | None) -> Action | None:
    if action is None:
        return None
    paths = tuple(map(visible, action.paths))
    leads = tuple(map(visible, action.leads))
    return replace(action, target=visible(action.target), paths=paths, tool=visible(action.tool), leads=leads)


def _choice(choice: Choice) -> Choice:
    return replace(
        choice,
        label=visible(choice.label),
        scope=visible(choice.scope),
        label_phrase=shown(choice.label_phrase),
        scope_phrase=shown(choice.scope_phrase),
    )


def raised_again(ask: Ask) -> AskRaised:
    """The ask as it was raised, from what the present has of it."""
    return AskRaised(
        ask=ask.id,
        question=ask.question,
        choices=ask.choices,
        about=ask.about,
        detail=ask.detail,
        action=ask.action,
        where=ask.where,
        why=ask.why,
        risks=ask.risks,
        question_phrase=ask.question_phrase,
        risk_phrases=ask.risk_phrases,
        digest=ask.digest,
        several=ask.several,
    )


def whole(ask: Ask | AskRaised) -> str:
    """All of what will run, where the headline does not say it already."""
    return "" if "\n" not in ask.detail and ask.question.endswith(f" {ask.detail}") else ask.detail


def circumstances(ask: Ask | AskRaised) -> list[str]:
    """Where it would be done, why in the agent's own words, and its risks: a line each."""
    lines = [f"In: {ask.where}"] if ask.where else []
    lines += [f"Why, in the agent's words: “{on_one_line(ask.why, WHY_CHARACTERS)}”"] if ask.why.strip() else []
    lines += [f"Risk: {'; '.join(ask.risks)}."] if ask.risks else []
    return lines


def beyond_buttons(ask: Ask | AskRaised, most: int) -> list[str]:
    """What a button of so many characters has no room for: all that a choice allows, or the whole of its label; with
    the number that answers it."""
    told = [(place, one) for place, one in enumerate(ask.choices, 1) if one.scope or len(one.label) > most]
    return [visible(f"{place}. {one.label}{f': {one.scope}' if one.scope else ''}") for place, one in told]

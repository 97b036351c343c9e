"""What a person is told to do about a turn that failed. Pure."""

from collections.abc import Iterable

from farhand.model import facts
from farhand.model.facts import Draft
from farhand.model.phrases import said, shown
from farhand.model.start_problems import of_turn
from farhand.model.words import HowEnded, replace


def advised(drafts: Iterable[Draft], sign_in: str) -> list[Draft]:
    """The drafts; the end of a failed turn says what its error means, and how to sign in to that agent."""
    return [_advised(draft, draft.fact, sign_in) if _failed(draft) else draft for draft in drafts]


def _failed(draft: Draft) -> bool:
    return isinstance(draft.fact, facts.TurnEnded) and draft.fact.how is HowEnded.FAILED


def _advised(draft: Draft, fact: facts.Fact, sign_in: str) -> Draft:
    found = of_turn(fact.error, sign_in) if isinstance(fact, facts.TurnEnded) else None
    if found is None:
        return draft
    text = said(found)
    return replace(draft, fact=replace(fact, advice=f"{text[:1].upper()}{text[1:]}", advice_phrase=shown(found)))

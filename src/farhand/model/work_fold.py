"""How a worker's sprint and its reviews stand after a fact. Pure."""

from farhand.model import facts
from farhand.model.review import ReviewState, kept
from farhand.model.sprint import HowSprintEnded, SprintState
from farhand.model.words import replace

STUCK = "It is stuck."


def sprint_after(
    sprint: SprintState | None,
    fact: facts.SprintBegan | facts.SprintMoved | facts.HaltAsked | facts.SprintEnded,
    at: float,
) -> SprintState | None:
    """The sprint of a worker after that fact."""
    match fact:
        case facts.SprintBegan():
            return replace(fact.sprint, began=at)
        case facts.SprintMoved():
            return fact.sprint
        case facts.HaltAsked():
            return sprint and replace(sprint, halting=True, halting_now=sprint.halting_now or fact.now)
        case facts.SprintEnded():
            return None


def stuck_after(stuck: str, fact: facts.SprintBegan | facts.SprintMoved | facts.HaltAsked | facts.SprintEnded) -> str:
    """Why the worker's last sprint stopped before its end, after that fact; a person who halts one knows why."""
    match fact:
        case facts.SprintEnded(how=HowSprintEnded.STUCK | HowSprintEnded.LIMIT):
            return fact.why or STUCK
        case facts.SprintBegan():
            return ""
        case _:
            return stuck


def reviews_after(
    reviews: tuple[ReviewState, ...], fact: facts.ReviewAsked | facts.ReviewMoved, at: float
) -> tuple[ReviewState, ...]:
    """The reviews of a worker after that fact."""
    review = replace(fact.review, at=at) if isinstance(fact, facts.ReviewAsked) else fact.review
    return kept(reviews, review)

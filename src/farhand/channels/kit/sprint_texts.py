"""What is told of a sprint: its one card, how it stands, and the summary at its end. Pure."""

from farhand.channels.kit.card import Button, Card, HaltTap
from farhand.channels.kit.texts import NOBODY_ASSIGNED
from farhand.model import facts
from farhand.model.facts import Event, SprintEnded
from farhand.model.present import Worker
from farhand.model.sprint import HowSprintEnded, SprintPhase, SprintState, outcome_lines, status_line, used
from farhand.model.words import Usage

_ENDED = {
    HowSprintEnded.DONE: "🏁",
    HowSprintEnded.HALTED: "⛔",
    HowSprintEnded.STUCK: "⚠",
    HowSprintEnded.LIMIT: "⚠",
}
_HOW = {
    HowSprintEnded.DONE: "is done",
    HowSprintEnded.HALTED: "was halted",
    HowSprintEnded.STUCK: "is stuck",
    HowSprintEnded.LIMIT: "has reached its limit",
}


def sprint_text(worker: Worker | None, now: float) -> str:
    """How a worker's sprint stands."""
    if worker is None:
        return NOBODY_ASSIGNED
    if worker.sprint is None:
        return f"{worker.name} is at no sprint. /sprint start begins one: the tasks below it, one a line."
    return sprint_line(worker.name, worker.sprint, now, used(worker.sprint, worker.spent.total))


def sprint_line(worker: str, sprint: SprintState, now: float, usage: Usage) -> str:
    """The sprint as its one card has it."""
    lines = [f"{worker} · sprint {status_line(sprint, now, usage)}", outcome_lines(sprint)]
    if sprint.at < sprint.total:
        round_ = f" (round {sprint.round})" if sprint.round > 1 else ""
        judged = f" · judged by {', '.join(sprint.review)}" if sprint.phase is SprintPhase.REVIEW else ""
        lines.append(f"▶ {sprint.task}{round_}{judged}")
    return "\n".join(line for line in lines if line)


def sprint_summary(worker: str, ended: SprintEnded, at: float) -> str:
    """What is told at the end of a sprint: what was done, what was not, commits and cost."""
    why = f": {ended.why}" if ended.why else ""
    head = f"{_ENDED[ended.how]} {worker}'s sprint {_HOW[ended.how]}{why}"
    status = status_line(ended.sprint, at, ended.usage)
    return f"{head} · {status}\n{outcome_lines(ended.sprint)}".strip()


def sprint_cards(event: Event) -> list[Card]:
    """One card that stands where it is and changes; a summary of its own at the end, which buzzes."""
    worker = event.worker
    match event.fact:
        case facts.SprintBegan(sprint=sprint):
            return [_card(worker, sprint, f"sprint:{sprint.id}", sprint_line(worker, sprint, sprint.began, Usage()))]
        case facts.SprintMoved(sprint=sprint, usage=usage) if sprint.phase is not SprintPhase.CHECK:
            text = sprint_line(worker, sprint, event.at, usage)
            return [_card(worker, sprint, f"sprint:{sprint.id}:{event.seq}", text, edit=True)]
        case facts.SprintEnded(sprint=sprint) as ended:
            text = sprint_line(worker, sprint, event.at, ended.usage)
            over = _card(worker, sprint, f"sprint:{sprint.id}:{event.seq}", text, edit=True, buttons=False)
            return [over, Card(key=f"notice:{event.seq}", worker=worker, head=sprint_summary(worker, ended, event.at))]
        case _:
            return []


def _card(worker: str, sprint: SprintState, key: str, text: str, *, edit: bool = False, buttons: bool = True) -> Card:
    stop = ((Button(label="Stop", tap=HaltTap(worker=worker)),),) if buttons else ()
    slot = f"sprint:{sprint.id}"
    return Card(key=key, slot=slot, worker=worker, head=text, buttons=stop, silent=True, edit=edit)

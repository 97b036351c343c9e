"""What is written of an errand, for the worker as it is at that moment: begun, brought, stopped, in doubt. Pure."""

from collections.abc import Callable, Collection

from farhand.core import admit
from farhand.core.sprint_moves import NODE, is_free
from farhand.model import facts
from farhand.model.facts import Draft, Fact
from farhand.model.ports import Deliver, NotTaken, Outcome, Stop, Taken
from farhand.model.present import Ask, Present, Worker
from farhand.model.words import HowEnded, MessageId, WorkerName

_AGENT_WENT = "The agent went while the message was on its way to it."


def problem_of(outcome: Outcome) -> str:
    """Why an errand was not taken; empty when it was."""
    return "" if isinstance(outcome, Taken) else outcome.why


def begun(worker: Worker, message: str) -> list[Draft]:
    """That the turn of the first message that waits has begun, unless the worker has another one by now."""
    if not is_free(worker) or not worker.queue or worker.queue[0].id != message:
        return []
    return [Draft(worker=worker.name, turn=message, fact=facts.TurnStarted(message=message))]


def settled(worker: Worker, ask: str, problem: str) -> list[Draft]:
    """That the answer was brought or why not, unless it was told already that it cannot be; and its new mode."""
    delivered = facts.AnswerDelivered(ask=ask, problem=problem)
    found = [one for one in worker.asks if one.id == ask]
    changed = [draft for one in found for draft in _mode_after(worker, one)] if not problem else []
    return [*(Draft(worker=worker.name, turn=one.turn, fact=delivered) for one in found), *changed]


def _mode_after(worker: Worker, ask: Ask) -> list[Draft]:
    """That the worker works in another mode after this answer; a change that waited for the answer is still wanted."""
    made = ask.settled.choice if ask.settled else ""
    mode = next((choice.mode for choice in ask.choices if choice.id == made), None)
    if mode in (None, worker.mode):
        return []
    wanted = (worker.tuning,) if worker.tuning else ()
    return [Draft(worker=worker.name, turn=ask.turn, fact=fact) for fact in (facts.Tuned(mode=mode), *wanted)]


def stopped(worker: Worker, step: Stop, problem: str) -> list[Draft]:
    """That the agent was told, unless its turn is over or its end was asked for once more meanwhile."""
    turn = worker.turn
    if turn is None or (turn.id, turn.interrupt_asked) != (step.turn, step.number):
        return []
    return [Draft(worker=worker.name, turn=turn.id, fact=facts.Interrupted(problem=problem))]


def stopped_late(drafts: list[Draft], stopped: Collection[MessageId]) -> list[Draft]:
    """The same, and the stop of each turn that an agent begins with what was said into a turn that was stopped."""
    for place, draft in enumerate(drafts):
        if isinstance(draft.fact, facts.TurnStarted) and draft.fact.joined in stopped:
            stop = Draft(worker=draft.worker, turn=draft.turn, fact=facts.InterruptAsked(by=NODE))
            return [*drafts[: place + 1], stop, *stopped_late(drafts[place + 1 :], stopped)]
    return drafts


def doubts(worker: Worker, attempted: Collection[str]) -> list[Draft]:
    """A message that was on its way when the agent went may have arrived."""
    turn, found = worker.turn, [one.id for one in worker.queue if one.on_its_way]
    if turn and turn.message and not turn.handed_over and not turn.doubted and turn.message.id in attempted:
        found.insert(0, turn.message.id)
    running = turn.id if turn else None
    return [Draft(worker=worker.name, turn=running, fact=facts.Doubted(message=one, why=_AGENT_WENT)) for one in found]


def focus_back(present: Present, worker: WorkerName, before: WorkerName) -> list[Draft]:
    """That the focus goes back to who had it, unless it was given to somebody else by now."""
    if present.focus != worker or before not in present.workers:
        return []
    return [Draft(worker=before, fact=facts.Focused(by=NODE))]


def delivered(step: Deliver, outcome: Outcome) -> Callable[[Worker], list[Draft]]:
    """What follows from an errand's outcome, for the worker as it is when that is written."""

    def make_drafts(worker: Worker) -> list[Draft]:
        message, running = step.message.id, worker.turn
        if step.joins:
            if not any(one.id == message for one in worker.queue):
                return []
            fact: Fact = facts.HandedOver(message=message)
            if not isinstance(outcome, Taken):
                fact = facts.Doubted(message=message, why=outcome.why)
            return [Draft(worker=worker.name, turn=step.turn, fact=fact)]
        if running is None or running.id != step.turn or running.handed_over:
            return []
        match outcome:
            case Taken():
                return admit.handed_over(worker, step.turn)
            case NotTaken(why=why):
                return admit.end_turn(worker, HowEnded.FAILED, why)
            case _:
                return [Draft(worker=worker.name, turn=step.turn, fact=facts.Doubted(message=message, why=outcome.why))]

    return make_drafts

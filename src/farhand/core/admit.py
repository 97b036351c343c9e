"""What a wire brought, fitted to the present: no end of a turn that is over, no ask left open behind. Pure."""

from collections.abc import Collection, Iterable

from farhand.core.sprint_moves import NODE
from farhand.model import facts
from farhand.model.ask_limits import OPEN_ASKS
from farhand.model.ask_text import as_shown
from farhand.model.facts import Draft, Event, Fact
from farhand.model.names import is_session_id
from farhand.model.ports import Heard
from farhand.model.present import Worker
from farhand.model.present_fold import fold_worker
from farhand.model.words import AskId, HowEnded, HowSettled, replace

_NOT_REACHED = "The turn was over before the answer reached the agent."
TOO_MANY = "{count} questions are open already. Wait for their answers before you ask more."
NOT_ITS_OWN = (
    "A question of its agent was not put to you and nothing was allowed: it came under the id of a question that is "
    "another worker's. If the worker waits for ever, stop or relaunch it, and look at what it is doing."
)


def admit(
    worker: Worker,
    heard: Iterable[Heard],
    at: float,
    on_their_way: Collection[AskId] = (),
    open_asks: int = OPEN_ASKS,
    others: Collection[Worker] = (),
) -> list[Draft]:
    """The drafts to be written for what was heard, in order; a question beyond so many open ones is denied.

    Ids come from agents, and an agent may be told to lie: what is another worker's turn or question is not taken.

    An answer in `on_their_way` may have reached the agent: the end of the turn does not deny it, its errand tells."""
    drafts: list[Draft] = []
    # Of the fact before, folded when another follows.
    before: list[Draft] = []
    for one in heard:
        if one.turn is not None and _is_turn_of(others, one.turn):
            continue
        for draft in before:
            worker = fold_worker(worker, Event(seq=0, at=at, worker=draft.worker, turn=draft.turn, fact=draft.fact))
        is_foreign = isinstance(one.fact, facts.AskRaised) and _is_ask_of(others, one.fact.ask, worker)
        own = Heard(fact=facts.Noted(text=NOT_ITS_OWN), turn=one.turn) if is_foreign else one
        before = _denied(worker, _fitting(worker, own, on_their_way), open_asks)
        drafts += before
    return drafts


def _is_turn_of(others: Collection[Worker], turn: str) -> bool:
    return any(turn in _turns(other) for other in others)


def _is_ask_of(others: Collection[Worker], ask: AskId, worker: Worker) -> bool:
    """Whether the question, or the name that it begins with, is another worker's: an answer must find one alone."""
    if any(one.id == ask for other in others for one in other.asks):
        return True
    if ask.startswith((f"{worker.hiring_id}-", *(f"{turn}/" for turn in _turns(worker)))):
        return False
    return any(ask.startswith((f"{one.hiring_id}-", *(f"{turn}/" for turn in _turns(one)))) for one in others)


def _turns(worker: Worker) -> tuple[str, ...]:
    """The turn that runs and those that will: a turn has the id of its message."""
    running = (worker.turn.id,) if worker.turn else ()
    return (*running, *(message.id for message in worker.queue))


def _fitting(worker: Worker, heard: Heard, on_their_way: Collection[AskId]) -> list[Draft]:
    running = worker.turn.id if worker.turn else None
    turn = heard.turn if heard.turn is not None else running
    if not _belongs(worker, heard.fact, turn):
        return []
    drafts = [Draft(worker=worker.name, turn=turn, fact=_completed(worker, heard.fact))]
    if isinstance(heard.fact, facts.TurnEnded):
        drafts = [*_withdrawals(worker, turn), *_undelivered(worker, on_their_way), *drafts]
    if _proves_arrival(worker, heard):
        drafts = [*handed_over(worker, turn), *drafts]
    return drafts


def _denied(worker: Worker, drafts: list[Draft], most: int) -> list[Draft]:
    """The drafts; with a question that is one too many, its answer, which goes to the agent as any other."""
    count = sum(ask.settled is None for ask in worker.asks)
    if count < most:
        return drafts
    denied: list[Draft] = []
    for draft in drafts:
        denied += _denial(draft, draft.fact, count) if isinstance(draft.fact, facts.AskRaised) else [draft]
    return denied


def _denial(draft: Draft, raised: facts.AskRaised, count: int) -> list[Draft]:
    refusal = next((choice.id for choice in raised.choices if not choice.allows), "")
    note = TOO_MANY.format(count=count)
    settled = facts.AskSettled(ask=raised.ask, how=HowSettled.EXPIRED, choice=refusal, note=note)
    return [replace(draft, fact=replace(raised, unasked=True)), replace(draft, fact=settled)]


def _completed(worker: Worker, fact: Fact) -> Fact:
    """A limit is counted; a turn that failed because of one is parked, for its message is to be done yet.

    An ask says where, with which risks, and hides nothing, whichever driver brought it."""
    turn = worker.turn
    if isinstance(fact, facts.AskRaised):
        return as_shown(fact, worker.directory)
    if isinstance(fact, facts.Limited):
        return replace(fact, again=worker.limits)
    if isinstance(fact, facts.AskSettled):
        # The key that stops the agent closes its question, too: nobody answered it at the desk.
        is_stopped = fact.how is HowSettled.DESK and not fact.choice and turn is not None and turn.interrupt_asked
        return replace(fact, how=HowSettled.WITHDRAWN) if is_stopped else fact
    if not isinstance(fact, facts.TurnEnded) or fact.how is not HowEnded.FAILED or not turn or not turn.message:
        return fact
    if turn.limited and not turn.interrupt_asked:
        return replace(fact, how=HowEnded.PARKED)
    # What the node itself had it do, as at a sprint, the node tries again.
    return replace(fact, can_retry=turn.message.by != NODE)


def _belongs(worker: Worker, fact: Fact, turn: str | None) -> bool:
    running = worker.turn.id if worker.turn else None
    match fact:
        case facts.TurnEnded():
            return running is not None and turn == running
        case facts.TurnStarted():
            # The desk began a turn; one that the node began is known already.
            return running is None
        case facts.AskRaised(ask=ask):
            return not any(one.id == ask for one in worker.asks)
        case facts.AskSettled(ask=ask):
            return any(one.id == ask and one.settled is None for one in worker.asks)
        case facts.SessionKnown(session=session):
            return is_session_id(session)
        case facts.HandedOver():
            return worker.turn is not None and not worker.turn.handed_over
        case _:
            return True


def _proves_arrival(worker: Worker, heard: Heard) -> bool:
    """An agent that speaks of the turn has got its message; one that failed may not have."""
    fact = heard.fact
    if isinstance(fact, facts.HandedOver | facts.Noted | facts.Doubted | facts.Limited):
        return False
    if isinstance(fact, facts.TurnEnded) and fact.how is not HowEnded.COMPLETED:
        return False
    return worker.turn is not None and heard.turn == worker.turn.id


def handed_over(worker: Worker, turn: str | None) -> list[Draft]:
    """The draft that says so, unless it was said or the turn is over."""
    running = worker.turn
    if running is None or running.id != turn or running.message is None or running.handed_over:
        return []
    return [Draft(worker=worker.name, turn=turn, fact=facts.HandedOver(message=running.message.id))]


def _withdrawals(worker: Worker, turn: str | None) -> list[Draft]:
    return [
        Draft(worker=worker.name, turn=turn, fact=facts.AskSettled(ask=ask.id, how=HowSettled.WITHDRAWN))
        for ask in worker.asks
        if ask.settled is None
    ]


def _undelivered(worker: Worker, on_their_way: Collection[AskId]) -> list[Draft]:
    return [
        Draft(worker=worker.name, turn=ask.turn, fact=facts.AnswerDelivered(ask=ask.id, problem=_NOT_REACHED))
        for ask in worker.asks
        if ask.settled is not None and ask.id not in on_their_way
    ]


def end_turn(worker: Worker, how: HowEnded, error: str) -> list[Draft]:
    """The drafts that close the running turn, if there is one, and tell of answers that nobody can bring any more."""
    if worker.turn is None:
        return _undelivered(worker, ())
    return admit(worker, [Heard(fact=facts.TurnEnded(how=how, error=error), turn=worker.turn.id)], at=0.0)

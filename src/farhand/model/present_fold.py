"""How the present stands after an event: the fold of the journal, one fact at a time. Pure."""

from typing import Any, assert_never

from farhand.model import facts, failed_turns
from farhand.model.facts import Event
from farhand.model.limit_pauses import resumes_at
from farhand.model.names import again
from farhand.model.present import Ask, Message, Present, Turn, Worker, queued_message, raised_ask
from farhand.model.words import HowEnded, HowSettled, MessageId, Seq, Usage, replace, spend
from farhand.model.work_fold import reviews_after, sprint_after, stuck_after

STOPPED_IN_THE_MIDDLE = (
    "Your usage limit stopped you in the middle of the message below. Go on where you stopped; "
    "do not repeat what is done already.\n\n"
)


def fold(present: Present, event: Event) -> Present:
    """The present after the event. Facts of the agent's talk change nothing but the number."""
    fact = event.fact
    if isinstance(fact, facts.Hired):
        return _with(present, event.seq, _hired(event, fact))
    if isinstance(fact, facts.AttentionSet):
        return replace(present, seq=event.seq, attention=fact.settings)
    worker = present.workers.get(event.worker)
    if worker is None:
        return replace(present, seq=event.seq)
    if isinstance(fact, facts.Focused):
        return replace(present, seq=event.seq, focus=worker.name)
    if isinstance(fact, facts.Ended):
        rest = {name: one for name, one in present.workers.items() if name != worker.name}
        focus = "" if present.focus == worker.name else present.focus
        return replace(present, seq=event.seq, workers=rest, focus=focus)
    changed = fold_worker(worker, event)
    if changed is worker:
        return replace(present, seq=event.seq)
    return _with(present, event.seq, changed)


def _with(present: Present, seq: Seq, worker: Worker) -> Present:
    return replace(present, seq=seq, workers={**present.workers, worker.name: worker})


def _hired(event: Event, fact: facts.Hired) -> Worker:
    return Worker(
        name=event.worker,
        since=event.seq,
        backend=fact.backend,
        directory=fact.directory,
        model=fact.model,
        mode=fact.mode,
        effort=fact.effort,
        options=fact.options,
        session=fact.session,
    )


def fold_worker(worker: Worker, event: Event) -> Worker:
    """One worker after the event; the very same object when the event does not change it."""
    fact = event.fact
    match fact:
        case facts.EndAsked(hand_back=hand_back):
            return replace(worker, ending=True, handing_back=hand_back)
        case facts.RelaunchAsked():
            return replace(worker, relaunching=True, resumes_at=None)
        case facts.TuneAsked():
            return replace(worker, tuning=fact)
        case facts.Tuned():
            return _tuned(worker, fact)
        case facts.CameOnline(session=session):
            return _came_online(worker, session or worker.session)
        case facts.WentOffline():
            return _went_offline(worker, fact)
        case facts.SessionKnown(session=session):
            return replace(worker, session=session)
        case facts.Queued():
            return _queued(worker, event, fact)
        case facts.Reworded(message=message, text=text):
            return replace(worker, queue=_changed(worker.queue, message, text=text))
        case facts.Reordered(messages=messages):
            return replace(worker, queue=reordered(worker.queue, messages))
        case facts.SteerAsked(message=message):
            return replace(worker, queue=_changed(worker.queue, message, steer=True))
        case facts.SteerBegun(message=message) | facts.SteerDeclined(message=message):
            return replace(worker, queue=_changed(worker.queue, message, on_its_way=isinstance(fact, facts.SteerBegun)))
        case facts.Withdrawn(message=message):
            return replace(worker, queue=without(worker.queue, message))
        case facts.TurnStarted(message=message):
            return _turn_started(worker, event, message)
        case facts.HandedOver(message=message) | facts.Seen(message=message):
            return _handed(worker, message)
        case facts.Doubted(message=message):
            return _doubted(worker, message)
        case facts.InterruptAsked():
            return replace(worker, turn=worker.turn and _interrupted(worker.turn, event.seq))
        case facts.Interrupted():
            return replace(worker, turn=worker.turn and replace(worker.turn, interrupted=True))
        case facts.AskRaised():
            return replace(worker, asks=(*worker.asks, _ask(event, fact)))
        case facts.AskSettled():
            return replace(worker, asks=_settled(worker.asks, fact))
        case facts.AnswerDelivered(ask=ask):
            return replace(worker, asks=tuple(one for one in worker.asks if one.id != ask))
        case facts.Used(usage=usage):
            return _used(worker, event, usage)
        case facts.TurnEnded(usage=usage):
            return _turn_ended(_used(worker, event, usage), event, fact)
        case facts.Limited():
            return _limited(worker, event, fact)
        case facts.LimitLifted():
            return replace(worker, resumes_at=None)
        case facts.SprintBegan() | facts.SprintMoved() | facts.HaltAsked() | facts.SprintEnded():
            return _at_sprint(worker, event, fact)
        case facts.ReviewAsked() | facts.ReviewMoved():
            return replace(worker, reviews=reviews_after(worker.reviews, fact, event.at))
        case facts.ToolStarted():
            return _acted(worker)
        case (
            facts.Said()
            | facts.Thought()
            | facts.ToolEnded()
            | facts.Showed()
            | facts.Noted()
            | facts.Responded()
            | facts.Hired()
            | facts.Ended()
            | facts.Focused()
            | facts.AttentionSet()
        ):
            return worker
        case _:
            assert_never(fact)


def _came_online(worker: Worker, session: str) -> Worker:
    return replace(worker, online=True, relaunching=False, why_offline="", why_offline_phrase=None, session=session)


def _went_offline(worker: Worker, fact: facts.WentOffline) -> Worker:
    # Offline twice in a row: the relaunch was tried, and its agent did not start.
    again = worker.relaunching and (worker.online or fact.asked)
    # One that is started again at once is starting, and who writes to it waits.
    why, phrase = (fact.why, fact.why_phrase) if fact.final else ("", None)
    return replace(worker, online=False, why_offline=why, why_offline_phrase=phrase, relaunching=again)


def _queued(worker: Worker, event: Event, fact: facts.Queued) -> Worker:
    failed = failed_turns.after_queued(worker.failed, fact.again)
    return replace(worker, queue=(*worker.queue, queued_message(event, fact)), failed=failed)


def _interrupted(turn: Turn, seq: Seq) -> Turn:
    return replace(turn, interrupt_asked=seq, interrupted=False)


def _acted(worker: Worker) -> Worker:
    turn = worker.turn
    return replace(worker, turn=replace(turn, acted=True)) if turn and not turn.acted else worker


def _changed(queue: tuple[Message, ...], message: MessageId, **changes: Any) -> tuple[Message, ...]:
    return tuple(replace(one, **changes) if one.id == message else one for one in queue)


def without(queue: tuple[Message, ...], message: MessageId) -> tuple[Message, ...]:
    """The queue less that message."""
    return tuple(one for one in queue if one.id != message)


def reordered(queue: tuple[Message, ...], messages: tuple[MessageId, ...]) -> tuple[Message, ...]:
    """The queue in that order; whoever it does not name comes after."""
    places = {message: place for place, message in enumerate(messages)}
    return tuple(sorted(queue, key=lambda one: places.get(one.id, len(places))))


def _tuned(worker: Worker, fact: facts.Tuned) -> Worker:
    if fact.refused:
        return replace(worker, tuning=None)
    model = worker.model if fact.model is None else fact.model
    mode = worker.mode if fact.mode is None else fact.mode
    effort = worker.effort if fact.effort is None else fact.effort
    return replace(worker, tuning=None, model=model, mode=mode, effort=effort)


def _turn_started(worker: Worker, event: Event, message: MessageId | None) -> Worker:
    first = next((one for one in worker.queue if one.id == message), None)
    turn = Turn(id=event.turn or "", seq=event.seq, at=event.at, message=first, handed_over=message is None)
    queue = without(worker.queue, message) if message else worker.queue
    return replace(worker, turn=turn, queue=queue, stuck="", failed=failed_turns.after_start(worker.failed))


def _at_sprint(
    worker: Worker, event: Event, fact: facts.SprintBegan | facts.SprintMoved | facts.HaltAsked | facts.SprintEnded
) -> Worker:
    sprint, stuck = sprint_after(worker.sprint, fact, event.at), stuck_after(worker.stuck, fact)
    return replace(worker, sprint=sprint, stuck=stuck)


def _used(worker: Worker, event: Event, usage: Usage | None) -> Worker:
    if usage is None or not event.turn:
        return worker
    return replace(worker, spent=spend(worker.spent, event.turn, usage))


def _turn_ended(worker: Worker, event: Event, fact: facts.TurnEnded) -> Worker:
    if worker.turn is None or worker.turn.id != event.turn:
        return worker
    if fact.how is HowEnded.COMPLETED:
        # An agent that completes a turn has no limit any more.
        return replace(worker, turn=None, steering=(), limited=None, limits=0, resumes_at=None)
    back = put_back(worker.turn, worker.steering) if fact.how is HowEnded.PARKED else ()
    failed = failed_turns.after_end(worker.failed, worker.turn, fact)
    return replace(worker, turn=None, steering=(), queue=(*back, *worker.queue), failed=failed)


def _limited(worker: Worker, event: Event, fact: facts.Limited) -> Worker:
    turn = worker.turn and replace(worker.turn, limited=True)
    resumes = resumes_at(fact.until, event.at, worker.limits)
    return replace(worker, limited=fact, limits=worker.limits + 1, resumes_at=resumes, turn=turn)


def put_back(turn: Turn, steering: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages of a turn that a limit stopped, as they wait for their next turn, each under its next name."""
    first = (turn.message,) if turn.message else ()
    return tuple(replace(one, id=again(one.id), text=_going_on(one.text, turn.acted)) for one in (*first, *steering))


def _going_on(text: str, acted: bool) -> str:
    """An agent that was stopped in the middle must not begin anew."""
    return f"{STOPPED_IN_THE_MIDDLE}{text}" if acted and not text.startswith(STOPPED_IN_THE_MIDDLE) else text


def _handed(worker: Worker, message: MessageId) -> Worker:
    turn = worker.turn
    if turn and turn.message and turn.message.id == message:
        return replace(worker, turn=replace(turn, handed_over=True))
    # A turn that is over by now has nobody to join.
    joined = tuple(replace(one, on_its_way=False) for one in worker.queue if one.id == message and turn)
    return replace(worker, queue=without(worker.queue, message), steering=(*worker.steering, *joined))


def _doubted(worker: Worker, message: MessageId) -> Worker:
    turn = worker.turn
    if turn and turn.message and turn.message.id == message:
        return replace(worker, turn=replace(turn, doubted=True))
    return replace(worker, queue=without(worker.queue, message))


def _ask(event: Event, fact: facts.AskRaised) -> Ask:
    deadline = None if fact.deadline_seconds is None else event.at + fact.deadline_seconds
    return raised_ask(fact, event.worker, event.turn, event.seq, deadline)


def _settled(asks: tuple[Ask, ...], fact: facts.AskSettled) -> tuple[Ask, ...]:
    # What the agent itself ended needs no delivery.
    if fact.how in (HowSettled.DESK, HowSettled.WITHDRAWN):
        return tuple(one for one in asks if one.id != fact.ask)
    return tuple(replace(one, settled=fact) if one.id == fact.ask else one for one in asks)

"""The present of a node: team, focus, queues, open turns and asks, folded from events. Pure."""

from collections.abc import Mapping
from typing import Any, assert_never

from farhand.model import facts
from farhand.model.action import Action
from farhand.model.facts import Event
from farhand.model.names import again
from farhand.model.sprint import SprintState
from farhand.model.words import (
    NOTHING_SPENT,
    AskId,
    AskKind,
    Attachment,
    Choice,
    HowEnded,
    HowSettled,
    MessageId,
    Mode,
    Sender,
    Seq,
    Spent,
    TurnId,
    Usage,
    Word,
    WorkerName,
    replace,
    spend,
)

# Where nobody knows when a limit ends, it is tried again after pauses that double.
FIRST_PAUSE_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 3600.0
STOPPED_IN_THE_MIDDLE = (
    "Your usage limit stopped you in the middle of the message below. Go on where you stopped; "
    "do not repeat what is done already.\n\n"
)


class Message(Word):
    """A message that waits, or that the running turn began with."""

    id: MessageId
    text: str
    at: float
    by: Sender
    attachments: tuple[Attachment, ...] = ()
    steer: bool = False
    # It is being put into the running turn, and only its end could tell whether it arrived.
    on_its_way: bool = False


class Turn(Word):
    """The running turn of a worker."""

    id: TurnId
    seq: Seq
    at: float
    message: Message | None = None
    handed_over: bool = False
    doubted: bool = False
    # The number of the event that asked last for its end.
    interrupt_asked: Seq = 0
    interrupted: bool = False
    # It has used a tool: what it did is done, whatever becomes of the turn.
    acted: bool = False
    # A usage limit came up in it.
    limited: bool = False


class Ask(Word):
    """An ask that is open, or whose answer has not reached the agent yet."""

    id: AskId
    worker: WorkerName
    turn: TurnId | None
    seq: Seq
    question: str
    choices: tuple[Choice, ...]
    about: AskKind = AskKind.PERMISSION
    detail: str = ""
    action: Action | None = None
    where: str = ""
    why: str = ""
    risks: tuple[str, ...] = ()
    digest: str = ""
    deadline: float | None = None
    several: bool = False
    settled: facts.AskSettled | None = None


# The option that chooses among the wires of a backend.
WIRE = "wire"
# The option that names an agent of the person's own, for the backend that runs such agents.
AGENT = "agent"
AGENT_BACKEND = "native"


def kind_of(backend: str, options: Mapping[str, str]) -> str:
    """`<backend>`, or `<backend>/<wire>` when a wire was chosen."""
    return f"{backend}/{options[WIRE]}" if options.get(WIRE) else backend


class Worker(Word):
    """One worker as it is now. `since` is the seq of its hiring, so that a name used again is somebody else."""

    name: WorkerName
    since: Seq
    backend: str
    directory: str
    model: str = ""
    mode: Mode = Mode.DEFAULT
    options: dict[str, str] = {}
    session: str = ""
    online: bool = False
    why_offline: str = ""
    ending: bool = False
    handing_back: bool = False
    relaunching: bool = False
    tuning: facts.TuneAsked | None = None
    turn: Turn | None = None
    queue: tuple[Message, ...] = ()
    steering: tuple[Message, ...] = ()
    asks: tuple[Ask, ...] = ()
    limited: facts.Limited | None = None
    # How many limits came in a row, and when the queue goes on by itself; None when nothing holds it up.
    limits: int = 0
    resumes_at: float | None = None
    # What it has used since its hiring.
    spent: Spent = NOTHING_SPENT
    sprint: SprintState | None = None

    @property
    def hiring_id(self) -> str:
        """Names this hiring, and with it what is kept for the worker: a name used again has another."""
        return f"{self.name}-{self.since}"

    @property
    def kind(self) -> str:
        """Which driver runs it: its backend, and its wire when one was chosen."""
        return kind_of(self.backend, self.options)

    @property
    def is_offline(self) -> bool:
        """Whether its agent is gone; one that is starting or being relaunched counts as there."""
        return not self.online and bool(self.why_offline) and not self.relaunching

    def state_at(self, at: float) -> str:
        """One word for the eye: leaving, offline, waiting, working, limited or available."""
        if self.ending:
            return "leaving"
        if any(ask.settled is None for ask in self.asks):
            return "waiting"
        if not self.online:
            return "offline"
        if self.turn:
            return "working"
        return "limited" if self.is_limited(at) else "available"

    def is_limited(self, at: float) -> bool:
        """Whether its usage limit is reached and, as far as anybody knows, not yet lifted."""
        return self.resumes_at is not None and at < self.resumes_at


class Present(Word):
    """All that a start needs to know; everything else is history."""

    seq: Seq = 0
    focus: WorkerName = ""
    workers: dict[WorkerName, Worker] = {}

    def having(self, backend: str, session: str) -> WorkerName:
        """The worker that has that conversation; where two share one, it is nobody's, for it is not guessed at."""
        found = [one.name for one in self.workers.values() if (one.backend, one.session) == (backend, session)]
        return found[0] if session and len(found) == 1 else ""

    def ask(self, ask: AskId) -> Ask | None:
        """The ask with that id, if it is still of the present."""
        return next((one for worker in self.workers.values() for one in worker.asks if one.id == ask), None)


def fold(present: Present, event: Event) -> Present:
    """The present after the event. Facts of the agent's talk change nothing but the number."""
    fact = event.fact
    if isinstance(fact, facts.Hired):
        return _with(present, event.seq, _hired(event, fact))
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
            return replace(worker, online=True, relaunching=False, why_offline="", session=session or worker.session)
        case facts.WentOffline(why=why, asked=asked):
            # Offline twice in a row: the relaunch was tried, and its agent did not start.
            again = worker.relaunching and (worker.online or asked)
            return replace(worker, online=False, why_offline=why, relaunching=again)
        case facts.SessionKnown(session=session):
            return replace(worker, session=session)
        case facts.Queued():
            return replace(worker, queue=(*worker.queue, queued_message(event, fact)))
        case facts.Reworded(message=message, text=text):
            return replace(worker, queue=_changed(worker.queue, message, text=text))
        case facts.Reordered(messages=messages):
            return replace(worker, queue=reordered(worker.queue, messages))
        case facts.SteerAsked(message=message):
            return replace(worker, queue=_changed(worker.queue, message, steer=True))
        case facts.SteerBegun(message=message) | facts.SteerDeclined(message=message):
            begun = isinstance(fact, facts.SteerBegun)
            return replace(worker, queue=_changed(worker.queue, message, on_its_way=begun))
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
            return replace(worker, sprint=sprint_after(worker.sprint, fact, event.at))
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
        ):
            return worker
        case _:
            assert_never(fact)


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
            return sprint and replace(sprint, halting=True)
        case facts.SprintEnded():
            return None


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


def queued_message(event: Event, fact: facts.Queued) -> Message:
    """The message that was queued with that event."""
    return Message(
        id=fact.message, text=fact.text, at=event.at, by=fact.by, attachments=fact.attachments, steer=fact.steer
    )


def _tuned(worker: Worker, fact: facts.Tuned) -> Worker:
    if fact.refused:
        return replace(worker, tuning=None)
    model = worker.model if fact.model is None else fact.model
    mode = worker.mode if fact.mode is None else fact.mode
    return replace(worker, tuning=None, model=model, mode=mode)


def _turn_started(worker: Worker, event: Event, message: MessageId | None) -> Worker:
    first = next((one for one in worker.queue if one.id == message), None)
    turn = Turn(id=event.turn or "", seq=event.seq, at=event.at, message=first, handed_over=message is None)
    queue = without(worker.queue, message) if message else worker.queue
    return replace(worker, turn=turn, queue=queue)


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
    return replace(worker, turn=None, steering=(), queue=(*back, *worker.queue))


def _limited(worker: Worker, event: Event, fact: facts.Limited) -> Worker:
    turn = worker.turn and replace(worker.turn, limited=True)
    resumes = resumes_at(fact.until, event.at, worker.limits)
    return replace(worker, limited=fact, limits=worker.limits + 1, resumes_at=resumes, turn=turn)


def resumes_at(until: float | None, at: float, before: int) -> float:
    """When a limit that came at that time, after so many others, is taken to be over."""
    if until is not None and until > at:
        return until
    return at + min(FIRST_PAUSE_SECONDS * 2.0 ** min(before, 30), LONGEST_PAUSE_SECONDS)


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


def raised_ask(fact: facts.AskRaised, worker: WorkerName, turn: TurnId | None, seq: Seq, deadline: float | None) -> Ask:
    """An ask as it was raised."""
    return Ask(
        id=fact.ask,
        worker=worker,
        turn=turn,
        seq=seq,
        question=fact.question,
        choices=fact.choices,
        about=fact.about,
        detail=fact.detail,
        action=fact.action,
        where=fact.where,
        why=fact.why,
        risks=fact.risks,
        digest=fact.digest,
        deadline=deadline,
        several=fact.several,
    )


def _settled(asks: tuple[Ask, ...], fact: facts.AskSettled) -> tuple[Ask, ...]:
    # What the agent itself ended needs no delivery.
    if fact.how in (HowSettled.DESK, HowSettled.WITHDRAWN):
        return tuple(one for one in asks if one.id != fact.ask)
    return tuple(replace(one, settled=fact) if one.id == fact.ask else one for one in asks)

"""The present of a node: its team, who is focused, queues, open turns and asks. Pure."""

from collections.abc import Mapping

from farhand.model import facts
from farhand.model.action import Action
from farhand.model.attention import USUAL_ATTENTION, AttentionSettings
from farhand.model.facts import Event
from farhand.model.review import ReviewState
from farhand.model.sprint import SprintState
from farhand.model.words import (
    NOTHING_SPENT,
    AskId,
    AskKind,
    Attachment,
    Choice,
    MessageId,
    Mode,
    Phrase,
    Sender,
    Seq,
    Spent,
    TurnId,
    Word,
    WorkerName,
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


class FailedTurn(Word):
    """A turn that failed, and the message that can be tried again."""

    turn: TurnId
    message: Message
    # Another turn has begun since.
    past: bool = False


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
    question_phrase: Phrase | None = None
    risk_phrases: tuple[Phrase, ...] = ()
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
    effort: str = ""
    options: dict[str, str] = {}
    session: str = ""
    online: bool = False
    why_offline: str = ""
    why_offline_phrase: Phrase | None = None
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
    # Why its last sprint stopped before its end; empty once it is at something else.
    stuck: str = ""
    # The newest reviews of its work, the oldest first.
    reviews: tuple[ReviewState, ...] = ()
    # The newest turns that failed and were not tried again, the oldest first.
    failed: tuple[FailedTurn, ...] = ()

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
    attention: AttentionSettings = USUAL_ATTENTION

    def having(self, backend: str, session: str) -> WorkerName:
        """The worker that has that conversation; where two share one, it is nobody's, for it is not guessed at."""
        found = [one.name for one in self.workers.values() if (one.backend, one.session) == (backend, session)]
        return found[0] if session and len(found) == 1 else ""

    def ask(self, ask: AskId) -> Ask | None:
        """The ask with that id, if it is still of the present."""
        return next((one for worker in self.workers.values() for one in worker.asks if one.id == ask), None)


def queued_message(event: Event, fact: facts.Queued) -> Message:
    """The message that was queued with that event."""
    return Message(
        id=fact.message, text=fact.text, at=event.at, by=fact.by, attachments=fact.attachments, steer=fact.steer
    )


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
        question_phrase=fact.question_phrase,
        risk_phrases=fact.risk_phrases,
        digest=fact.digest,
        deadline=deadline,
        several=fact.several,
    )

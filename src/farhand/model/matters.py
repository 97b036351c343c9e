"""Which facts a person may want to be told of: an event becomes a matter, or none. Pure."""

from farhand.model import facts
from farhand.model.attention import AttentionKind
from farhand.model.attention_rules import Matter
from farhand.model.facts import Event
from farhand.model.present import Present, Worker
from farhand.model.review import Judgement, is_reviewer
from farhand.model.sprint import HowSprintEnded
from farhand.model.visible import visible
from farhand.model.words import AskId, HowEnded, HowSettled, Sender

TEXT_CHARACTERS = 240
# How those speak who sit at the node's own machine, and those who are no person.
AT_THE_DESK = frozenset(("chat", "cli", "tui"))
NOBODY = frozenset(("files", "http", "node", "pipe", "response"))
_ENDS = {
    HowSprintEnded.DONE: "Every task is done.",
    HowSprintEnded.STUCK: "It is stuck.",
    HowSprintEnded.LIMIT: "It has reached its limit.",
}

_VERDICTS = {
    Judgement.APPROVE: "The review approves.",
    Judgement.CHANGES: "The review wants changes.",
    Judgement.UNSURE: "The review gave no clear verdict.",
}

# Facts that are no matter, whatever is in them, are none of these.
MAY_MATTER = frozenset(
    (facts.AskRaised, facts.Limited, facts.ReviewMoved, facts.SprintEnded, facts.TurnEnded, facts.WentOffline)
)
# Facts that are no matter, show no person and end no ask, whatever is in them, are none of these.
OF_INTEREST = MAY_MATTER | {
    facts.AskSettled,
    facts.AttentionSet,
    facts.Focused,
    facts.Hired,
    facts.InterruptAsked,
    facts.Queued,
    facts.TurnStarted,
}


def ask_key(ask: AskId) -> str:
    """What the matter of an ask is called."""
    return f"ask:{ask}"


def matter_of(event: Event, worker: Worker | None, via: str = "", said: str = "") -> Matter | None:
    """What a person may want to know of the event.

    `worker` is as it stands after it, `via` the channel that its turn was begun over, `said` the answer so far."""
    fact = event.fact
    if is_reviewer(event.worker):
        # Its review tells what comes of it.
        return None
    match fact:
        case facts.ReviewMoved(review=review, ended=True) if not review.gate:
            text = review.problem or _VERDICTS[review.judgement]
            return _matter(event, f"review:{review.id}", AttentionKind.FINISHED, text, via)
        case facts.AskRaised(unasked=False):
            return _matter(event, ask_key(fact.ask), AttentionKind.ASK, fact.question, via)
        case facts.TurnEnded(how=HowEnded.COMPLETED):
            # A sprint tells of its end, and not of every turn.
            at_sprint = worker is not None and worker.sprint is not None
            key = f"turn:{event.worker}:{event.turn}"
            return None if at_sprint else _matter(event, key, AttentionKind.FINISHED, said, via)
        case facts.TurnEnded(how=HowEnded.FAILED | HowEnded.LOST):
            return _matter(event, f"turn:{event.worker}:{event.turn}", AttentionKind.FAILED, fact.error, via)
        case facts.Limited(again=0):
            return _matter(event, f"limit:{event.seq}", AttentionKind.LIMIT, fact.text, via)
        case facts.WentOffline(final=True, asked=False, again=False, in_turn=False):
            return _matter(event, f"offline:{event.seq}", AttentionKind.OFFLINE, fact.why, via)
        case facts.SprintEnded() if fact.how in _ENDS:
            text = fact.why or _ENDS[fact.how]
            return _matter(event, f"sprint:{fact.sprint.id}", AttentionKind.SPRINT, text, via)
        case _:
            return None


def _matter(event: Event, key: str, kind: AttentionKind, text: str, via: str) -> Matter:
    return Matter(key=key, kind=kind, at=event.at, worker=event.worker, text=beginning(text), via=via)


def beginning(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """The beginning of a text on one line, with nothing in it hidden."""
    line = visible(" ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def settled_ask(event: Event) -> AskId:
    """The ask that the event puts an end to; empty for any other."""
    return event.fact.ask if isinstance(event.fact, facts.AskSettled) else ""


def person_of(event: Event) -> Sender | None:
    """The person who did what the event tells of; None where nobody, or no person, did it."""
    match event.fact:
        case facts.Queued(by=by) | facts.InterruptAsked(by=by) | facts.Focused(by=by) | facts.Hired(by=by):
            return None if by.via in NOBODY else by
        case facts.TurnStarted(message=None, joined=None):
            return Sender(via="cli")
        case facts.AskSettled(how=HowSettled.DESK):
            return Sender(via="cli")
        case facts.AskSettled(by=Sender() as by):
            return by
        case facts.AttentionSet(by=by):
            return by
        case _:
            return None


def waiting_asks(present: Present) -> int:
    """How many asks wait for the person, over all workers: the badge."""
    return sum(ask.settled is None for worker in present.workers.values() for ask in worker.asks)

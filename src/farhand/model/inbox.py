"""What waits for the person, over all workers: the one list behind `/inbox`, `farhand inbox` and the app's inbox. Pure.

The app folds the same list from the same present (`web/src/wire/inbox.ts`); the golden fixtures hold both to it."""

from collections.abc import Iterator
from enum import StrEnum

from farhand.model.present import Present, Worker
from farhand.model.review import Judgement, ReviewState
from farhand.model.words import Word, WorkerName


class InboxKind(StrEnum):
    """What needs the person: an answer, a look whether a message arrived, an agent or a sprint that has stopped, a
    usage limit, or a verdict that wants changes."""

    ASK = "ask"
    DOUBT = "doubt"
    OFFLINE = "offline"
    SPRINT = "sprint"
    LIMIT = "limit"
    REVIEW = "review"


class InboxItem(Word):
    """One thing that waits. `key` is the id of the ask, the message or the review."""

    kind: InboxKind
    worker: WorkerName
    key: str = ""
    text: str = ""


def inbox(present: Present) -> tuple[InboxItem, ...]:
    """Every open ask of all workers, the oldest first; then, worker by worker, what else needs somebody."""
    asks = [ask for worker in present.workers.values() for ask in worker.asks if ask.settled is None]
    asked = [
        InboxItem(kind=InboxKind.ASK, worker=ask.worker, key=ask.id, text=ask.question)
        for ask in sorted(asks, key=lambda ask: ask.seq)
    ]
    return (*asked, *(item for worker in present.workers.values() for item in _of(worker)))


def _of(worker: Worker) -> Iterator[InboxItem]:
    turn, name = worker.turn, worker.name
    if turn is not None and turn.doubted and turn.message is not None:
        yield InboxItem(kind=InboxKind.DOUBT, worker=name, key=turn.message.id, text=turn.message.text)
    if worker.is_offline:
        yield InboxItem(kind=InboxKind.OFFLINE, worker=name, text=worker.why_offline)
    if worker.stuck:
        yield InboxItem(kind=InboxKind.SPRINT, worker=name, text=worker.stuck)
    if worker.resumes_at is not None and turn is None:
        yield InboxItem(kind=InboxKind.LIMIT, worker=name)
    if worker.reviews and _wants_changes(last := worker.reviews[-1]):
        yield InboxItem(kind=InboxKind.REVIEW, worker=name, key=last.id, text=_summary(last))


def _wants_changes(review: ReviewState) -> bool:
    """Of a sprint's gate its sprint tells; findings that were sent back, and work that went on, wait for nobody."""
    is_dealt_with = bool(review.gate or review.sent or review.stale)
    return review.is_over and not is_dealt_with and review.judgement is Judgement.CHANGES


def _summary(review: ReviewState) -> str:
    """What the first reviewer says who wants changes."""
    verdicts = (one.verdict for one in review.reviewers if one.verdict is not None)
    return next((one.summary for one in verdicts if one.judgement is Judgement.CHANGES), "")

"""How far each message got, folded from facts: what a phone shows beside what was sent. Pure."""

from collections.abc import Mapping

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.present import Worker
from farhand.model.present_fold import put_back
from farhand.model.words import HowEnded, MessageId, Receipt


def receipt_at_end(how: HowEnded, *, handed_over: bool) -> Receipt:
    """What a message's receipt says when its turn is over."""
    if how is HowEnded.LOST:
        return Receipt.UNKNOWN
    return Receipt.ANSWERED if handed_over or how is HowEnded.COMPLETED else Receipt.REFUSED


def fold_receipts(
    receipts: Mapping[MessageId, Receipt], worker: Worker | None, event: Event
) -> Mapping[MessageId, Receipt]:
    """The receipts after the event; `worker` is the event's as it was before it. The same object when none changed."""
    fact = event.fact
    match fact:
        case facts.Queued(message=message):
            return {**receipts, message: Receipt.QUEUED}
        case facts.Withdrawn(message=message):
            return _marked(receipts, message, Receipt.WITHDRAWN)
        case facts.TurnStarted(message=message):
            return _marked(receipts, message, Receipt.STARTED)
        case facts.HandedOver(message=message):
            return _marked(receipts, message, Receipt.HANDED_OVER)
        case facts.Seen(message=message):
            return _marked(receipts, message, Receipt.SEEN)
        case facts.Doubted(message=message):
            return _marked(receipts, message, Receipt.UNKNOWN)
        case facts.TurnEnded(how=how) if worker is not None:
            return _at_end(receipts, worker, event, how)
        case facts.Ended() if worker is not None:
            return {**receipts, **{one.id: Receipt.WITHDRAWN for one in worker.queue}}
        case _:
            return receipts


def _marked(
    receipts: Mapping[MessageId, Receipt], message: MessageId | None, receipt: Receipt
) -> Mapping[MessageId, Receipt]:
    return {**receipts, message: receipt} if message is not None and message in receipts else receipts


def _at_end(
    receipts: Mapping[MessageId, Receipt], worker: Worker, event: Event, how: HowEnded
) -> Mapping[MessageId, Receipt]:
    turn = worker.turn
    if turn is None or turn.id != event.turn:
        return receipts
    said = [*((turn.message,) if turn.message else ()), *worker.steering]
    if how is HowEnded.PARKED:
        # They wait again, under their next names.
        gone = {one.id for one in said}
        kept = {name: receipt for name, receipt in receipts.items() if name not in gone}
        return {**kept, **{one.id: Receipt.QUEUED for one in put_back(turn, worker.steering)}}
    end = receipt_at_end(how, handed_over=turn.handed_over)
    ended = {one.id: end for one in said if receipts.get(one.id) is not Receipt.UNKNOWN}
    return {**receipts, **ended}

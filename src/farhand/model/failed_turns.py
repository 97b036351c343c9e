"""Which turns of a worker failed and can be tried again: how facts change them. Pure."""

from farhand.model import facts
from farhand.model.present import FailedTurn, Turn
from farhand.model.words import TurnId, replace

MOST_FAILED = 8
TRIED_ALREADY = "That was tried again already, or is too long ago. Say it again if you still want it."
FailedTurns = tuple[FailedTurn, ...]


def after_end(failed: FailedTurns, turn: Turn, fact: facts.TurnEnded) -> FailedTurns:
    """With a turn that ended, if its message can be tried again; the oldest go first."""
    if not fact.can_retry or turn.message is None:
        return failed
    return (*failed, FailedTurn(turn=turn.id, message=turn.message))[-MOST_FAILED:]


def after_start(failed: FailedTurns) -> FailedTurns:
    """All of them are of the past once another turn has begun."""
    return tuple(one if one.past else replace(one, past=True) for one in failed)


def after_queued(failed: FailedTurns, again: TurnId) -> FailedTurns:
    """Without the one whose message was queued again."""
    return tuple(one for one in failed if one.turn != again) if again else failed


def chosen(failed: FailedTurns, turn: TurnId) -> FailedTurn | None:
    """That turn; without a name the last of the worker's turns, if that failed."""
    if turn:
        return next((one for one in failed if one.turn == turn), None)
    return next((one for one in failed[-1:] if not one.past), None)

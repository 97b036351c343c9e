"""What a worker's task must do next, read off the present, so that a restart goes on where a kill stopped. Pure."""

from collections.abc import Collection
from typing import TypeAlias

from farhand.model.facts import TuneAsked
from farhand.model.ports import Can, Deliver, Settle, Stop
from farhand.model.present import Message, Worker
from farhand.model.words import MessageId, Word


class Leave(Word):
    """End the agent and leave the team."""


class Restart(Word):
    """End the agent and start it again."""


class Begin(Word):
    """Start a turn with the first message that waits."""

    message: Message


Step: TypeAlias = Leave | Restart | Begin | Deliver | Settle | Stop | TuneAsked


def next_step(worker: Worker, can: Can, declined: Collection[MessageId] = ()) -> Step | None:
    """The most urgent step: an interrupt overtakes the queue, an answer overtakes a message.

    A message in `declined` was not taken into the running turn and waits for its own."""
    if worker.ending:
        return Leave()
    if worker.relaunching:
        return Restart()
    if not worker.online:
        return None
    turn = worker.turn
    if turn and turn.message and not turn.handed_over and not turn.doubted:
        return Deliver(turn=turn.id, message=turn.message)
    if turn and turn.interrupt_asked and not turn.interrupted:
        return Stop(turn=turn.id, number=turn.interrupt_asked)
    for ask in worker.asks:
        if ask.settled is not None:
            return Settle(ask=ask)
    # While it asks, keys that change its mode would answer the dialog on its screen.
    if worker.tuning is not None and all(ask.settled is not None for ask in worker.asks):
        return worker.tuning
    if turn is None and worker.queue and worker.resumes_at is None:
        return Begin(message=worker.queue[0])
    if turn and turn.handed_over and can.steer:
        for message in worker.queue:
            if message.steer and not message.on_its_way and message.id not in declined:
                return Deliver(turn=turn.id, message=message, joins=True)
    return None

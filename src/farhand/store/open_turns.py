"""A cache of the events of the turns that run now, so that a turn need not be read back when it ends."""

from collections.abc import Iterable
from typing import NamedTuple

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.words import Seq, WorkerName


class KnownTurn(NamedTuple):
    """What is known of an event's turn: whether it runs, so that the event is not late; its events, when it ends."""

    runs: bool = False
    events: tuple[Event, ...] = ()


NO_TURN = KnownTurn()
_RUNS = KnownTurn(runs=True)


class OpenTurns:
    """Collects events as they are about to be written. A turn whose start it missed it does not have."""

    def __init__(self) -> None:
        self._events: dict[WorkerName, list[Event]] = {}

    def add(self, events: Iterable[Event]) -> dict[Seq, KnownTurn]:
        """Takes the events; for each of a turn that it has, by its number, what is known of that turn."""
        known: dict[Seq, KnownTurn] = {}
        for event in events:
            running = self._events.get(event.worker)
            match event.fact:
                case facts.TurnStarted():
                    self._events[event.worker] = [event]
                case facts.Ended():
                    known[event.seq] = KnownTurn(events=tuple(self._events.pop(event.worker, ())))
                case _ if running and event.turn is not None and running[0].turn == event.turn:
                    running.append(event)
                    known[event.seq] = _RUNS
                    if isinstance(event.fact, facts.TurnEnded):
                        known[event.seq] = KnownTurn(events=tuple(self._events.pop(event.worker)))
        return known

    def clear(self) -> None:
        """Forgets everything: something that it was given was not written."""
        self._events.clear()

    def of(self, worker: WorkerName, up_to: Seq) -> tuple[Event, ...]:
        """The events of the worker's running turn, up to that number; empty when it does not have them."""
        return tuple(event for event in self._events.get(worker, ()) if event.seq <= up_to)

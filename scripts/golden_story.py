"""How a golden fixture's story is told: facts of workers, in order, as a journal stamps them."""

from __future__ import annotations

from typing import NamedTuple

from scripts.golden_words import START

from farhand.model import facts
from farhand.model.facts import Draft, Event, Fact
from farhand.model.words import HowEnded, Sender

PHONE = Sender(via="web-k3f9", who="my phone")
TELEGRAM = Sender(via="telegram", who="Ada")
COMPLETED = facts.TurnEnded(how=HowEnded.COMPLETED)


class Story(NamedTuple):
    """Facts of a team, in order."""

    name: str
    about: str
    told: tuple[Draft, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """The facts as a journal stamps them."""
        return tuple(
            Event(seq=number, at=START + number * 0.25, worker=one.worker, turn=one.turn, fact=one.fact)
            for number, one in enumerate(self.told, start=1)
        )


def of(worker: str, turn: str | None, *told: Fact) -> tuple[Draft, ...]:
    """Facts of one worker and of one turn, or of none."""
    return tuple(Draft(worker=worker, turn=turn, fact=fact) for fact in told)


def hired(worker: str = "ann", backend: str = "demo") -> tuple[Draft, ...]:
    """A worker who joined and can be spoken to."""
    return of(
        worker,
        None,
        facts.Hired(backend=backend, directory="/home/ada/shop", by=PHONE),
        facts.Focused(by=PHONE),
        facts.CameOnline(session=f"{worker}-1"),
    )


def queued(message: str, text: str, worker: str = "ann", *, steer: bool = False) -> tuple[Draft, ...]:
    """A message that waits."""
    return of(worker, None, facts.Queued(message=message, text=text, steer=steer, by=PHONE))


def begun(message: str, text: str, worker: str = "ann") -> tuple[Draft, ...]:
    """A message that began a turn, and that the agent has."""
    start = of(worker, message, facts.TurnStarted(message=message), facts.HandedOver(message=message))
    return (*queued(message, text, worker), *start)

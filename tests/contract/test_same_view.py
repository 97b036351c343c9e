"""The store and whoever folds events end with the same view, byte for byte, whatever facts come in whatever order."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farhand.model import facts, team_view
from farhand.model.facts import Draft, Fact
from farhand.model.present import Worker
from farhand.model.team_view import ConversationView, TeamView
from farhand.model.wire import encode
from farhand.model.words import HowEnded, HowSettled, Mode, Sender, Usage
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal

pytestmark = pytest.mark.anyio
PHONE = Sender(via="web-1", who="Ada's phone")
Move = tuple[str | None, Callable[[], Fact]]
EVENTS = 60
HIRED = facts.Hired(backend="demo", directory="/home/ada/shop", by=PHONE)


class Team:
    """Makes up the next fact that may follow."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._numbers = itertools.count(1)
        self._past: list[tuple[str, str, str]] = []

    def next(self, view: TeamView) -> Draft:
        workers = view.present.workers
        absent = [name for name in ("ann", "bob") if name not in workers]
        if absent:
            return Draft(worker=absent[0], fact=HIRED)
        worker = workers[self._chance.choice(list(workers))]
        if self._chance.random() < 0.02:
            return Draft(worker=worker.name, fact=facts.Ended())
        turn, make = self._chance.choice([*self._between(worker), *self._queue(worker), *self._turn(worker)])
        fact = make()
        if isinstance(fact, facts.TurnStarted) and fact.message:
            self._past.append((worker.name, turn or "", fact.message))
        return Draft(worker=worker.name, turn=turn, fact=fact)

    def _fresh(self, letter: str) -> str:
        return f"{letter}{next(self._numbers)}"

    def _between(self, worker: Worker) -> Iterator[Move]:
        pick = self._chance.choice
        turn = worker.turn.id if worker.turn else None
        yield None, lambda: facts.Queued(message=self._fresh("m"), text="x", by=PHONE, steer=pick([True, False]))
        yield None, lambda: facts.CameOnline(session=pick(["", "s"]), adopted=pick([True, False]))
        yield None, lambda: facts.WentOffline(why="gone", asked=pick([True, False]), final=pick([True, False]))
        yield None, lambda: facts.SessionKnown(session="t")
        yield None, lambda: facts.RelaunchAsked(by=PHONE)
        yield None, lambda: facts.TuneAsked(model="opus", by=PHONE)
        yield (
            None,
            lambda: facts.Tuned(
                model="opus", mode=pick([None, Mode.PLAN]), effort=pick([None, "high"]), refused=pick(["", "no"])
            ),
        )
        yield None, lambda: facts.Focused(by=PHONE)
        yield None, lambda: facts.LimitLifted(by=PHONE)
        yield None, lambda: facts.Noted(text="noted")
        yield (
            turn,
            lambda: facts.AskRaised(
                ask=self._fresh("a"), question="May I?", choices=(), deadline_seconds=pick([None, 5.0])
            ),
        )
        if worker.asks:
            ask = pick(worker.asks)
            yield ask.turn, lambda: facts.AskSettled(ask=ask.id, how=pick(list(HowSettled)), choice="yes")
            yield ask.turn, lambda: facts.AnswerDelivered(ask=ask.id)
        yield from self._late(worker)

    def _late(self, worker: Worker) -> Iterator[Move]:
        """Proofs that come after the end of their turn."""
        mine = [one for one in self._past if one[0] == worker.name]
        if mine:
            _, turn, message = mine[-1]
            yield turn, lambda: facts.Seen(message=message)
            yield turn, lambda: facts.HandedOver(message=message)
            yield turn, lambda: facts.Doubted(message=message, why="Nobody knows.")

    def _queue(self, worker: Worker) -> Iterator[Move]:
        if not worker.queue:
            return
        message = self._chance.choice(worker.queue).id
        turn = worker.turn.id if worker.turn else None
        yield None, lambda: facts.Reworded(message=message, text="y", by=PHONE)
        yield None, lambda: facts.SteerAsked(message=message, by=PHONE)
        yield None, lambda: facts.SteerBegun(message=message)
        yield None, lambda: facts.SteerDeclined(message=message, why="no")
        yield None, lambda: facts.Withdrawn(message=message, by=PHONE)
        shuffled = self._chance.sample([one.id for one in worker.queue], len(worker.queue))
        yield None, lambda: facts.Reordered(messages=tuple(shuffled), by=PHONE)
        yield turn, lambda: facts.Doubted(message=message, why="Nobody knows.")
        yield turn, lambda: facts.HandedOver(message=message)
        yield turn, lambda: facts.Seen(message=message)
        if worker.turn is None:
            first = worker.queue[0].id
            yield from [(first, lambda: facts.TurnStarted(message=first))] * 4

    def _turn(self, worker: Worker) -> Iterator[Move]:
        pick = self._chance.choice
        if worker.turn is None:
            yield self._fresh("desk"), facts.TurnStarted
            return
        turn = worker.turn.id
        usages = [None, Usage(output_tokens=3, cost_dollars=0.1), Usage(input_tokens=2)]
        for _ in range(2):
            yield turn, lambda: facts.TurnEnded(how=pick(list(HowEnded)), usage=pick(usages))
            yield turn, lambda: facts.Said(text="word ")
        yield turn, lambda: facts.InterruptAsked(by=PHONE)
        yield turn, facts.Interrupted
        yield turn, lambda: facts.Used(usage=pick(usages) or Usage())
        yield turn, lambda: facts.Limited(text="limit", until=pick([None, 2000.0]))
        yield turn, lambda: facts.ToolStarted(call=self._fresh("c"), tool="Read", title="Read a file")
        if worker.turn.message:
            message = worker.turn.message.id
            yield turn, lambda: facts.HandedOver(message=message)
            yield turn, lambda: facts.Seen(message=message)
            yield turn, lambda: facts.Doubted(message=message, why="Nobody knows.")


@pytest.mark.parametrize("seed", range(40))
async def test_the_store_and_a_client_that_folds_have_the_same_view(tmp_path: Path, seed: int) -> None:
    team, view = Team(seed), TeamView()
    database = Database(tmp_path / "farhand.db")
    journal = SqliteJournal(database)
    await journal.load()
    for number in range(EVENTS):
        (event,) = journal.stamp([team.next(view)], 1000.0 + number)
        await journal.append([event])
        view = team_view.fold(view, event)
        if number % 10 == 9:
            # As after a restart: nothing is known but what is written.
            journal = SqliteJournal(database)
            assert encode(await journal.load()) == encode(view.present)
            for name in view.conversations:
                page = await journal.history(name, None, 500, event.seq)
                assert encode(ConversationView(entries=page.entries, open=page.open)) == encode(
                    view.conversations[name]
                )
    database.close()

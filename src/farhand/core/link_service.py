"""Serves a worker's link: takes the steps that the present asks for, and records the facts that the agent reports."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias, assert_never

import anyio

from farhand.core import admit, errand_facts
from farhand.core.advice import advised
from farhand.core.ask_paths import followed
from farhand.core.hub import LocalHub
from farhand.core.restarts import RestartPolicy
from farhand.core.steps import Begin, Leave, Restart, Step, next_step
from farhand.core.turn_text import TurnText
from farhand.model import facts, road
from farhand.model.ask_limits import OPEN_ASKS
from farhand.model.errors import DriverError, FarhandError
from farhand.model.facts import Draft, Fact
from farhand.model.ports import Batch, Can, Change, Clock, Deliver, Heard, Link, NotTaken, Outcome, Settle, Stop, Taken
from farhand.model.present import Worker
from farhand.model.provenance import for_agent
from farhand.model.store_ports import Cursor
from farhand.model.words import HowEnded, MessageId, replace

STORE_PAUSE_SECONDS = 2.0
# What of a batch is recorded, for the worker as it is then.
ChooseHeard: TypeAlias = Callable[[Worker, tuple[Heard, ...]], tuple[Heard, ...]]
_ON_ITS_WAY = "The node was restarted while the message was on its way. See whether it arrived before you repeat it."


class LinkService:
    """Serves the links of one worker, one after the other: what it remembers outlives each of them."""

    def __init__(
        self,
        worker: Worker,
        hub: LocalHub,
        can: Can,
        clock: Clock,
        restarts: RestartPolicy,
        cursor: str,
        open_asks: int = OPEN_ASKS,
        sign_in: str = "",
    ) -> None:
        self._sign_in = sign_in
        self._name = worker.name
        self._owner = owner(worker.name, worker.since)
        self._hub = hub
        self._can = can
        self._clock = clock
        self._restarts = restarts
        self._open_asks = open_asks
        # Where the wire stands, as it was stored last.
        self.cursor = cursor
        self._changed = asyncio.Event()
        self._errand = anyio.CancelScope()
        self._attempted: set[str] = set()
        # Ids of messages that the running turn did not take.
        self._declined: set[str] = set()
        # Asks whose answers may be with the agent already, though nobody has confirmed it yet.
        self._answers_on_their_way: set[str] = set()
        # What was said into a turn that was stopped: an agent that begins it afterwards is stopped again.
        self._stopped_with_turn: set[MessageId] = set()
        self._text = TurnText()

    @property
    def worker(self) -> Worker:
        """The worker as it is now."""
        return self._hub.present.workers[self._name]

    def wake(self) -> None:
        """Something was written about this worker. For one that is to leave, the running errand is cancelled."""
        self._changed.set()
        worker = self._hub.present.workers.get(self._name)
        if worker is not None and (worker.ending or worker.relaunching):
            self._errand.cancel()

    def renewed(self) -> asyncio.Event:
        """An event that the next change of the worker sets; taken before the look at how the worker is."""
        self._changed = asyncio.Event()
        return self._changed

    async def serve(self, link: Link) -> bool:
        """True when the agent ended by itself, False when the worker must leave or be restarted."""
        await self._doubt_interrupted_deliveries()
        self._answers_on_their_way = {ask.id for ask in self.worker.asks if ask.settled is not None}
        ended = True
        async with anyio.create_task_group() as tasks:

            async def run_steps() -> None:
                nonlocal ended
                await self._run_steps(link)
                ended = False
                tasks.cancel_scope.cancel()

            tasks.start_soon(run_steps, name=f"obey {self._name}")
            await self._record_facts(link)
            tasks.cancel_scope.cancel()
        return ended

    async def read_rest(self, link: Link) -> None:
        """Records what is left of an agent that was ended with its node; nothing is brought to it any more."""
        self._answers_on_their_way = set()
        async for batch in link.facts():
            await self._record_batch(batch, self._of_earlier_turns)

    def _of_earlier_turns(self, worker: Worker, heard: tuple[Heard, ...]) -> tuple[Heard, ...]:
        """Without the end of the turn that runs, if it began with this node: an agent of before has no part in it."""
        if worker.turn is None or worker.turn.seq <= self._hub.started_after:
            return heard
        return tuple(one for one in heard if one.turn is not None or not isinstance(one.fact, facts.TurnEnded))

    async def _record_facts(self, link: Link) -> None:
        async for batch in link.facts():
            await self._record_batch(batch)

    async def _record_batch(self, batch: Batch, chosen: ChooseHeard = lambda _, heard: heard) -> None:
        road.reached("worker.before_record")
        now = self._clock.now()
        cursor = Cursor(owner=self._owner, value=batch.cursor) if batch.cursor else None
        turn = self.worker.turn
        bounded = followed(self._text.bounded(turn.id if turn else None, batch.heard), self.worker.directory)

        def make_drafts(worker: Worker) -> list[Draft]:
            heard = chosen(worker, bounded)
            others = self._hub.others(self._name)
            drafts = admit.admit(worker, heard, now, self._answers_on_their_way, self._open_asks, others)
            return errand_facts.stopped_late(advised(drafts, self._sign_in), self._stopped_with_turn)

        await self._until_room()
        await self._hub.record(self._name, make_drafts, cursor)
        self.cursor = batch.cursor or self.cursor
        road.reached("worker.recorded")

    async def _until_room(self) -> None:
        """Lets an agent wait whose words nobody can keep; what a person says is taken all the same."""
        while not self._hub.has_room:
            await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _run_steps(self, link: Link) -> None:
        """Takes steps until one means that the link must be closed; waits for a change when there is none."""
        while True:
            changed = self.renewed()
            # While a write is pending the present is stale: the same step would be taken twice.
            is_written = self._hub.is_written(self._name)
            step = next_step(self.worker, self._can, self._declined) if is_written else None
            if isinstance(step, Leave | Restart):
                return
            if step is None:
                await changed.wait()
                continue
            road.reached("worker.step")
            with anyio.CancelScope() as self._errand:
                await self._perform(link, step)

    async def _perform(self, link: Link, step: Step) -> None:
        match step:
            case Begin(message=message):
                self._declined.clear()
                await self._hub.record(self._name, lambda worker: errand_facts.begun(worker, message.id))
                road.reached("worker.turn_started")
            case Deliver():
                await self._deliver(link, step)
            case Settle(ask=ask):
                self._answers_on_their_way.add(ask.id)
                problem = errand_facts.problem_of(await link.perform(step))
                await self._hub.record(self._name, lambda worker: errand_facts.settled(worker, ask.id, problem))
                self._answers_on_their_way.discard(ask.id)
            case Stop():
                on_its_way = (one for one in self.worker.queue if one.on_its_way)
                self._stopped_with_turn.update(one.id for one in (*self.worker.steering, *on_its_way))
                problem = errand_facts.problem_of(await link.perform(step))
                await self._hub.record(self._name, lambda worker: errand_facts.stopped(worker, step, problem))
            case facts.TuneAsked(model=model, mode=mode, effort=effort):
                change = Change(model=model, mode=mode, effort=effort)
                refused = errand_facts.problem_of(await link.perform(change))
                await self.record(facts.Tuned(model=model, mode=mode, effort=effort, refused=refused))
            case Leave() | Restart():
                return
            case _:
                assert_never(step)

    async def _deliver(self, link: Link, step: Deliver) -> None:
        road.reached("worker.before_perform")
        self._attempted.add(step.message.id)
        if step.joins and not self._can.ids:
            await self.record(facts.SteerBegun(message=step.message.id), of_turn=step.turn)
        outcome: Outcome
        try:
            outcome = await link.perform(replace(step, message=for_agent(step.message)))
        except DriverError:
            raise
        except FarhandError as error:
            outcome = NotTaken(why=error.text)
        road.reached("worker.performed")
        if step.joins and isinstance(outcome, NotTaken):
            self._declined.add(step.message.id)
            self._attempted.discard(step.message.id)
            if not self._can.ids:
                await self.record(facts.SteerDeclined(message=step.message.id, why=outcome.why))
            return
        make_drafts = errand_facts.delivered(step, outcome)
        await self._hub.record(self._name, lambda worker: advised(make_drafts(worker), self._sign_in))
        if isinstance(outcome, Taken):
            self._restarts.took_a_message()
        self._attempted.discard(step.message.id)
        road.reached("worker.handed_over")

    async def _doubt_interrupted_deliveries(self) -> None:
        """A message that was being handed over when the node died is not given twice to a wire without ids."""
        for message in self.worker.queue:
            if message.on_its_way:
                await self.record(facts.Doubted(message=message.id, why=_ON_ITS_WAY))
        turn = self.worker.turn
        if self._can.ids or not turn or not turn.message or turn.handed_over or turn.doubted:
            return
        if turn.message.id in self._attempted or turn.seq <= self._hub.started_after:
            await self.record(facts.Doubted(message=turn.message.id, why=_ON_ITS_WAY), of_turn=turn.id)

    async def record(self, fact: Fact, of_turn: str | None = None) -> None:
        """Writes one fact; one of a turn that is over by now has nothing left to say."""

        def make_drafts(worker: Worker) -> list[Draft]:
            running = worker.turn.id if worker.turn else None
            if of_turn is not None and of_turn != running:
                return []
            return [Draft(worker=worker.name, turn=running, fact=fact)]

        await self._hub.record(self._name, make_drafts)

    async def record_end(self, how: HowEnded, gone: facts.WentOffline) -> None:
        """Writes that the agent is gone, with the end of its turn and of what was on its way to it.

        One that has never started gives back the focus that its hiring took."""
        before = await self._hub.focused_before(self.worker) if gone.starting and not gone.again else ""

        def make_drafts(worker: Worker) -> list[Draft]:
            doubts = errand_facts.doubts(worker, self._attempted)
            back = errand_facts.focus_back(self._hub.projected, worker.name, before)
            told = replace(gone, focus=before) if back else gone
            return [*doubts, *admit.end_turn(worker, how, gone.why), Draft(worker=worker.name, fact=told), *back]

        cursor = None
        if gone.asked:
            # An agent that was ended on purpose is started from the beginning of its wire.
            self.cursor = ""
            cursor = Cursor(owner=self._owner, value="")
        await self._hub.record(self._name, make_drafts, cursor)

    async def record_leaving(self, resume: str) -> None:
        """Writes that the worker has left. One that is handed back gives back the focus that its hiring took."""
        before = await self._hub.focused_before(self.worker) if resume else ""

        def make_drafts(worker: Worker) -> list[Draft]:
            present = self._hub.projected
            back = errand_facts.focus_back(present, worker.name, before)
            spoken_to = before if back else present.focus if present.focus != worker.name else ""
            left = facts.Ended(resume=resume, focus=spoken_to if resume else "")
            return [Draft(worker=worker.name, fact=left), *back]

        await self._hub.record(self._name, make_drafts)


def owner(name: str, since: int) -> str:
    """Under which name a worker's cursor is kept: a name used again is somebody else."""
    return f"worker:{name}:{since}"

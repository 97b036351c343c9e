"""One task a worker: takes the next step that the present asks for, and records the facts that the agent reports."""

from collections.abc import Callable, Collection
from typing import assert_never

import anyio
import anyio.lowlevel
import structlog

from farhand.core import admit
from farhand.core.decide import is_free
from farhand.core.folder_asks import FolderAsks
from farhand.core.hub import LocalHub
from farhand.core.steps import Begin, Leave, Restart, Step, next_step
from farhand.model import facts, road, start_problems
from farhand.model.errors import AgentGone, AgentNotStarted, DriverError, FarhandError, StoreError
from farhand.model.facts import Draft, Fact
from farhand.model.folder_trust import FolderNotTrusted
from farhand.model.ports import (
    Change,
    Clock,
    Deliver,
    Driver,
    Heard,
    KeepsSessions,
    Link,
    NotTaken,
    Outcome,
    Settle,
    Stop,
    Taken,
)
from farhand.model.present import Worker
from farhand.model.store_ports import Cursor
from farhand.model.words import HowEnded

log = structlog.get_logger("worker")

# An agent that dies is started again, but not one that dies again and again.
RESTARTS = 3
RESTARTS_WITHIN_SECONDS = 60.0
STORE_PAUSE_SECONDS = 2.0
# An agent that does not get as far as taking messages is tried again after these pauses, and then no more.
TRY_AGAIN_SECONDS = (30.0, 120.0, 600.0)
# Whatever happens so long after an agent was last told to be gone is news.
INCIDENT_SECONDS = 900.0
_ON_ITS_WAY = "The node was restarted while the message was on its way. See whether it arrived before you repeat it."


class WorkerTask:
    """The life of one worker on this node, from its hiring or the node's start to its end."""

    def __init__(
        self, worker: Worker, hub: LocalHub, driver: Driver, clock: Clock, cursor: str, open_asks: int = admit.OPEN_ASKS
    ) -> None:
        self._name = worker.name
        self._since = worker.since
        self._hub = hub
        self._driver = driver
        self._folder_asks = FolderAsks(hub, worker.name)
        self._clock = clock
        self._cursor = cursor
        self._open_asks = open_asks
        self._changed = anyio.Event()
        self._errand = anyio.CancelScope()
        self._attempted: set[str] = set()
        # Ids of messages that the running turn did not take.
        self._declined: set[str] = set()
        # Asks whose answers may be with the agent already, though nobody has confirmed it yet.
        self._answers_on_their_way: set[str] = set()
        self._died_at: list[float] = []
        # Why the agent ended, until that is written; and whether only a person may start it again.
        self._offline_reason: str | None = None
        self._needs_relaunch = False
        # How often an agent that did not start was tried again by itself, and whether it shall be once more.
        self._tried = 0
        self._try_again = False
        # The name of what is told of an agent that is gone, and when that was; empty while all is well.
        self._incident = ""
        self._incident_at = 0.0
        self._was_online = worker.online or bool(worker.session)

    @property
    def _worker(self) -> Worker:
        return self._hub.present.workers[self._name]

    def _wake(self) -> None:
        """Something was written about this worker. For one that is to leave, the running errand is cancelled."""
        self._changed.set()
        worker = self._hub.present.workers.get(self._name)
        if worker is not None and (worker.ending or worker.relaunching):
            self._errand.cancel()

    async def run(self) -> None:
        """Runs until the worker has left the team. A failure costs a pause and a retry, and nobody else."""
        with self._hub.waking(self._name, self._wake):
            while True:
                try:
                    return await self._run_until_ended()
                except StoreError as error:
                    log.error("worker waits for the store", worker=self._name, error=error.text)
                except Exception:
                    log.exception("worker failed", worker=self._name)
                await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _run_until_ended(self) -> None:
        while True:
            self._changed = anyio.Event()
            if self._offline_reason is not None:
                await self._went_offline(HowEnded.FAILED, self._offline_reason)
                self._offline_reason = None
            step = next_step(self._worker, self._driver.can)
            if isinstance(step, Leave):
                return await self._leave()
            if isinstance(step, Restart):
                await self._end_agent("relaunched")
                self._died_at.clear()
                self._tried = 0
            elif self._needs_relaunch and not await self._waited_for_a_try():
                continue
            self._needs_relaunch = False
            await self._run_agent()

    async def _waited_for_a_try(self) -> bool:
        """Waits for a change, or until the agent shall be tried again by itself, which is True."""
        if not self._try_again or self._tried >= len(TRY_AGAIN_SECONDS):
            await self._changed.wait()
            return False
        over = False
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                nonlocal over
                await self._clock.sleep(TRY_AGAIN_SECONDS[self._tried])
                over = True
                tasks.cancel_scope.cancel()

            tasks.start_soon(wait, name=f"try {self._name} again")
            await self._changed.wait()
            tasks.cancel_scope.cancel()
        self._tried += over
        return over

    async def _run_agent(self) -> None:
        """Opens a link and serves it until the agent ends; then decides whether to restart the agent automatically."""
        problem: BaseException | None = None
        try:
            async with self._driver.open(self._worker, self._cursor) as link:
                await self._folder_asks.withdraw()
                await self._came_online()
                if not await self._serve(link):
                    return
        except* DriverError as group:
            problem = _first_error(group)
        except* StoreError as group:
            problem = _first_error(group)
        except* Exception as group:
            problem = _first_error(group)
            log.exception("worker failed", worker=self._name)
        # A node that is being stopped says nothing of its agents: they live on, and so do their questions.
        await anyio.lowlevel.checkpoint_if_cancelled()
        if isinstance(problem, StoreError):
            # The cursor did not move: what could not be written comes again.
            await self._clock.sleep(STORE_PAUSE_SECONDS)
            return
        if isinstance(problem, FolderNotTrusted):
            await self._ask_about_folder(problem)
            return
        why = _error_text(problem)
        self._offline_reason = start_problems.told(why)
        self._try_again = isinstance(problem, AgentNotStarted)
        log.warning("agent gone", worker=self._name, why=why)
        # What could not even be started will not start by itself; what died may live again.
        dead = problem is None or isinstance(problem, AgentGone) or not isinstance(problem, DriverError)
        self._needs_relaunch = not (dead and self._may_restart())

    async def _ask_about_folder(self, untrusted: FolderNotTrusted) -> None:
        """Puts it to the manager; a no, and nobody's answer, start nothing until a relaunch asks again."""
        # A relaunch is done with the question: left standing, it would be obeyed again and again.
        if self._worker.online or self._worker.relaunching:
            await self._went_offline(HowEnded.FAILED, untrusted.text)
        if await self._folder_asks.answer_to(untrusted, self._renewed) is False:
            self._offline_reason = untrusted.refusal
            self._needs_relaunch = True

    def _renewed(self) -> anyio.Event:
        """Set at the next change."""
        self._changed = anyio.Event()
        return self._changed

    def _may_restart(self) -> bool:
        now = self._clock.now()
        self._died_at = [at for at in self._died_at if now - at < RESTARTS_WITHIN_SECONDS] + [now]
        return len(self._died_at) <= RESTARTS

    async def _came_online(self) -> None:
        worker = self._worker
        if not worker.online or worker.relaunching:
            back = bool(worker.why_offline)
            incident = self._incident if back else ""
            await self._record(facts.CameOnline(session=worker.session, back=back, incident=incident))
        self._was_online = True

    async def _serve(self, link: Link) -> bool:
        """True when the agent ended by itself, False when the worker must leave or be restarted."""
        await self._doubt_interrupted_deliveries()
        self._answers_on_their_way = {ask.id for ask in self._worker.asks if ask.settled is not None}
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

    async def _record_facts(self, link: Link) -> None:
        async for batch in link.facts():
            road.reached("worker.before_record")
            heard, now = batch.heard, self._clock.now()
            cursor = Cursor(owner=owner(self._name, self._since), value=batch.cursor) if batch.cursor else None

            def make_drafts(worker: Worker, heard: tuple[Heard, ...] = heard, now: float = now) -> list[Draft]:
                return admit.admit(worker, heard, now, self._answers_on_their_way, self._open_asks)

            await self._until_room()
            await self._hub.record(self._name, make_drafts, cursor)
            self._cursor = batch.cursor or self._cursor
            road.reached("worker.recorded")

    async def _until_room(self) -> None:
        """Lets an agent wait whose words nobody can keep; what a person says is taken all the same."""
        while not self._hub.has_room:
            await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _run_steps(self, link: Link) -> None:
        """Takes steps until one means that the link must be closed; waits for a change when there is none."""
        while True:
            self._changed = anyio.Event()
            # While a write is pending the present is stale: the same step would be taken twice.
            is_written = self._hub.is_written(self._name)
            step = next_step(self._worker, self._driver.can, self._declined) if is_written else None
            if isinstance(step, Leave | Restart):
                return
            if step is None:
                await self._changed.wait()
                continue
            road.reached("worker.step")
            with anyio.CancelScope() as self._errand:
                await self._perform(link, step)

    async def _perform(self, link: Link, step: Step) -> None:
        match step:
            case Begin(message=message):
                self._declined.clear()
                await self._hub.record(self._name, lambda worker: _begin(worker, message.id))
                road.reached("worker.turn_started")
            case Deliver():
                await self._deliver(link, step)
            case Settle(ask=ask):
                self._answers_on_their_way.add(ask.id)
                problem = _problem(await link.perform(step))
                await self._hub.record(self._name, lambda worker: _settled(worker, ask.id, problem))
                self._answers_on_their_way.discard(ask.id)
            case Stop():
                problem = _problem(await link.perform(step))
                await self._hub.record(self._name, lambda worker: _stopped(worker, step, problem))
            case facts.TuneAsked(model=model, mode=mode):
                refused = _problem(await link.perform(Change(model=model, mode=mode)))
                await self._record(facts.Tuned(model=model, mode=mode, refused=refused))
            case Leave() | Restart():
                return
            case _:
                assert_never(step)

    async def _deliver(self, link: Link, step: Deliver) -> None:
        road.reached("worker.before_perform")
        self._attempted.add(step.message.id)
        if step.joins and not self._driver.can.ids:
            await self._record(facts.SteerBegun(message=step.message.id), of_turn=step.turn)
        outcome: Outcome
        try:
            outcome = await link.perform(step)
        except DriverError:
            raise
        except FarhandError as error:
            outcome = NotTaken(why=error.text)
        road.reached("worker.performed")
        if step.joins and isinstance(outcome, NotTaken):
            self._declined.add(step.message.id)
            self._attempted.discard(step.message.id)
            if not self._driver.can.ids:
                await self._record(facts.SteerDeclined(message=step.message.id, why=outcome.why))
            return
        await self._hub.record(self._name, _delivered(step, outcome))
        if isinstance(outcome, Taken):
            self._incident, self._tried = "", 0
        self._attempted.discard(step.message.id)
        road.reached("worker.handed_over")

    async def _doubt_interrupted_deliveries(self) -> None:
        """A message that was being handed over when the node died is not given twice to a wire without ids."""
        for message in self._worker.queue:
            if message.on_its_way:
                await self._record(facts.Doubted(message=message.id, why=_ON_ITS_WAY))
        turn = self._worker.turn
        if self._driver.can.ids or not turn or not turn.message or turn.handed_over or turn.doubted:
            return
        if turn.message.id in self._attempted or turn.seq <= self._hub.started_after:
            await self._record(facts.Doubted(message=turn.message.id, why=_ON_ITS_WAY), of_turn=turn.id)

    async def _record(self, fact: Fact, of_turn: str | None = None) -> None:
        """Writes one fact; one of a turn that is over by now has nothing left to say."""

        def make_drafts(worker: Worker) -> list[Draft]:
            running = worker.turn.id if worker.turn else None
            if of_turn is not None and of_turn != running:
                return []
            return [Draft(worker=worker.name, turn=running, fact=fact)]

        await self._hub.record(self._name, make_drafts)

    async def _went_offline(
        self, how: HowEnded, why: str, cursor: Cursor | None = None, *, asked: bool = False
    ) -> None:
        gone = facts.WentOffline(why=why, asked=True) if asked else self._gone(why)

        def make_drafts(worker: Worker) -> list[Draft]:
            doubts = _doubts(worker, self._attempted)
            return [*doubts, *admit.end_turn(worker, how, why), Draft(worker=worker.name, fact=gone)]

        await self._hub.record(self._name, make_drafts, cursor)

    def _gone(self, why: str) -> facts.WentOffline:
        """The fact that tells of an agent that is gone: what one cause brings has one name."""
        if not self._needs_relaunch:
            return facts.WentOffline(why=why, final=False)
        now, worker = self._clock.now(), self._worker
        again = bool(self._incident) and now - self._incident_at < INCIDENT_SECONDS
        self._incident = self._incident if again else f"{self._name}:{worker.since}:{now:.3f}"
        self._incident_at = now
        return facts.WentOffline(
            why=why,
            incident=self._incident,
            again=again,
            in_turn=worker.turn is not None,
            starting=0 if self._was_online else worker.since,
        )

    async def _end_agent(self, why: str) -> None:
        try:
            await self._driver.end(self._worker)
        except Exception as error:
            log.exception("agent not ended", worker=self._name)
            await self._record(facts.Noted(text=_error_text(error)))
        self._cursor = ""
        at_start = Cursor(owner=owner(self._name, self._since), value="")
        await self._went_offline(HowEnded.INTERRUPTED, f"The worker was {why}.", at_start, asked=True)

    async def _leave(self) -> None:
        worker, driver = self._worker, self._driver
        resume = driver.resume_command(worker) if worker.handing_back and isinstance(driver, KeepsSessions) else ""
        await self._end_agent("handed back" if resume else "let go")
        await self._record(facts.Ended(resume=resume))
        log.info("worker ended", worker=self._name)


def owner(name: str, since: int) -> str:
    """Under which name a worker's cursor is kept: a name used again is somebody else."""
    return f"worker:{name}:{since}"


def _begin(worker: Worker, message: str) -> list[Draft]:
    if not is_free(worker) or not worker.queue or worker.queue[0].id != message:
        return []
    return [Draft(worker=worker.name, turn=message, fact=facts.TurnStarted(message=message))]


def _settled(worker: Worker, ask: str, problem: str) -> list[Draft]:
    """That the answer was brought or why not, unless it was told already that it cannot be."""
    delivered = facts.AnswerDelivered(ask=ask, problem=problem)
    return [Draft(worker=worker.name, turn=one.turn, fact=delivered) for one in worker.asks if one.id == ask]


def _stopped(worker: Worker, step: Stop, problem: str) -> list[Draft]:
    """That the agent was told, unless its turn is over or its end was asked for once more meanwhile."""
    turn = worker.turn
    if turn is None or (turn.id, turn.interrupt_asked) != (step.turn, step.number):
        return []
    return [Draft(worker=worker.name, turn=turn.id, fact=facts.Interrupted(problem=problem))]


def _doubts(worker: Worker, attempted: Collection[str]) -> list[Draft]:
    """A message that was on its way when the agent went may have arrived."""
    turn, found = worker.turn, [one.id for one in worker.queue if one.on_its_way]
    if turn and turn.message and not turn.handed_over and not turn.doubted and turn.message.id in attempted:
        found.insert(0, turn.message.id)
    why = "The agent went while the message was on its way to it."
    running = turn.id if turn else None
    return [Draft(worker=worker.name, turn=running, fact=facts.Doubted(message=one, why=why)) for one in found]


def _delivered(step: Deliver, outcome: Outcome) -> Callable[[Worker], list[Draft]]:
    """What follows from an errand's outcome, for the worker as it is when that is written."""

    def make_drafts(worker: Worker) -> list[Draft]:
        message, running = step.message.id, worker.turn
        if step.joins:
            if not any(one.id == message for one in worker.queue):
                return []
            fact: Fact = facts.HandedOver(message=message)
            if not isinstance(outcome, Taken):
                fact = facts.Doubted(message=message, why=outcome.why)
            return [Draft(worker=worker.name, turn=step.turn, fact=fact)]
        if running is None or running.id != step.turn or running.handed_over:
            return []
        match outcome:
            case Taken():
                return admit.handed_over(worker, step.turn)
            case NotTaken(why=why):
                return admit.end_turn(worker, HowEnded.FAILED, why)
            case _:
                return [Draft(worker=worker.name, turn=step.turn, fact=facts.Doubted(message=message, why=outcome.why))]

    return make_drafts


def _problem(outcome: Outcome) -> str:
    return "" if isinstance(outcome, Taken) else outcome.why


def _error_text(problem: BaseException | None) -> str:
    if problem is None:
        return "The agent ended."
    if isinstance(problem, FarhandError):
        return problem.text
    return f"Something went wrong inside farhand ({type(problem).__name__}: {problem}); the log has it whole."


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first_error(found) if isinstance(found, BaseExceptionGroup) else found

"""Keeps the sprints of a node going: one move at a time for each worker, all of them out of the present."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

import anyio
import anyio.abc

from farhand.core import review_moves, sprint_moves
from farhand.core.hire_policy import HirePolicy
from farhand.core.hub import LocalHub
from farhand.model import facts
from farhand.model.context import window_of
from farhand.model.errors import Refused, StoreError
from farhand.model.facts import Draft, Event
from farhand.model.history import TurnEntry
from farhand.model.logger import get_logger
from farhand.model.names import origin
from farhand.model.ports import Clock
from farhand.model.present import Worker
from farhand.model.review import (
    CHANGED_SINCE,
    MOVED_ON,
    FolderNow,
    Judgement,
    ReviewBinding,
    finding_lines,
    passes,
)
from farhand.model.sprint import HowSprintEnded, SprintPhase, SprintState
from farhand.model.words import replace

log = get_logger("sprints")
STORE_PAUSE_SECONDS = 2.0
MOST_BREAKS = 5
LOOKED_BACK = 50
T = TypeVar("T")


class SprintTools(Protocol):
    """What a sprint needs of the worker's folder."""

    async def verify(self, worker: Worker, command: str) -> tuple[bool, str]:
        """Whether the command succeeds in its folder, and what it printed."""
        ...

    async def commit(self, worker: Worker, subject: str, trailer: str) -> tuple[str, str]:
        """Commits what changed there: the commit's id, or why there is none. A trailer that is committed already has
        its own commit again; where there is no repository or no change, both are empty."""
        ...


class GateTools(Protocol):
    """What a sprint needs to know of a folder whose changes must be approved."""

    async def now(self, worker: Worker) -> FolderNow:
        """How the worker's folder stands."""
        ...

    async def commit(self, worker: Worker, binding: ReviewBinding, subject: str, trailer: str) -> tuple[str, str]:
        """Commits the tree that was judged, and nothing else: the commit's id, or why there is none."""
        ...


class Sprints:
    """Moves every sprint on whose worker is free."""

    def __init__(self, hub: LocalHub, clock: Clock, tools: SprintTools, gate: GateTools, policy: HirePolicy) -> None:
        self._gate = gate
        self._policy = policy
        self._hub = hub
        self._clock = clock
        self._tools = tools
        self._changed = anyio.Event()
        self._moving: set[str] = set()
        # The checks and commits that run now, by worker.
        self._checks: dict[str, tuple[SprintState, anyio.CancelScope]] = {}
        # Where a sprint's move tripped an error of ours, and how often in a row.
        self._breaks: dict[str, tuple[tuple[str, int, int, SprintPhase], int]] = {}
        hub.listen(self._on_events)

    def _on_events(self, events: Sequence[Event]) -> None:
        # No events: something could not be written, and is to be tried again.
        workers = self._hub.present.workers
        if not events or any((one := workers.get(event.worker)) and one.sprint for event in events):
            self._changed.set()
        for name, (running, scope) in self._checks.items():
            if not sprint_moves.awaits_check(workers.get(name), running):
                scope.cancel()

    async def run(self) -> None:
        """Runs until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                self._changed = anyio.Event()
                for worker in self._hub.present.workers.values():
                    ready = sprint_moves.is_ready(worker) or self._is_overdue(worker)
                    if ready and self._hub.is_written(worker.name) and worker.name not in self._moving:
                        self._moving.add(worker.name)
                        tasks.start_soon(self._move, worker, name=f"sprint {worker.name}")
                await self._wait()

    def _is_overdue(self, worker: Worker) -> bool:
        ends_at = sprint_moves.turn_ends_at(worker)
        return ends_at is not None and ends_at <= self._clock.now()

    async def _wait(self) -> None:
        """Until something changes, or until the time of a sprint is over of which a turn runs."""
        now = self._clock.now()
        ends = [sprint_moves.turn_ends_at(worker) for worker in self._hub.present.workers.values()]
        due = min((one for one in ends if one is not None and one > now), default=None)
        if due is None:
            await self._changed.wait()
            return
        async with anyio.create_task_group() as tasks:

            async def sleep() -> None:
                await self._clock.sleep(due - now)
                tasks.cancel_scope.cancel()

            tasks.start_soon(sleep)
            await self._changed.wait()
            tasks.cancel_scope.cancel()

    async def _move(self, worker: Worker) -> None:
        try:
            if worker.sprint is not None:
                await self._take(worker, worker.sprint)
        except StoreError as error:
            log.error("sprint waits for the store", worker=worker.name, error=error.text)
            await self._clock.sleep(STORE_PAUSE_SECONDS)
        except Exception as error:
            # It costs this move alone, which is tried again, each time later; in the end the sprint, which is told.
            log.exception("sprint not moved on", worker=worker.name)
            await self._after_break(worker, error)
        finally:
            self._moving.discard(worker.name)
            self._changed.set()

    async def _after_break(self, worker: Worker, error: Exception) -> None:
        running = worker.sprint
        if running is None:
            return
        place = (running.id, running.at, running.round, running.phase)
        before, times = self._breaks.get(worker.name, (place, 0))
        times = times + 1 if before == place else 1
        self._breaks[worker.name] = (place, times)
        if times < MOST_BREAKS:
            await self._clock.sleep(STORE_PAUSE_SECONDS * 2 ** (times - 1))
            return
        why = f"Farhand tripped over an error of its own here, {times} times ({type(error).__name__}). The log has it."
        try:
            await self._record_same(worker, running, lambda now: sprint_moves.end(now, HowSprintEnded.STUCK, why))
        except StoreError as full:
            log.error("sprint waits for the store", worker=worker.name, error=full.text)
            await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def _take(self, worker: Worker, running: SprintState) -> None:
        match running.phase:
            case SprintPhase.PROMPT if running.review and not running.approved:
                tree = (await self._gate.now(worker)).tree
                await self._hub.record(worker.name, lambda now: sprint_moves.keep_approved(now, tree))
            case SprintPhase.PROMPT:
                await self._hub.record(worker.name, lambda now: sprint_moves.give(now, self._clock.now()))
            case SprintPhase.TURN if worker.turn is not None:
                await self._hub.record(worker.name, lambda now: sprint_moves.run_out(now, self._clock.now()))
            case SprintPhase.TURN:
                ended, text = await self._last_turn(worker.name, running.message)
                window = window_of(worker, self._hub.present.workers.values())
                await self._hub.record(worker.name, lambda now: sprint_moves.after_turn(now, ended, text, window))
            case SprintPhase.CHECK:
                await self._check(worker, running)
            case SprintPhase.REVIEW:
                await self._pass_gate(worker, running)

    async def _last_turn(self, name: str, message: str) -> tuple[facts.TurnEnded | None, str]:
        """How the turn of that prompt ended, and what was said in it."""
        page = await self._hub.history(name, limit=LOOKED_BACK)
        for entry in reversed(page.entries):
            if isinstance(entry, TurnEntry) and entry.view.message and origin(entry.view.message) == message:
                return entry.view.ended, entry.view.text
        return None, ""

    async def _check(self, worker: Worker, running: SprintState) -> None:
        verified = await self._verify(worker, running)
        if verified is None:
            await self._record_same(worker, running, sprint_moves.stop_check)
            return
        passed, output = verified
        commit, problem = "", ""
        if passed and running.review:
            await self._ask_review(worker, running)
            return
        if passed and running.commits:
            commits = partial(self._tools.commit, worker, running.task, _trailer(running))
            made = await self._while_awaited(worker, running, commits)
            if made is None:
                await self._record_same(worker, running, partial(sprint_moves.stop_check, what="commit"))
                return
            commit, problem = made

        def make_drafts(now: Worker) -> list[Draft]:
            if not _is_same(now, running):
                return []
            return sprint_moves.checked(now, passed=passed, output=output, commit=commit, problem=problem)

        await self._hub.record(worker.name, make_drafts)

    async def _verify(self, worker: Worker, running: SprintState) -> tuple[bool, str] | None:
        """What the verifier says; None where nobody wants to know any more, which ends one that runs at once."""
        now = self._hub.present.workers.get(worker.name)
        if (running.verifier or running.review) and not sprint_moves.awaits_check(now, running):
            return None
        if not running.verifier:
            return True, ""
        return await self._while_awaited(worker, running, partial(self._tools.verify, worker, running.verifier))

    async def _while_awaited(self, worker: Worker, running: SprintState, work: Callable[[], Awaitable[T]]) -> T | None:
        """What comes of it; None where it was ended, since somebody has stopped the sprint or skipped the task."""
        if not sprint_moves.awaits_check(self._hub.present.workers.get(worker.name), running):
            return None
        with anyio.CancelScope() as scope:
            self._checks[worker.name] = (running, scope)
            try:
                return await work()
            finally:
                del self._checks[worker.name]
        return None

    # --- the gate

    async def _ask_review(self, worker: Worker, running: SprintState) -> None:
        """Has the task judged; where nothing was changed there is nothing to judge."""
        tree = (await self._gate.now(worker)).tree
        gate = f"{running.id}/{running.at + 1}"

        def make_drafts(now: Worker) -> list[Draft]:
            if not _is_same(now, running):
                return []
            if tree and tree == running.approved:
                return sprint_moves.approve(now, tree)
            try:
                asked = review_moves.for_sprint(self._hub.projected, now, running.review, self._policy, gate)
            except Refused as error:
                return sprint_moves.end(now, HowSprintEnded.STUCK, error.text)
            return sprint_moves.ask_review(now, replace(asked, base=running.approved))

        await self._hub.record(worker.name, make_drafts)

    async def _pass_gate(self, worker: Worker, running: SprintState) -> None:
        """Done with a verdict that passes and holds; once more with what was found; judged anew with any other."""
        if running.halting:
            await self._hub.record(worker.name, lambda now: sprint_moves.end(now, HowSprintEnded.HALTED))
            return
        one = next((each for each in worker.reviews if each.id == running.reviewing), None)
        if one is not None and one.judgement is Judgement.CHANGES:
            found = finding_lines(one)
            await self._record_same(worker, running, lambda now: sprint_moves.object_to(now, found))
            return
        if one is None or one.binding is None or not passes(one, await self._gate.now(worker)):
            await self._ask_review(worker, running)
            return
        binding, commit, problem = one.binding, "", ""
        if running.commits:
            commits = partial(self._gate.commit, worker, binding, running.task, _trailer(running))
            made = await self._while_awaited(worker, running, commits)
            if made is None:
                await self._record_same(worker, running, partial(sprint_moves.stop_check, what="commit"))
                return
            commit, problem = made
        if problem in (CHANGED_SINCE, MOVED_ON):
            await self._ask_review(worker, running)
            return
        await self._record_same(worker, running, lambda now: sprint_moves.approve(now, binding.tree, commit, problem))

    async def _record_same(self, worker: Worker, running: SprintState, make: Callable[[Worker], list[Draft]]) -> None:
        await self._hub.record(worker.name, lambda now: make(now) if _is_same(now, running) else [])


def _is_same(worker: Worker, running: SprintState) -> bool:
    """Whether the sprint is still at that task: somebody may have skipped it meanwhile."""
    return worker.sprint is not None and (worker.sprint.id, worker.sprint.at) == (running.id, running.at)


def _trailer(running: SprintState) -> str:
    return f"Sprint-Task: {running.id}/{running.at + 1}"

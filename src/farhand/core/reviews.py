"""Keeps the reviews of a node going: hires reviewers, reads their verdicts, lets them go; all out of the present."""

import secrets
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Protocol

from farhand.core import review_moves
from farhand.core.hub import LocalHub
from farhand.core.moves import Move, Moves
from farhand.model import facts
from farhand.model.errors import CannotDo, FarhandError, StoreError
from farhand.model.facts import Event
from farhand.model.history import TurnEntry
from farhand.model.logger import get_logger
from farhand.model.names import origin
from farhand.model.ports import Clock
from farhand.model.present import Worker
from farhand.model.review import (
    REVIEW,
    Captured,
    FolderNow,
    Reviewer,
    ReviewerPhase,
    ReviewPhase,
    ReviewScope,
    ReviewState,
    is_reviewer,
)
from farhand.model.verdict import prompt, read_verdict
from farhand.model.words import HowEnded, replace

log = get_logger("reviews")
LOOKED_BACK = 50
LONGEST_SECONDS = 1800.0
MARK_BYTES = 9
# What moves no review on.
TALK = facts.Said | facts.Thought | facts.ToolStarted | facts.ToolEnded | facts.Used | facts.Showed


class ReviewTools(Protocol):
    """What a review needs of the worker's folder."""

    async def prepare(self, worker: Worker, asked: ReviewState, answer: str) -> tuple[Captured, str]:
        """What is to be judged, and a folder of the reviewers' own with the files that changed; raises an error of our
        tree when there is nothing that could be."""
        ...

    async def finish(self, worker: Worker, asked: ReviewState) -> None:
        """Completes that folder with all that did not change."""
        ...

    async def now(self, worker: Worker) -> FolderNow:
        """How the worker's folder stands."""
        ...

    async def keep_only(self, reviews: Collection[str]) -> None:
        """Removes the folders of all other reviews."""
        ...


class Reviews:
    """Moves every review on, by what the present makes possible."""

    def __init__(self, hub: LocalHub, clock: Clock, tools: ReviewTools) -> None:
        self._hub = hub
        self._clock = clock
        self._tools = tools
        self._moves = Moves(clock, self._possible, self._next_deadline)
        # Reviewers whose agents are gone for good, and workers whose folders may have changed.
        self._gone: dict[str, str] = {}
        self._worked: set[str] = set()
        self._tidy = True
        hub.listen(self._on_events)

    def _on_events(self, events: Sequence[Event]) -> None:
        # No events: something could not be written, and is to be tried again.
        wakes = not events
        for event in events:
            if isinstance(event.fact, TALK):
                continue
            worker = self._hub.present.workers.get(event.worker)
            if is_reviewer(event.worker):
                wakes = True
                self._note_reviewer(event)
            elif isinstance(event.fact, facts.Ended) or (worker is not None and worker.reviews):
                wakes = True
                if isinstance(event.fact, facts.TurnEnded):
                    self._worked.add(event.worker)
        if wakes:
            self._moves.wake()

    def _note_reviewer(self, event: Event) -> None:
        match event.fact:
            case facts.WentOffline(why=why, final=True):
                self._gone[event.worker] = why
            case facts.CameOnline():
                self._gone.pop(event.worker, None)
            case facts.Ended():
                self._gone.pop(event.worker, None)
                self._tidy = True
            case _:
                pass

    async def run(self) -> None:
        """Runs until it is cancelled."""
        await self._moves.run()

    def _possible(self) -> Iterator[tuple[str, Move]]:
        """Every move that could be made now, by its name."""
        for worker in self._hub.present.workers.values():
            yield from self._moves_of(worker)
        if self._tidy:
            yield "tidy", self._remove_copies

    def _moves_of(self, worker: Worker) -> Iterator[tuple[str, Move]]:
        if is_reviewer(worker.name):
            yield worker.name, partial(self._look_after, worker.name)
            return
        if review_moves.drop_unwanted(worker):
            yield f"drop {worker.name}", partial(self._drop_unwanted, worker.name)
        for one in worker.reviews:
            if one.phase is ReviewPhase.ASKED:
                yield one.id, partial(self._start, worker, one)
            elif one.phase is ReviewPhase.WORKING:
                yield one.id, partial(self._read_verdicts, worker.name, one)
        if worker.name in self._worked:
            yield f"stale {worker.name}", partial(self._refresh_quietly, worker.name)

    def _next_deadline(self) -> float | None:
        """When the first of the reviewers at work has taken too long."""
        running = (one for worker in self._hub.present.workers.values() for one in worker.reviews)
        return min((one.at + LONGEST_SECONDS for one in running if one.phase is ReviewPhase.WORKING), default=None)

    # --- the work that is judged

    async def _start(self, worker: Worker, asked: ReviewState) -> None:
        try:
            asked, answer = await self._of_turn(worker, asked)
            captured, directory = await self._tools.prepare(worker, asked, answer)
        except StoreError:
            raise
        except (FarhandError, OSError, ValueError) as error:
            problem = error.text if isinstance(error, FarhandError) else f"The folder cannot be copied: {error}."
            await self._hub.record(worker.name, lambda now: review_moves.fail(now, asked, problem))
            return
        before = next((one for one in worker.reviews if one.id == asked.follows), None)
        sized = replace(asked, files=captured.files, added=captured.added, removed=captured.removed)
        marks = [secrets.token_hex(MARK_BYTES) for _ in asked.reviewers]
        inside = bool(captured.binding.tree)
        prompts = [(mark, prompt(sized, worker.name, mark, captured.data, before, inside=inside)) for mark in marks]
        await self._hub.record(worker.name, lambda now: review_moves.start(now, asked, captured, prompts, directory))
        # Agents take longer than this to start, and read what changed first.
        try:
            await self._tools.finish(worker, replace(asked, binding=captured.binding))
        except (FarhandError, OSError, ValueError) as error:
            log.warning("copy not completed", review=asked.id, error=str(error))

    async def _of_turn(self, worker: Worker, asked: ReviewState) -> tuple[ReviewState, str]:
        """The turn that is meant, the last one where none is named, and what was said in it."""
        if asked.scope not in (ReviewScope.TURN, ReviewScope.ANSWER):
            return asked, ""
        page = await self._hub.history(worker.name, limit=LOOKED_BACK)
        turns = [entry.view for entry in page.entries if isinstance(entry, TurnEntry) and entry.view.ended]
        found = next((one for one in reversed(turns) if asked.turn in ("", one.turn)), None)
        if found is None or (asked.scope is ReviewScope.ANSWER and not found.text.strip()):
            raise CannotDo("There is no such turn, or nothing was said in it.")
        return replace(asked, turn=found.turn), found.text

    async def refresh(self, worker: Worker) -> None:
        """Marks the verdicts that no longer hold for the folder as it is now."""
        if any(one.is_over and one.binding and one.binding.tree for one in worker.reviews):
            now = await self._tools.now(worker)
            await self._hub.record(worker.name, lambda current: review_moves.mark_stale(current, now))

    async def _drop_unwanted(self, name: str) -> None:
        await self._hub.record(name, review_moves.drop_unwanted)

    async def _refresh_quietly(self, name: str) -> None:
        # A turn that ends from here on has the folder looked at once more.
        self._worked.discard(name)
        try:
            if (worker := self._hub.present.workers.get(name)) is not None:
                await self.refresh(worker)
        except StoreError:
            self._worked.add(name)
            raise

    async def _remove_copies(self) -> None:
        self._tidy = False
        workers = self._hub.present.workers.values()
        awaited = {one.id for worker in workers for one in worker.reviews if not one.is_over}
        await self._tools.keep_only(awaited | {worker.options.get(REVIEW, "") for worker in workers})

    # --- reviewers

    async def _look_after(self, name: str) -> None:
        """A reviewer's questions are refused, and it goes when nothing more is awaited from it."""
        await self._hub.record(name, review_moves.refuse_asks)
        await self._hub.record(name, lambda now: review_moves.let_go(self._hub.projected, now))

    async def _read_verdicts(self, author: str, one: ReviewState) -> None:
        late = self._clock.now() - one.at >= LONGEST_SECONDS
        for each in one.reviewers:
            if each.phase is ReviewerPhase.WORKING:
                await self._read_verdict(author, one, each, late=late)

    async def _read_verdict(self, author: str, one: ReviewState, each: Reviewer, *, late: bool) -> None:
        worker = self._hub.present.workers.get(each.worker)
        ended, text = None, ""
        if worker is None or not _has_message(worker, each.message):
            ended, text = await self._answer(each)
        if ended is not None and ended.how is HowEnded.COMPLETED:
            verdict, problem = read_verdict(text, each.mark), ""
        elif ended is not None:
            verdict, problem = None, f"Its turn did not end well: {ended.error or ended.how.value}"
        elif worker is None or worker.options.get(REVIEW) != one.id:
            verdict, problem = None, "It left the team."
        elif each.worker in self._gone:
            verdict, problem = None, self._gone[each.worker]
        elif late or not _has_message(worker, each.message):
            verdict, problem = None, "No verdict came in time." if late else "What it was told was taken back."
        else:
            return
        await self._hub.record(author, lambda now: review_moves.judge(now, one.id, each.worker, verdict, problem))

    async def _answer(self, reviewer: Reviewer) -> tuple[facts.TurnEnded | None, str]:
        """How the reviewer's turn ended, and what was said in it."""
        page = await self._hub.history(reviewer.worker, limit=LOOKED_BACK)
        for entry in reversed(page.entries):
            if isinstance(entry, TurnEntry) and entry.view.message and origin(entry.view.message) == reviewer.message:
                return entry.view.ended, entry.view.text
        return None, ""


def _has_message(worker: Worker, message: str) -> bool:
    """Whether the message waits, or its turn runs."""
    running = worker.turn.message if worker.turn else None
    return any(origin(one.id) == message for one in (*worker.queue, *((running,) if running else ())))

"""The link to one agent in a tmux pane: errands are typed, facts come from one queue, in one order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Generic, final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.disk.watch import FolderWatcher
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.hooks.endpoint import HookArrival, HookAsk, HookReport
from farhand.drivers.wires.hooks.spool import read_spool
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxGone
from farhand.drivers.wires.tmux.cli import TmuxCli
from farhand.drivers.wires.tmux.delivered_log import DELIVERED, MOST_EXPECTED, DeliveredLog, ExpectedMessage
from farhand.drivers.wires.tmux.queue import (
    FileChanged,
    InputQueue,
    LateFacts,
    QueuedEvent,
    QueuedItem,
    SpoolChanged,
    Timeout,
)
from farhand.drivers.wires.tmux.screen import last_words
from farhand.drivers.wires.tmux.state import State
from farhand.model.errors import AgentEnded
from farhand.model.facts import Noted, Seen, TurnEnded
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop
from farhand.model.sandbox import SPOOL
from farhand.model.words import replace


@final
class TmuxLink(Generic[State, QueuedEvent]):
    """One worker's agent, whichever CLI it is. Only `facts` brings facts; errands put theirs into the queue."""

    def __init__(
        self,
        tmux: Tmux,
        pane: Pane,
        folder: Path,
        cli: TmuxCli[State, QueuedEvent],
        queue: InputQueue[QueuedEvent],
        opening: tuple[Heard, ...] = (),
    ) -> None:
        self._tmux = tmux
        self._pane = pane
        self._spool = folder / SPOOL
        self._delivered = DeliveredLog(folder / DELIVERED)
        self._cli = cli
        self._queue = queue
        # What finding or starting the agent brought to light.
        self._opening = opening
        self._opened = anyio.Event()
        # Set when the agent is seen to have read the message of that id.
        self._seen: dict[str, anyio.Event] = {}

    @asynccontextmanager
    async def listening(
        self, arrivals: MemoryObjectReceiveStream[HookArrival], folders: FolderWatcher
    ) -> AsyncIterator[TmuxLink[State, QueuedEvent]]:
        """Fills the queue as long as the link is wanted; hooks that still wait then ask the next link."""
        queue = self._queue
        async with queue.opened(folders):
            queue.start(self._wait_for_death)
            queue.start(partial(self._receive_hooks, arrivals))
            queue.watch(self._spool, lambda: queue.put(SpoolChanged()))
            self._cli.start_sources()
            yield self

    async def _wait_for_death(self) -> None:
        try:
            self._queue.put(await self._tmux.died(self._pane))
        except TmuxGone as gone:
            self._queue.put(gone)

    async def _receive_hooks(self, arrivals: MemoryObjectReceiveStream[HookArrival]) -> None:
        async for arrival in arrivals:
            if self._is_ours(arrival.report if isinstance(arrival, HookAsk) else arrival):
                self._queue.put(arrival)
            elif isinstance(arrival, HookAsk):
                # Another agent that ours started: its questions are its own.
                arrival.answer(None)

    def _is_ours(self, report: HookReport) -> bool:
        return report.keyed or self._cli.hooks_pid in (None, report.agent)

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """Everything that the agent brings, in order, until it ends."""
        yield self._batch(list(self._opening))
        self._opened.set()
        async for batch in self._from_spool():
            yield batch
        async for item in self._queue.items():
            if isinstance(item, SpoolChanged | HookReport | HookAsk):
                # What a hook left in the spool was said before whatever arrives after it.
                async for batch in self._from_spool():
                    yield batch
            if isinstance(item, SpoolChanged):
                continue
            if (news := await self._take(item)) is not None:
                yield news
            if isinstance(item, Death) and item.status == 0:
                # A clean end at the desk was wanted; any other is healed by a new start.
                raise AgentEnded(
                    f"{self._cli.title} was ended at the desk. Relaunch the worker to go on with its memory."
                )
            if isinstance(item, Death | TmuxGone):
                return

    async def _from_spool(self) -> AsyncIterator[Batch]:
        """What hooks left, oldest first; a file is removed only when its facts are written down."""
        for report in read_spool(self._spool):
            batch = await self._take(report) if self._is_ours(report) else None
            if batch is not None:
                yield batch
            if report.spooled is not None:
                report.spooled.unlink(missing_ok=True)

    async def _take(self, item: QueuedItem | QueuedEvent) -> Batch | None:
        """The facts that follow from it, with the cursor after them; None when nothing follows."""
        cli = self._cli
        before = cli.cursor
        self._queue.file_read()
        # What was read is over before this comes: the end of a turn ends its own questions, and no later one.
        read = await self._with_turn_end(cli.read())
        heard = read + await self._with_turn_end(await self._facts_of(item))
        for one in heard:
            if isinstance(one.fact, Seen) and one.fact.message in self._seen:
                self._seen[one.fact.message].set()
        return self._batch(heard) if heard or cli.cursor != before else None

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._cli.cursor))

    async def _facts_of(self, item: QueuedItem | QueuedEvent) -> list[Heard]:
        match item:
            case FileChanged() | SpoolChanged():
                return []
            case HookReport():
                return await self._cli.on_report(item)
            case HookAsk():
                return self._cli.on_ask(item)
            case Timeout():
                return await self._cli.on_timeout(item)
            case LateFacts(facts=facts):
                return [Heard(fact=fact) for fact in facts]
            case Death() | TmuxGone():
                return [*self._cli.on_death(), self._death_note(item)]
            case _:
                return await self._cli.on_event(item)

    async def _with_turn_end(self, heard: list[Heard]) -> list[Heard]:
        ended = any(isinstance(one.fact, TurnEnded) for one in heard)
        return [*await self._cli.on_turn_ended(), *heard] if ended else heard

    def _death_note(self, item: Death | TmuxGone) -> Heard:
        """What a person is told about the agent's end."""
        title = self._cli.title
        if isinstance(item, TmuxGone):
            return Heard(fact=Noted(text=f"{item} {title} is started again and keeps its memory."))
        status = "was killed" if item.status is None else f"ended with status {item.status}"
        words = f" Its last words: {last_words(item.screen)}" if item.screen else ""
        return Heard(fact=Noted(text=f"{title} {status}.{words}"))

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Does what the core wants; returns as soon as it is taken."""
        await self._opened.wait()
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                return await self._cli.settle(ask)
            case Stop():
                return await self._cli.stop()
            case Change():
                return await self._cli.change(errand)

    async def _deliver(self, errand: Deliver) -> Outcome:
        """Types the message. At rest it waits for `seen`, which `_take` sets in the task that consumes `facts`."""
        cli = self._cli
        if errand.joins and not cli.steers:
            return NotTaken(why=f"{cli.title} takes a message when its turn is over.")
        text = prompt_text(errand.message)
        one = ExpectedMessage(message=errand.message.id, text=text, turn="" if errand.joins else errand.turn)
        # Written ahead: a link that lost its cursor still matches the prompt to its turn.
        self._delivered.add(one)
        # One that a running turn did not take comes again, with a turn of its own.
        self._expect((*self._expected_but(one), one)[-MOST_EXPECTED:])
        command = cli.keyboard.is_command(text)
        # At rest it reports at once that it has read a message; while it works, or of a command, it does not.
        confirmed = cli.confirms and not cli.running and not errand.joins and not command
        self._seen[one.message] = seen = anyio.Event()
        try:
            outcome = await cli.keyboard.submit(text, seen if confirmed else None, self._handed_over)
        finally:
            del self._seen[one.message]
        if isinstance(outcome, NotTaken):
            # It was not typed: the same words that come later are somebody else's.
            self._delivered.drop(one)
            self._expect(self._expected_but(one))
        elif command and not cli.running:
            cli.on_command(errand)
        return outcome

    def _handed_over(self) -> list[str]:
        """The texts that the agent was seen to have read, newest first."""
        waiting = {one.message for one in self._cli.state.expected}
        return [one.text for one in reversed(self._delivered.all()) if one.message not in waiting]

    def _expect(self, expected: tuple[ExpectedMessage, ...]) -> None:
        self._cli.state = replace(self._cli.state, expected=expected)

    def _expected_but(self, one: ExpectedMessage) -> tuple[ExpectedMessage, ...]:
        return tuple(other for other in self._cli.state.expected if other.message != one.message)

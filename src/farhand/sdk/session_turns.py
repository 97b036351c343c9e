"""The turns of a session, one at a time: begun, read, interrupted, and what is said between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from farhand.sdk.errors import SessionBusy

if TYPE_CHECKING:
    from farhand.sdk.active_turn import ActiveTurn, TurnPrompt
    from farhand.sdk.budget import Budget
    from farhand.sdk.events import Event
    from farhand.sdk.result import Tally
    from farhand.sdk.session import Session
    from farhand.sdk.structured_output import Structured

# How long an interrupt waits for tools that do not want to end.
GRACE_SECONDS = 1.0


class SessionTurns:
    """Owns the turn that runs, and the notices that wait for the next one."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._running: ActiveTurn | None = None
        self._notices: list[Event] = []
        self._stop: str | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a turn was begun, also one that is over."""
        return self._running is not None

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self._running is not None and not self._running.done

    async def begin(
        self,
        parts_of: Callable[[], TurnPrompt],
        structured: Structured[Any] | None,
        tally: Tally,
        budget: Budget | None,
    ) -> ActiveTurn:
        """Begins a turn for a run."""
        from farhand.sdk.active_turn import ActiveTurn, perform
        from farhand.sdk.loop import TurnLoop

        session = self._session
        if self._running is not None and self._running.is_forsaken:
            await self._running.ended()
        if self.busy:
            raise SessionBusy(f"Session {session.id} is in a turn. Wait for its end, leave it, or interrupt it.")
        if session.questions.pausing:
            raise SessionBusy(f"Session {session.id} was paused. Resume it with agent.resume_session(…).")
        parts = parts_of()
        session.later.clear()
        tally.start(len(session.conversation.added))
        session.spending.begin_run(budget)
        turn = TurnLoop(session, self.emit, structured, tally)
        self._running = ActiveTurn(
            f"turn of {session.id}", lambda: perform(session, turn, parts), lambda: turn.said, tally.take
        )
        return self._running

    async def emit(self, event: Event) -> None:
        """Emits an event to the reader of the running turn, after queued notices; queues it when no turn runs."""
        if self._running is None or self._running.done:
            self._notices.append(event)
            return
        while self._notices:
            await self._running.emit(self._notices.pop(0))
        await self._running.emit(event)

    def queue(self, *notices: Event) -> None:
        """Emits them before the next event of a turn."""
        self._notices += notices

    async def interrupt(self) -> bool:
        """Ends the running turn, within a limit. Returns whether there was one."""
        running = self._running
        if running is None or not running.interrupt():
            return False
        await running.ended(GRACE_SECONDS)
        return True

    def pause(self) -> None:
        """Ends the running turn where it asks."""
        if self._running is not None:
            self._running.interrupt("paused")

    async def abandon(self) -> None:
        """Ends the running turn without a reader."""
        if self._running is not None:
            await self._running.abandon()

    def stop(self, reason: str) -> None:
        """Ends the running turn after the call that is running."""
        self._stop = reason

    def take_stop(self) -> str | None:
        """Why the turn is to end, once."""
        reason, self._stop = self._stop, None
        return reason

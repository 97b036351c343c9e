"""Keeps the progress messages of running turns fresh: one edit a second for each chat, and none when nothing runs."""

import anyio

from farhand.channels.kit.card import Card
from farhand.channels.kit.follow import TurnViews
from farhand.channels.kit.pace import Pace
from farhand.channels.kit.surface import ShowsCards
from farhand.channels.kit.turn_cards import progress, progress_slot
from farhand.model.facts import Event, TurnStarted
from farhand.model.ports import Clock
from farhand.model.view import TurnView
from farhand.model.words import replace

# With nothing new to show, the time alone is shown this often.
QUIET_SECONDS = 10.0


class Progress:
    """Which turns have something new to show, and when each was shown last."""

    def __init__(self, turns: TurnViews, pace: Pace, clock: Clock, edit_seconds: float, chat: ShowsCards) -> None:
        self._turns = turns
        self._pace = pace
        self._clock = clock
        self._edit_seconds = edit_seconds
        self._chat = chat
        self._shown: dict[str, tuple[float, int]] = {}
        # When something was heard in a turn last.
        self._heard: dict[str, float] = {}
        self._news = anyio.Event()

    def see(self, event: Event, turn: TurnView | None) -> None:
        """Something happened in a turn."""
        if turn is None:
            return
        if isinstance(event.fact, TurnStarted):
            self._shown[turn.turn] = (event.at, turn.seq)
        self._heard[turn.turn] = event.at
        self._news.set()

    def card(self, turn: TurnView, now: float) -> Card:
        """The progress of a turn as an edit of its message."""
        slot = progress_slot(turn)
        shown = progress(turn, now, self._heard.get(turn.turn))
        return replace(shown, key=f"{slot}:{turn.seq}:{now:.3f}", edit=True)

    async def run(self) -> None:
        """Edits until it is cancelled."""
        while True:
            await self._news.wait()
            await self._clock.sleep(self._edit_seconds)
            running = self._turns.running()
            self._forget(running)
            if not running:
                self._news = anyio.Event()
                continue
            await self._show_one(running)

    def _forget(self, running: list[TurnView]) -> None:
        names = {turn.turn for turn in running}
        self._shown = {name: shown for name, shown in self._shown.items() if name in names}
        self._heard = {name: at for name, at in self._heard.items() if name in names}

    async def _show_one(self, running: list[TurnView]) -> None:
        """The turn that was not shown for longest, if it has news: so many turns share one chat's patience."""
        now = self._clock.now()
        due: list[tuple[float, TurnView]] = []
        for turn in running:
            at, seq = self._shown.get(turn.turn, (turn.started_at, -1))
            if turn.seq != seq or now - at >= QUIET_SECONDS:
                due.append((at, turn))
        if not due or not self._pace.can_spare():
            return
        _, turn = min(due, key=lambda one: one[0])
        self._shown[turn.turn] = (now, turn.seq)
        await self._chat.show(self.card(turn, now))

"""Shows that somebody is typing while a worker is at work, and calls nobody when none is."""

import anyio

from farhand.channels.kit.follow import TurnViews
from farhand.channels.kit.surface import ChatSurface, KnowsManager
from farhand.model.facts import Event, TurnStarted
from farhand.model.ports import Clock
from farhand.model.view import TurnView

# Surfaces show it for five seconds.
AGAIN_SECONDS = 4.0


class TypingIndicator:
    """One task; woken by a turn that begins."""

    def __init__(self, surface: ChatSurface, turns: TurnViews, clock: Clock, manager: KnowsManager) -> None:
        self._surface = surface
        self._turns = turns
        self._clock = clock
        self._manager = manager
        self._began = anyio.Event()

    def see(self, event: Event, _: TurnView | None) -> None:
        """Wakes up when a turn begins."""
        if isinstance(event.fact, TurnStarted):
            self._began.set()

    async def run(self) -> None:
        """Shows it until it is cancelled."""
        while True:
            await self._began.wait()
            # One that waits for a person is not at work.
            if not any(not turn.open_asks for turn in self._turns.running()):
                self._began = anyio.Event()
                continue
            if self._manager.chat:
                await self._surface.show_typing(self._manager.chat)
            await self._clock.sleep(AGAIN_SECONDS)

"""One worker of a hub, followed: its conversation for the remote control, and how its start goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import anyio

from farhand.model.errors import NotReady
from farhand.model.live_session import LiveSession, SessionTerminal
from farhand.model.ports import Hub
from farhand.model.present import Ask, Present, Worker
from farhand.model.present_fold import fold
from farhand.model.words import AskKind, Sender
from farhand.remote.hub_session import HubSession

# The terminal of the worker that it is asked for.
TerminalOf: TypeAlias = Callable[[Callable[[], Worker | None]], SessionTerminal]


class RemoteWorker:
    """`run` follows the hub until it is cancelled. The conversation can be had once the agent is at its prompt."""

    def __init__(self, hub: Hub, name: str, sender: Sender, terminal: TerminalOf) -> None:
        self.name = name
        self._hub = hub
        self._present = Present()
        self._session = HubSession(hub, name, sender, time.time, terminal(lambda: self.worker))
        self._changed = anyio.Event()
        self._is_open = False

    async def open(self) -> None:
        """Reads how things stand."""
        self._present = await self._hub.look()
        await self._session.open(self._present)
        self._is_open = True

    async def run(self) -> None:
        """Hands every event of the worker to its conversation."""
        async for event in self._hub.watch(after=self._present.seq):
            self._present = fold(self._present, event)
            if event.worker == self.name:
                self._session.take(event, self._present)
                self._changed.set()
                self._changed = anyio.Event()

    @property
    def worker(self) -> Worker | None:
        """The worker as it is now; None when it has left."""
        return self._present.workers.get(self.name)

    @property
    def session(self) -> LiveSession:
        """The conversation; raises NotReady until the agent can be spoken to."""
        worker = self.worker
        if not self._is_open or worker is None or not (worker.online or self._session.log.messages):
            raise NotReady(f"{self.name} is starting.")
        return self._session

    @property
    def folder_ask(self) -> Ask | None:
        """The question whether to start in this folder at all, while it waits."""
        asks = self.worker.asks if self.worker else ()
        return next((ask for ask in asks if ask.about is AskKind.FOLDER and ask.settled is None), None)

    async def until(self, true: Callable[[], bool]) -> None:
        """Returns when it is so; looked at after each event of the worker."""
        while not true():
            await self._changed.wait()

"""The live conversations of a team's workers: each is opened when somebody first asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from farhand.model.errors import UnknownWorker
from farhand.model.facts import Event
from farhand.model.live_session import SessionTerminal
from farhand.model.ports import Hub
from farhand.model.present import Present, Worker
from farhand.model.words import Sender
from farhand.remote.hub_session import HubSession


class TeamHub(Hub, Protocol):
    """A hub whose present is at hand."""

    @property
    def present(self) -> Present:
        """As it is written."""
        ...


class WorkerSessions:
    """Hears every event of the hub, and hands it to the conversation of its worker where that is open."""

    def __init__(
        self, hub: TeamHub, now: Callable[[], float], terminal_of: Callable[[Worker], SessionTerminal | None]
    ) -> None:
        self._hub, self._now, self._terminal_of = hub, now, terminal_of
        # By hiring: a name used again is somebody else.
        self._open: dict[str, asyncio.Task[HubSession]] = {}
        self._known: dict[str, HubSession] = {}

    def hear(self, events: Sequence[Event]) -> None:
        """What was just written; costs nothing while no conversation is open."""
        if not self._open:
            return
        present = self._hub.present
        for event in events:
            if (session := self._known.get(event.worker)) is not None:
                session.take(event, present)
        for name in [name for name in self._known if name not in present.workers]:
            del self._known[name]
        there = {worker.hiring_id for worker in present.workers.values()}
        for hiring in [hiring for hiring in self._open if hiring not in there]:
            del self._open[hiring]

    async def session(self, name: str, sender: Sender) -> HubSession:
        """The conversation of that worker, in which the sender speaks; raises UnknownWorker."""
        worker = self._hub.present.workers.get(name)
        if worker is None:
            raise UnknownWorker(name, known=self._hub.present.workers)
        if worker.hiring_id not in self._open:
            session = HubSession(self._hub, name, sender, self._now, self._terminal_of(worker))
            # From here on it hears what happens, and keeps it back until its history is read.
            self._known[name] = session
            self._open[worker.hiring_id] = asyncio.ensure_future(self._opened(session))
        opening = self._open[worker.hiring_id]
        try:
            # One caller that leaves does not take the others' conversation along.
            return (await asyncio.shield(opening)).spoken_by(sender)
        except BaseException:
            if opening.done() and (opening.cancelled() or opening.exception() is not None):
                self._open.pop(worker.hiring_id, None)
            raise

    async def _opened(self, session: HubSession) -> HubSession:
        await session.open(self._hub.present)
        return session

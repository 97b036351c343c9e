"""A whole node in the test's own process, with a scripted agent: what a test needs to speak, to wait and to look."""

import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio

from farhand.app import Channels, node
from farhand.config.settings import Settings
from farhand.model.commands import Accepted, Answer, Command, End, Focus, Hire, Interrupt, Relaunch, Say
from farhand.model.facts import AskRaised, CameOnline, Event, Said
from farhand.model.folder_trust import TRUST
from farhand.model.ports import Clock, Driver
from farhand.model.present import WIRE, Present, Worker
from farhand.model.reach import ReachMode
from farhand.model.words import AskKind, Mode, Sender, replace
from farhand.node import Node
from farhand.testing.clock import ManualClock
from farhand.testing.scripted import ScriptedDriver

F = TypeVar("F")
# Only a net for a test that hangs; no test measures time.
SAFETY_SECONDS = 240.0


def _is_about_folder(event: Event) -> bool:
    return isinstance(event.fact, AskRaised) and event.fact.about is AskKind.FOLDER


def no_channels(_: object) -> list[object]:
    """A node without channels."""
    return []


class House:
    """A running node and the people around it."""

    def __init__(self, running: Node, agent: ScriptedDriver, clock: Clock) -> None:
        self.node = running
        self.hub = running.hub
        self.agent = agent
        self.clock = clock
        self._numbers = itertools.count(1)
        self.started = running.hub.present.seq
        self._first = 0

    def begin_anew(self) -> None:
        """Looks away from all that was told so far: for tests that share a house, one after the other."""
        self.started = self._first = self.hub.present.seq

    async def send(self, command: Command, via: str = "test") -> Accepted:
        """Sends a command as a manager on that channel."""
        return await self.hub.send(command, Sender(via=via))

    def id(self) -> str:
        """A fresh command id."""
        return f"c{next(self._numbers)}-{self.started}"

    async def hire(
        self,
        worker: str = "ann",
        backend: str = "scripted",
        *,
        directory: Path | str = "",
        mode: Mode | None = None,
        wire: str = "",
        effort: str = "",
        trust_folder: bool = False,
        online: bool = True,
    ) -> Accepted:
        """Takes a worker on, and waits until it can be spoken to."""
        options = {WIRE: wire} if wire else {}
        hire = Hire(id=self.id(), worker=worker, backend=backend, directory=str(directory), mode=mode, options=options)
        accepted = await self.send(replace(hire, effort=effort))
        if trust_folder:
            await self.trust_folder()
        if online:
            await self.fact(CameOnline, lambda event: event.worker == worker, after=accepted.seq - 1)
        return accepted

    async def say(self, text: str, worker: str = "", via: str = "test") -> Accepted:
        """Gives a worker a message."""
        return await self.send(Say(id=self.id(), text=text, worker=worker), via)

    async def answer(self, ask: str, choice: str, via: str = "test", note: str = "") -> Accepted:
        """Settles an ask."""
        return await self.send(Answer(id=self.id(), ask=ask, choice=choice, note=note), via)

    async def trust_folder(self) -> None:
        """Waits until a folder is asked about, and trusts it."""
        raised = await self.event(AskRaised, _is_about_folder)
        assert isinstance(raised.fact, AskRaised)
        await self.answer(raised.fact.ask, TRUST)

    async def interrupt(self, worker: str = "") -> Accepted:
        """Stops a turn."""
        return await self.send(Interrupt(id=self.id(), worker=worker))

    async def relaunch(self, worker: str = "") -> Accepted:
        """Restarts an agent."""
        return await self.send(Relaunch(id=self.id(), worker=worker))

    async def end(self, worker: str) -> Accepted:
        """Lets a worker go."""
        return await self.send(End(id=self.id(), worker=worker))

    async def focus(self, worker: str) -> Accepted:
        """Focuses a worker."""
        return await self.send(Focus(id=self.id(), worker=worker))

    async def event(
        self, kind: type[F], matching: Callable[[Event], bool] = lambda _: True, after: int | None = None
    ) -> Event:
        """The first event with such a fact since the house was opened, or after that number; waits for it."""
        with anyio.fail_after(SAFETY_SECONDS):
            async for event in self.hub.watch(after=self.started if after is None else after):
                if isinstance(event.fact, kind) and matching(event):
                    return event
        raise AssertionError("the journal came to an end")

    async def fact(
        self, kind: type[F], matching: Callable[[Event], bool] = lambda _: True, after: int | None = None
    ) -> F:
        """The fact of that event."""
        found = (await self.event(kind, matching, after)).fact
        assert isinstance(found, kind)
        return found

    async def until(self, true: Callable[[Present], bool]) -> Present:
        """Waits until the present is so."""
        with anyio.fail_after(SAFETY_SECONDS):
            async for _ in self._changes():
                if true(self.hub.present):
                    return self.hub.present
        raise AssertionError("the journal came to an end")

    async def _changes(self) -> AsyncIterator[None]:
        yield None
        async for _ in self.hub.watch(after=max(0, self.hub.present.seq - 1)):
            yield None

    def worker(self, name: str = "ann") -> Worker:
        """The worker as it is now."""
        return self.hub.present.workers[name]

    async def said(self, worker: str = "ann") -> str:
        """All that a worker has said."""
        events = [event for event in await self.history() if event.worker == worker]
        return "".join(event.fact.text for event in events if isinstance(event.fact, Said))

    async def history(self) -> list[Event]:
        """Every event there is, or every one since the house began anew."""
        from farhand.model.wire import decode_event

        return [decode_event(body) for _, body in await self.node.journal.read(self._first, 1_000_000)]


def settings_in(folder: Path, node: str = "test") -> Settings:
    """Settings of a node that lives in that folder, on a free port of this machine; its workers ask before they act."""
    return Settings(
        node=node,
        folder=folder / node,
        port=0,
        host="127.0.0.1",
        hire_mode=Mode.DEFAULT,
        root_yolo=True,
        working_directory=folder,
        headless=True,
        drain_seconds=1.0,
        reach=ReachMode.NONE,
        temporary=folder / "tmp",
    )


@asynccontextmanager
async def open_house(
    folder: Path,
    agent: ScriptedDriver | None = None,
    clock: Clock | None = None,
    channels: Channels | None = None,
    drivers: Mapping[str, Driver] | None = None,
) -> AsyncIterator[House]:
    """A house in that folder; opened again in the same folder, it is the same node after a restart."""
    agent = agent or ScriptedDriver()
    clock = clock or ManualClock()
    everyone = {agent.backend: agent, **(drivers or {})}
    async with node(settings_in(folder), everyone, channels or (lambda _: []), clock) as running:
        yield House(running, agent, clock)

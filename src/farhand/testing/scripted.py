"""A scripted driver in the test's own process: it plays facts, notes what it was told, and fails on demand."""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from farhand.model.errors import AgentGone, DriverError
from farhand.model.facts import Fact, Said, TurnEnded
from farhand.model.history import HistoryPage
from farhand.model.ports import Batch, Can, Deliver, Errand, Heard, Outcome, SessionFound, Stop, Taken
from farhand.model.present import Worker
from farhand.model.words import HowEnded, Seq


class ScriptedLink:
    """The open link of one worker."""

    def __init__(self, driver: "ScriptedDriver", worker: Worker) -> None:
        self._driver = driver
        self.worker = worker
        self._send: MemoryObjectSendStream[Batch | None]
        self._receive: MemoryObjectReceiveStream[Batch | None]
        self._send, self._receive = anyio.create_memory_object_stream[Batch | None](1000)
        self._count = 0

    async def perform(self, errand: Errand) -> Outcome:
        """Notes the errand, answers as the test wants it, and plays the next script for a message."""
        self._driver.performed.append((self.worker.name, errand))
        self._driver.moved()
        if self._driver.hangs:
            await anyio.sleep_forever()
        if self._driver.holds is not None:
            await self._driver.holds.wait()
        outcome = self._driver.outcomes.popleft() if self._driver.outcomes else Taken()
        if isinstance(outcome, Taken):
            if isinstance(errand, Deliver) and not errand.joins:
                await self._play(errand)
            elif isinstance(errand, Stop) and self._driver.stops:
                await self.say(TurnEnded(how=HowEnded.INTERRUPTED), turn=errand.turn)
        return outcome

    async def _play(self, errand: Deliver) -> None:
        script = self._driver.scripts.popleft() if self._driver.scripts else self._driver.default(errand)
        for fact in script:
            await self.say(fact, turn=errand.turn)

    async def say(self, fact: Fact, turn: str | None = None) -> None:
        """Brings a fact, as if the agent had."""
        self._count += 1
        await self._send.send(Batch(heard=(Heard(fact=fact, turn=turn),), cursor=str(self._count)))

    async def die(self) -> None:
        """The agent is gone."""
        await self._send.send(None)

    async def facts(self) -> AsyncIterator[Batch]:
        """What was said, until the agent dies."""
        async for batch in self._receive:
            if batch is None:
                raise AgentGone("The scripted agent was killed.")
            yield batch

    def close(self) -> None:
        """Forgets the streams."""
        self._send.close()
        self._receive.close()


class ScriptedDriver:
    """Runs workers of the backend `scripted`; `plays` says what the next message gets for an answer."""

    wire = "headless"

    def __init__(self, can: Can | None = None, backend: str = "scripted") -> None:
        self.backend = backend
        self.can = can or Can(
            interrupt=True,
            steer=True,
            images=True,
            ids=True,
            models=True,
            modes=("default", "plan"),
            effort=("low", "high"),
            sessions=True,
            reviews=True,
        )
        self.scripts: deque[Sequence[Fact]] = deque()
        self.outcomes: deque[Outcome] = deque()
        self.performed: list[tuple[str, Errand]] = []
        self.links: dict[str, ScriptedLink] = {}
        self.ended: list[str] = []
        self.opened: list[tuple[str, str]] = []
        self.refuses_to_open = ""
        self.breaks_at_end: Exception | None = None
        # What its link raises when it is closed.
        self.breaks_at_close: Exception | None = None
        self.stops = True
        self.hangs = False
        # While it is there, an errand is done only when the test sets it.
        self.holds: anyio.Event | None = None
        self._moved = anyio.Event()
        # The conversations that its agent has on this machine.
        self.conversations: list[SessionFound] = []
        # What was said in them.
        self.pasts: dict[str, HistoryPage] = {}
        # The processes that have a conversation open at the desk.
        self.at_desk: dict[str, list[int]] = {}

    async def open_in(self, session: str) -> list[int]:
        """The processes that a test has given."""
        return self.at_desk.get(session, [])

    async def sessions(self, directory: str) -> list[SessionFound]:
        """As the test put them there."""
        return [one for one in self.conversations if directory in ("", one.directory)]

    async def messages(self, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
        """As the test put them there."""
        page = self.pasts.get(session.id, HistoryPage())
        older = [one for one in page.entries if before is None or one.seq < before]
        return HistoryPage(entries=tuple(older[-limit:]), more=len(older) > limit)

    def resume_command(self, worker: Worker) -> str:
        """As a shell would take it."""
        return f"cd {worker.directory} && {self.backend} --resume {worker.session}"

    def default(self, errand: Deliver) -> Sequence[Fact]:
        """What a message gets when no script waits: an echo."""
        return (Said(text=f"answer to {errand.message.text}"), TurnEnded(how=HowEnded.COMPLETED))

    def plays(self, *facts: Fact) -> None:
        """The next message that nobody scripted gets these facts."""
        self.scripts.append(facts)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[ScriptedLink]:
        """A link to a new agent."""
        self.opened.append((worker.name, cursor))
        if self.refuses_to_open:
            raise DriverError(self.refuses_to_open)
        link = self.links[worker.name] = ScriptedLink(self, worker)
        self.moved()
        try:
            yield link
        finally:
            link.close()
            if self.breaks_at_close is not None:
                raise self.breaks_at_close

    async def end(self, worker: Worker) -> None:
        """Notes that the worker was ended."""
        self.ended.append(worker.name)
        if self.breaks_at_end is not None:
            raise self.breaks_at_end

    def moved(self) -> None:
        """Wakes whoever waits for something to be performed."""
        moved, self._moved = self._moved, anyio.Event()
        moved.set()

    async def wait_performed(self, count: int) -> None:
        """Returns when so many errands came."""
        while len(self.performed) < count:
            await self._moved.wait()

    async def wait_opened(self, count: int) -> None:
        """Returns when so many links were opened."""
        while len(self.opened) < count:
            await self._moved.wait()

    async def wait_link(self, worker: str) -> ScriptedLink:
        """The worker's link, as soon as it is open."""
        while worker not in self.links:
            await self._moved.wait()
        return self.links[worker]

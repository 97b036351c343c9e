"""What every driver promises. A test class inherits this and gives `driver`, `words` and `directory` fixtures."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import UnionType
from typing import Any

import anyio
import pytest

from farhand.model import facts
from farhand.model.errors import AgentGone
from farhand.model.facts import Fact
from farhand.model.ports import Deliver, Driver, Heard, Link, Outcome, Settle, Stop, Taken
from farhand.model.present import Ask, Message, Worker
from farhand.model.words import HowEnded, HowSettled, Sender, Word, replace

SAFETY_SECONDS = 240.0


class Words(Word):
    """What must be said to this driver's agent to see each thing; empty where it has no such thing."""

    plain: str
    tool: str = ""
    ask: str = ""
    fail: str = ""
    slow: str = ""
    die: str = ""


class Talk:
    """One open link, and everything that was heard over it."""

    def __init__(self, link: Link, worker: Worker) -> None:
        self.link = link
        self.worker = worker
        self.heard: list[Heard] = []
        self.cursor = ""
        self.gone: AgentGone | None = None
        self.over = False
        self._news = anyio.Event()

    async def listen(self) -> None:
        """Notes what is heard until the agent is gone."""
        try:
            async for batch in self.link.facts():
                self.heard.extend(batch.heard)
                self.cursor = batch.cursor or self.cursor
                self._ring()
        except AgentGone as gone:
            self.gone = gone
        self.over = True
        self._ring()

    def _ring(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()

    async def say(self, turn: str, text: str) -> Outcome:
        """Delivers a message that starts a turn."""
        message = Message(id=turn, text=text, at=0.0, by=Sender(via="contract"))
        return await self.link.perform(Deliver(turn=turn, message=message))

    async def hear(
        self, kind: type[Any] | UnionType, matching: Callable[[Any], bool] = lambda _: True, after: int = 0
    ) -> Any:
        """The first such fact after so many others; waits for it."""
        with anyio.fail_after(SAFETY_SECONDS):
            while True:
                for one in self.heard[after:]:
                    if isinstance(one.fact, kind) and matching(one.fact):
                        return one.fact
                if self.over:
                    raise AssertionError(f"the agent is gone and never brought {kind}: {self.heard}")
                await self._news.wait()

    async def end(self) -> None:
        """Returns when the agent is gone."""
        with anyio.fail_after(SAFETY_SECONDS):
            while not self.over:
                await self._news.wait()

    async def ended(self, turn: str, after: int = 0) -> facts.TurnEnded:
        """How that turn ended, as heard after so many other facts."""
        with anyio.fail_after(SAFETY_SECONDS):
            while True:
                for one in self.heard[after:]:
                    if isinstance(one.fact, facts.TurnEnded) and one.turn in (turn, None):
                        return one.fact
                await self._news.wait()

    def text(self, turn: str) -> str:
        """What was said in that turn."""
        return "".join(one.fact.text for one in self.heard if isinstance(one.fact, facts.Said) and one.turn == turn)

    def count(self, kind: type[Fact]) -> int:
        """How many such facts were heard."""
        return sum(isinstance(one.fact, kind) for one in self.heard)


@asynccontextmanager
async def talking(driver: Driver, worker: Worker, cursor: str = "") -> AsyncIterator[Talk]:
    """An open link with somebody who listens."""
    async with driver.open(worker, cursor) as link, anyio.create_task_group() as tasks:
        talk = Talk(link, worker)
        tasks.start_soon(talk.listen)
        yield talk
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
class DriverContract:
    """Inherit, and give the fixtures."""

    @pytest.fixture
    async def worker(self, driver: Driver, directory: Path) -> AsyncIterator[Worker]:
        """A worker of that driver; its agent is ended after the test."""
        hired = Worker(name="ann", since=1, backend=driver.backend, directory=str(directory))
        yield hired
        await driver.end(hired)

    def wants(self, word: str) -> None:
        """Skips what the driver's agent does not have."""
        if not word:
            pytest.skip("this driver has no such thing")

    async def test_one_agent_keeps_every_promise_of_its_link(
        self, driver: Driver, worker: Worker, words: Words
    ) -> None:
        """On one start of the agent, which is what costs: found again, unheard, turns of every kind, ended twice."""
        cursor = await self.found_again(driver, worker, words.plain)
        async with talking(driver, worker, cursor) as talk:
            await self.one_turn(talk, words.ask, self.ask)
            if words.slow and driver.can.interrupt:
                await self.one_turn(talk, words.slow, self.stopped)
            # The turn that runs after a stopped one.
            await self.one_turn(talk, words.tool or words.plain, self.tool if words.tool else self.plain)
            # A limit, which is how some of them fail, may leave them in no mood for more: it comes last.
            await self.one_turn(talk, words.fail, self.failure)
        await self.ended_twice(driver, worker, words.plain)

    async def one_turn(self, talk: Talk, word: str, shown: Callable[[Talk, str], Awaitable[None]]) -> None:
        """One turn in which this is shown, if the driver's agent has such a thing."""
        if word:
            before = talk.count(facts.TurnEnded)
            await shown(talk, word)
            assert talk.count(facts.TurnEnded) == before + 1

    async def plain(self, talk: Talk, word: str) -> None:
        """A message is taken and answered."""
        await self.answer(talk, "plain", word)

    async def answer(self, talk: Talk, turn: str, word: str) -> None:
        """A message is taken and answered in its turn."""
        assert isinstance(await talk.say(turn, word), Taken)
        ended = await talk.ended(turn)
        assert ended.how is HowEnded.COMPLETED, ended
        assert talk.text(turn).strip()

    async def tool(self, talk: Talk, word: str) -> None:
        """A tool is told with a title."""
        before = len(talk.heard)
        await talk.say("tool", word)
        started = await talk.hear(facts.ToolStarted, after=before)
        assert started.title
        assert (await talk.hear(facts.ToolEnded, after=before)).call == started.call
        assert (await talk.ended("tool", after=before)).how is HowEnded.COMPLETED

    async def ask(self, talk: Talk, word: str) -> None:
        """An ask waits for its answer."""
        before = talk.count(facts.TurnEnded)
        await talk.say("ask", word)
        raised = await talk.hear(facts.AskRaised)
        assert raised.question
        assert len(raised.choices) > 1
        assert talk.count(facts.TurnEnded) == before
        assert isinstance(await talk.link.perform(Settle(ask=answered(raised, talk.worker, "ask"))), Taken)
        await talk.ended("ask")

    async def failure(self, talk: Talk, word: str) -> None:
        """A failure is told."""
        await talk.say("fail", word)
        ended = await talk.ended("fail")
        assert ended.how is HowEnded.FAILED
        assert ended.error

    async def stopped(self, talk: Talk, word: str) -> None:
        """A turn can be stopped."""
        before = len(talk.heard)
        await talk.say("slow", word)
        await talk.hear(facts.Seen | facts.Said, after=before)
        assert isinstance(await talk.link.perform(Stop(turn="slow")), Taken)
        assert (await talk.ended("slow", after=before)).how is HowEnded.INTERRUPTED

    async def test_an_agent_that_dies_is_noticed_and_can_be_opened_again(
        self, driver: Driver, worker: Worker, words: Words
    ) -> None:
        self.wants(words.die)
        async with talking(driver, worker) as talk:
            await talk.say("t1", words.die)
            await talk.end()
            cursor = talk.cursor
        async with talking(driver, worker, cursor) as talk:
            await talk.say("t2", words.plain)
            assert (await talk.ended("t2")).how is HowEnded.COMPLETED

    async def found_again(self, driver: Driver, worker: Worker, word: str) -> str:
        """An agent is found again, a turn goes on while nobody listens, a message that is delivered twice arrives once,
        and nothing comes twice."""
        async with talking(driver, worker) as talk:
            await self.answer(talk, "t1", word)
            cursor, first = talk.cursor, talk.text("t1")
        async with talking(driver, worker, cursor) as talk:
            for _ in range(2 if driver.can.ids else 1):
                assert isinstance(await talk.say("t2", word), Taken)
            # The turn may be over by now, and then its end came before the cursor.
            cursor, before = talk.cursor or cursor, talk.heard.copy()
        async with talking(driver, worker, cursor) as talk:
            talk.heard[:0] = before
            assert (await talk.ended("t2")).how is HowEnded.COMPLETED
            assert talk.text("t1") == ""
            assert talk.text("t2").strip()
            assert talk.count(facts.TurnEnded) == 1
            cursor = talk.cursor or cursor
        async with talking(driver, worker) as talk:
            await talk.ended("t2")
            assert talk.text("t1") == first
        return cursor

    async def ended_twice(self, driver: Driver, worker: Worker, word: str) -> None:
        """Ending twice is ending once, and who is hired then is somebody else."""
        await driver.end(worker)
        await driver.end(worker)
        again = replace(worker, since=worker.since + 1)
        try:
            async with talking(driver, again) as talk:
                await talk.say("t3", word)
                await talk.ended("t3")
                assert not any(talk.text(turn) for turn in ("t1", "t2"))
                cursor = talk.cursor
            await self.hired_again(driver, again, cursor)
        finally:
            await driver.end(again)

    async def hired_again(self, driver: Driver, worker: Worker, cursor: str) -> None:
        """What a driver's own contract asks of this second worker, which has answered once."""


def answered(raised: facts.AskRaised, worker: Worker, turn: str) -> Ask:
    """The ask, settled with its first choice."""
    settled = facts.AskSettled(ask=raised.ask, how=HowSettled.ANSWERED, choice=raised.choices[0].id)
    return Ask(
        id=raised.ask,
        worker=worker.name,
        turn=turn,
        seq=1,
        question=raised.question,
        choices=raised.choices,
        digest=raised.digest,
        settled=settled,
    )

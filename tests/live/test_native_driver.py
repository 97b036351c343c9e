"""Native workers in real holders: a turn, a question, a change, a dead node and a dead agent."""

import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from tests.live.driver_in_a_node import deliver

from farhand.drivers.native.driver import NativeDriver, model_variables
from farhand.drivers.wires.lines.translate import translate
from farhand.model import facts
from farhand.model.facts import Fact
from farhand.model.ports import Change, Deliver, Heard, Link, NotTaken, Settle, Stop, Taken
from farhand.model.present import Ask, Worker
from farhand.model.words import AskId, HowEnded, HowSettled, replace
from farhand.sandbox.environment import child_environment
from farhand.sandbox.folder import Folder
from farhand.sandbox.holders import LocalHolders
from farhand.testing.house import open_house
from farhand.testing.models.gemini import FakeGemini, calls, held, says

pytestmark = pytest.mark.anyio


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as server:
        yield server


@pytest.fixture
def one(tmp_path: Path) -> Worker:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "a.txt").write_text("hello")
    return Worker(name="ann", since=7, backend="native", directory=str(project), model="gemini-2.5-flash")


@pytest.fixture
def driver(tmp_path: Path, fake: FakeGemini) -> NativeDriver:
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TELEGRAM_BOT_TOKEN": "secret", **fake.environ()}
    environment = child_environment(own, model_variables(own))
    return NativeDriver(LocalHolders(tmp_path / "holders"), python=sys.executable, environment=environment)


@asynccontextmanager
async def running(driver: NativeDriver, worker: Worker, cursor: str = "") -> AsyncIterator[Link]:
    """An open link; the agent is gone when the test is."""
    try:
        async with driver.open(worker, cursor) as link:
            yield link
    finally:
        await driver.end(worker)


async def until(link: Link, *kinds: type[Fact]) -> tuple[list[Heard], str]:
    """Everything heard until a fact of one of these kinds came, and the cursor there."""
    heard: list[Heard] = []
    cursor = ""
    async with aclosing(link.facts()) as batches:  # type: ignore[type-var]
        async for batch in batches:
            heard, cursor = heard + list(batch.heard), batch.cursor
            if any(isinstance(each.fact, kinds) for each in batch.heard):
                break
    return heard, cursor


def said(heard: list[Heard]) -> str:
    return "".join(each.fact.text for each in heard if isinstance(each.fact, facts.Said))


def answer(ask: AskId, choice: str) -> Settle:
    settled = facts.AskSettled(ask=ask, how=HowSettled.ANSWERED, choice=choice)
    return Settle(ask=Ask(id=ask, worker="ann", turn="p", seq=1, question="?", choices=(), settled=settled))


async def test_a_turn_becomes_facts(driver: NativeDriver, one: Worker, fake: FakeGemini) -> None:
    fake.expect(calls("read_file", {"file_path": "a.txt"}, call_id="c"), says("It says hello."))
    async with running(driver, one) as link:
        assert await link.perform(deliver("p", "what is in a.txt?")) == Taken()
        heard, _ = await until(link, facts.TurnEnded)
    kinds = [type(each.fact).__name__ for each in heard]
    assert kinds[:2] == ["SessionKnown", "Seen"]
    assert facts.ToolStarted(call="c", tool="read_file", title="read_file: a.txt") in [each.fact for each in heard]
    assert said(heard) == "It says hello."
    assert heard[-1] == Heard(fact=facts.TurnEnded(how=HowEnded.COMPLETED), turn="p")


@pytest.mark.parametrize(("choice", "written"), [("allow", True), ("deny", False)])
async def test_a_change_of_a_file_is_asked_for(
    driver: NativeDriver, one: Worker, fake: FakeGemini, choice: str, written: bool
) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("So be it."))
    async with running(driver, one) as link:
        await link.perform(deliver("p", "make a file"))
        raised = (await until(link, facts.AskRaised))[0][-1].fact
        assert isinstance(raised, facts.AskRaised)
        assert '"file_path": "new.txt"' in raised.detail
        assert await link.perform(answer(raised.ask, choice)) == Taken()
        await until(link, facts.TurnEnded)
    assert (Path(one.directory) / "new.txt").exists() is written


async def test_a_turn_is_stopped_and_model_and_mode_change(driver: NativeDriver, one: Worker, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(
        held(gate, "Well, ", "never", before=1),
        calls("write_file", {"file_path": "new.txt", "content": "x"}),
        says("ok"),
    )
    async with running(driver, one) as link:
        await link.perform(deliver("p", "talk"))
        await until(link, facts.Said)
        joining = Deliver(turn="p", message=deliver("q", "and").message, joins=True)
        assert isinstance(await link.perform(joining), NotTaken)
        assert await link.perform(Stop(turn="p")) == Taken()
        heard, cursor = await until(link, facts.TurnEnded)
        assert heard[-1].fact == facts.TurnEnded(how=HowEnded.INTERRUPTED)
        gate.set()
        assert await link.perform(Change(model="gemini-2.5-pro", mode="auto_edit")) == Taken()
        await link.perform(deliver("q", "make a file"))
        async with driver.open(one, cursor) as later:
            await until(later, facts.TurnEnded)
    assert [request.model for request in fake.requests] == ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-pro"]
    assert (Path(one.directory) / "new.txt").exists()


async def test_a_turn_goes_on_without_the_node(driver: NativeDriver, one: Worker, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two.", before=1))
    try:
        async with driver.open(one, "") as link:
            await link.perform(deliver("p", "count"))
            before, cursor = await until(link, facts.Said)
        gate.set()
        async with driver.open(one, cursor) as later:
            assert await later.perform(deliver("p", "count")) == Taken()
            after, _ = await until(later, facts.TurnEnded)
    finally:
        await driver.end(one)
    assert (said(before), said(after)) == ("One, ", "two.")
    assert len(fake.requests) == 1


async def test_the_next_life_remembers(driver: NativeDriver, one: Worker, fake: FakeGemini, tmp_path: Path) -> None:
    fake.expect(says("Hello."), says("You said hi."))
    async with running(driver, one) as link:
        await link.perform(deliver("p", "hi"))
        heard, cursor = await until(link, facts.TurnEnded)
        known = heard[0].fact
        assert isinstance(known, facts.SessionKnown)
        folder = Folder(tmp_path / "holders" / "ann-7.1")
        life = folder.life()
        folder.close()
        assert life is not None
        os.kill(life.child, 9)
        async with driver.open(one, cursor) as dying:
            last = [batch async for batch in dying.facts()][-1]
        assert "was killed by signal 9" in repr(last.heard)
        async with driver.open(replace(one, session=known.session), last.cursor) as later:
            await later.perform(deliver("q", "what did I say?"))
            again, _ = await until(later, facts.TurnEnded)
    assert said(again) == "You said hi."
    assert again[0].fact == known
    assert [content["role"] for content in fake.last["contents"]] == ["user", "user", "model", "user"]


async def test_a_hired_worker_asks_and_survives_the_node(
    driver: NativeDriver, fake: FakeGemini, tmp_path: Path
) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("Written."))
    try:
        async with open_house(tmp_path, drivers={"native": driver}) as house:
            await house.hire("nat", "native")
            await house.say("make a file", worker="nat")
            ask = await house.fact(facts.AskRaised)
            assert ask.question == "Write new.txt"
            assert (ask.where, ask.risks) == (house.worker("nat").directory, ("writes in the folder",))
        assert not (tmp_path / "new.txt").exists()
        async with open_house(tmp_path, drivers={"native": driver}) as house:
            assert house.worker("nat").session
            await house.answer(ask.ask, "allow")
            assert (await house.fact(facts.TurnEnded)).how is HowEnded.COMPLETED
            heard = [event.fact.text for event in await house.history() if isinstance(event.fact, facts.Said)]
            assert heard == ["Written."]
            await house.end("nat")
            await house.fact(facts.Ended)
    finally:
        holders = LocalHolders(tmp_path / "holders")
        for name in await holders.names():
            await holders.forget(name)
    assert (tmp_path / "new.txt").read_text() == "x"


def test_a_session_line_that_makes_no_sense_costs_that_line() -> None:
    assert translate(b'{"session": "s"}') == (Heard(fact=facts.SessionKnown(session="s")),)
    assert isinstance(translate(b'{"session"')[0].fact, facts.Noted)
    assert isinstance(translate(b'{"session": 7}')[0].fact, facts.Noted)
    assert translate(b'{"session": ""}') == ()


def test_only_what_leads_to_a_model_reaches_the_agent() -> None:
    own = {"GEMINI_API_KEY": "k", "TELEGRAM_BOT_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "secret"}
    assert model_variables(own) == {"GEMINI_API_KEY": "k"}

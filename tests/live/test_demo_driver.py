"""Demo workers and scripted ones, each in a real holder: every show, every answer, and no kill that harms them."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from tests.live import driver_in_a_node
from tests.live.driver_in_a_node import deliver, scripted, worker
from tests.live.held_children import wait_gone

from farhand.drivers.demo.driver import DemoDriver
from farhand.model import facts
from farhand.model.errors import AgentGone, DriverError
from farhand.model.facts import Fact
from farhand.model.ports import Change, Heard, Link, NotTaken, Settle, Stop, Taken
from farhand.model.present import Ask, Worker
from farhand.model.words import AskId, AskKind, HowEnded, HowSettled
from farhand.sandbox.folder import Folder
from farhand.sandbox.holders import LocalHolders

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def running(driver: DemoDriver, one: Worker, cursor: str = "") -> AsyncIterator[Link]:
    """An open link; the agent is gone when the test is."""
    try:
        async with driver.open(one, cursor) as link:
            yield link
    finally:
        await driver.end(one)


def demo(root: Path, pace: float = 0) -> DemoDriver:
    """The driver with the demo agent, in a hurry."""
    environment = {"PATH": os.environ["PATH"]}
    holders = LocalHolders(root / "holders")
    return DemoDriver(holders, python=sys.executable, environment=environment, arguments=[str(pace)])


async def until(link: Link, *kinds: type[Fact]) -> list[Heard]:
    """Everything heard until a fact of one of these kinds came."""
    heard: list[Heard] = []
    async with aclosing(link.facts()) as batches:  # type: ignore[type-var]
        async for batch in batches:
            heard += batch.heard
            if any(isinstance(one.fact, kinds) for one in batch.heard):
                break
    return heard


async def turn(link: Link, text: str, name: str = "p") -> list[Fact]:
    """The facts of one whole turn."""
    assert await link.perform(deliver(name, text)) == Taken()
    return [one.fact for one in await until(link, facts.TurnEnded) if one.turn == name]


def text_of(found: Sequence[Fact]) -> str:
    """What was said."""
    return "".join(fact.text for fact in found if isinstance(fact, facts.Said))


def answer(ask: AskId, choice: str, note: str = "") -> Settle:
    """The errand that brings an answer."""
    settled = facts.AskSettled(ask=ask, how=HowSettled.ANSWERED, choice=choice, note=note)
    return Settle(ask=Ask(id=ask, worker="ann", turn="p", seq=1, question="?", choices=(), settled=settled))


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("help", facts.Said, "Hello! I am the demo."),
        ("stream", facts.Said, "lighthouse keeper"),
        ("think", facts.Thought, "I have thought about it"),
        ("tool", facts.ToolStarted, "in my folder"),
        ("image", facts.Showed, "the sea is the hard part"),
        ("long", facts.Said, "1. This paragraph"),
        ("diff", facts.ToolStarted, "I have changed lighthouse.py"),
        ("fix the door", facts.Said, "You said: “fix the door”"),
    ],
)
async def test_the_demo_shows_what_it_is_asked_for(tmp_path: Path, text: str, kind: type[Fact], words: str) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        found = await turn(link, text)
    assert isinstance(found[0], facts.Seen)
    assert any(isinstance(fact, kind) for fact in found)
    assert words in text_of(found)
    assert isinstance(found[-2], facts.Used)
    assert found[-1] == facts.TurnEnded(how=HowEnded.COMPLETED)


async def test_the_tool_looks_for_real(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        found = await turn(link, "tool")
    (ended,) = [fact for fact in found if isinstance(fact, facts.ToolEnded)]
    assert ended.output.splitlines() == ["a file", "holders/"]


async def test_the_picture_is_there(tmp_path: Path) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        found = await turn(link, "image")
    (showed,) = [fact for fact in found if isinstance(fact, facts.Showed)]
    assert showed.file.path == str(tmp_path / "sunrise.png")
    assert (tmp_path / "sunrise.png").stat().st_size > 500


async def test_a_failure_is_the_turns_and_the_next_one_works(tmp_path: Path) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        found = await turn(link, "fail")
        ended = found[-1]
        assert isinstance(ended, facts.TurnEnded)
        assert (ended.how, ended.error[:21]) == (HowEnded.FAILED, "The demo agent failed")


@pytest.mark.parametrize(("choice", "written"), [("yes", True), ("no", False), ("", False)])
async def test_the_demo_does_what_it_asked_for_only_when_allowed(tmp_path: Path, choice: str, written: bool) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        await link.perform(deliver("p", "ask"))
        raised = (await until(link, facts.AskRaised))[-1].fact
        assert isinstance(raised, facts.AskRaised)
        assert [one.allows for one in raised.choices] == [True, False]
        assert await link.perform(answer(raised.ask, choice, "be brief")) == Taken()
        found = [one.fact for one in await until(link, facts.TurnEnded)]
    assert (tmp_path / "a-note-from-the-demo.txt").exists() is written
    assert "be brief" in text_of(found)


async def test_a_choice_is_heeded(tmp_path: Path) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        await link.perform(deliver("p", "choose"))
        raised = (await until(link, facts.AskRaised))[-1].fact
        assert isinstance(raised, facts.AskRaised)
        await link.perform(answer(raised.ask, "tea"))
        assert "Four minutes" in text_of([one.fact for one in await until(link, facts.TurnEnded)])


@pytest.mark.parametrize(("choice", "changed"), [("go", True), ("no", False), ("", False)])
async def test_a_plan_is_kept_to_only_when_it_is_liked(tmp_path: Path, choice: str, changed: bool) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        await link.perform(deliver("p", "plan"))
        raised = (await until(link, facts.AskRaised))[-1].fact
        assert isinstance(raised, facts.AskRaised)
        assert raised.about is AskKind.PLAN
        await link.perform(answer(raised.ask, choice, "shorter"))
        found = [one.fact for one in await until(link, facts.TurnEnded)]
    assert (tmp_path / "lighthouse.py").exists() is changed
    assert changed or "shorter" in text_of(found)


async def test_a_questionnaire_is_answered_in_any_order(tmp_path: Path) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        await link.perform(deliver("p", "questions"))
        # What was heard is heard again from the same place: the first may have come alone.
        found_asks: dict[str, facts.AskRaised] = {}
        while len(found_asks) < 2:
            heard = [one.fact for one in await until(link, facts.AskRaised)]
            found_asks |= {fact.ask: fact for fact in heard if isinstance(fact, facts.AskRaised)}
        asks = list(found_asks.values())
        assert [ask.several for ask in asks] == [True, False]
        await link.perform(answer(asks[1].ask, "dusk"))
        await link.perform(answer(asks[0].ask, "petrel,tern"))
        found = [one.fact for one in await until(link, facts.TurnEnded)]
    assert text_of(found) == "I greet Petrel and Tern, at dusk."


async def test_a_slow_turn_can_be_stopped(tmp_path: Path) -> None:
    async with running(demo(tmp_path, pace=1), worker(tmp_path)) as link:
        await link.perform(deliver("p", "slow"))
        await until(link, facts.Said)
        assert await link.perform(Stop(turn="p")) == Taken()
        found = [one.fact for one in await until(link, facts.TurnEnded)]
        assert found[-1] == facts.TurnEnded(how=HowEnded.INTERRUPTED)


async def test_what_it_cannot_do_it_says(tmp_path: Path) -> None:
    async with running(demo(tmp_path), worker(tmp_path)) as link:
        assert isinstance(await link.perform(Change(model="large")), NotTaken)


async def test_a_prompt_repeated_arrives_once(tmp_path: Path) -> None:
    async with running(scripted(tmp_path), worker(tmp_path)) as link:
        for _ in range(3):
            found = await turn(link, "hello", "p")
            assert text_of(found) == "answer to p"
        assert (tmp_path / "ledger").read_text() == "p\n"


async def test_a_reopened_link_goes_on_after_its_cursor(tmp_path: Path) -> None:
    driver, one = scripted(tmp_path), worker(tmp_path)
    async with running(driver, one) as link:
        await link.perform(deliver("p", "think ask"))
        cursor, before = "", list[Heard]()
        async with aclosing(link.facts()) as batches:  # type: ignore[type-var]
            async for batch in batches:
                before, cursor = before + list(batch.heard), batch.cursor
                if any(isinstance(heard.fact, facts.AskRaised) for heard in batch.heard):
                    break
        async with driver.open(one, cursor) as later:
            await later.perform(answer("p/2", "yes"))
            after = await until(later, facts.TurnEnded)
        assert text_of([heard.fact for heard in after]) == "chosen: yes\nanswer to p"
        whole = await until(link, facts.TurnEnded)
    assert before + after == whole


async def test_a_turn_goes_on_when_the_node_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, driver_in_a_node.__file__, str(tmp_path), "think long ask"]
    driver, one, cursor, before = scripted(tmp_path), worker(tmp_path), "", ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as node:  # noqa: ASYNC220
        assert node.stdout is not None
        for line in node.stdout:
            if line.startswith("1:"):
                cursor, _, heard = line.partition(" ")
                before += heard
            if "AskRaised" in line:
                node.kill()
    assert before.count("Said") == 1
    async with running(driver, one, cursor) as link:
        assert await link.perform(deliver("p", "think long ask")) == Taken()
        assert await link.perform(answer("p/3", "no")) == Taken()
        found = [one.fact for one in await until(link, facts.TurnEnded)]
        assert text_of(found) == "chosen: no\nanswer to p"
    assert (tmp_path / "ledger").read_text() == "p\n"


async def test_an_agent_that_dies_is_told_of_and_lives_again(tmp_path: Path) -> None:
    driver, one = scripted(tmp_path), worker(tmp_path)
    async with running(driver, one) as link:
        await link.perform(deliver("p", "die"))
        batches = [batch async for batch in link.facts()]
        why = "The agent ended with code 3."
        assert batches[-1].heard == (
            Heard(fact=facts.TurnEnded(how=HowEnded.FAILED, error=why)),
            Heard(fact=facts.Noted(text=why)),
        )
        assert isinstance(await link.perform(deliver("q", "hello")), NotTaken)
        async with driver.open(one, batches[-1].cursor) as later:
            assert text_of(await turn(later, "hello", "r")) == "answer to r"
            assert await LocalHolders(tmp_path / "holders").names() == ["ann-7.2"]
    assert (tmp_path / "ledger").read_text() == "p\nr\n"


async def test_an_agent_killed_with_its_holder_is_told_of(tmp_path: Path) -> None:
    driver, one = scripted(tmp_path), worker(tmp_path)
    async with running(driver, one) as link:
        await turn(link, "hello")
        folder = Folder(tmp_path / "holders" / "ann-7.1")
        life = folder.life()
        folder.close()
        assert life is not None
        os.kill(life.holder, signal.SIGKILL)
        wait_gone(life.child)
        batches = [batch async for batch in link.facts()]
        assert "holder of this agent was killed" in repr(batches[-1].heard)
        assert batches[-1].cursor == "2:0"


async def test_an_end_is_an_end_and_twice_is_once(tmp_path: Path) -> None:
    driver, one = scripted(tmp_path), worker(tmp_path)
    other = worker(tmp_path, name="ann-7")
    async with running(driver, one) as link, running(driver, other) as stays:
        await turn(link, "hello", "p")
        await driver.end(one)
        await driver.end(one)
        assert await LocalHolders(tmp_path / "holders").names() == ["ann-7-7.1"]
        assert text_of(await turn(stays, "hello", "q")) == "answer to q"
        with pytest.raises(AgentGone, match="files are gone"):
            async with driver.open(one, "1:10"):
                pass


async def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    one = Worker(name="ann", since=1, backend="demo", directory=str(tmp_path / "nowhere"))
    with pytest.raises(DriverError, match="cannot work in"):
        async with demo(tmp_path).open(one, ""):
            pass

"""A person sits down at the real OpenCode in tmux: what is answered and said there is told on the phone, too."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import pytest

from farhand.app import open_drivers
from farhand.drivers.opencode.tmux.driver import TmuxOpenCodeDriver
from farhand.drivers.wires.tmux import Pane
from farhand.model import facts
from farhand.model.ports import Driver, Settle
from farhand.model.present import Worker
from farhand.model.words import HowEnded, HowSettled, replace
from farhand.testing.claude_env import until
from farhand.testing.contracts.driver import Talk, answered, talking
from farhand.testing.house import settings_in
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import OpenCodeEnv

pytestmark = pytest.mark.anyio


@pytest.fixture
def drivers(cli_env: OpenCodeEnv) -> dict[str, Driver]:
    """Every wire, over the environment's one tmux."""
    return cli_env.drivers()


@pytest.fixture
async def driver(cli_env: OpenCodeEnv, drivers: dict[str, Driver]) -> AsyncIterator[TmuxOpenCodeDriver]:
    """The driver in tmux."""
    chosen = drivers["opencode/tmux"]
    assert isinstance(chosen, TmuxOpenCodeDriver)
    async with anyio.create_task_group() as tasks:
        await open_drivers(tasks, [chosen], settings_in(cli_env.folder).hooks)
        yield chosen
        tasks.cancel_scope.cancel()


@pytest.fixture
async def worker(cli_env: OpenCodeEnv, driver: TmuxOpenCodeDriver) -> AsyncIterator[Worker]:
    """A worker in a terminal; it is ended after the test, and nothing of it is left."""
    hired = Worker(name="ann", since=1, backend="opencode", directory=str(cli_env.project))
    yield hired
    await driver.end(hired)
    assert await driver.tmux_host.found(hired) is None
    assert await anyio.to_thread.run_sync(cli_env.agents) == []


async def start_pane(driver: TmuxOpenCodeDriver, worker: Worker) -> Pane:
    """The worker's pane."""
    pane = await driver.tmux_host.found(worker)
    assert pane is not None
    return pane


async def types(cli_env: OpenCodeEnv, pane: Pane, words: str) -> None:
    """Types a line at the desk; it is seen in the box before it is sent."""
    await cli_env.tmux.type(pane, words)
    await until(cli_env, pane, words)
    await cli_env.tmux.press(pane, "Enter")


async def begins(cli_env: OpenCodeEnv, pane: Pane, words: str) -> None:
    """Begins a session at the desk with these words."""
    await types(cli_env, pane, "/new")
    await until(cli_env, pane, "Ask anything")
    await types(cli_env, pane, words)


async def takes_up(cli_env: OpenCodeEnv, pane: Pane, title: str, current: str) -> None:
    """Chooses the session of that title from the list."""
    await types(cli_env, pane, "/sessions")
    await until(cli_env, pane, "Search")
    await cli_env.tmux.type(pane, title)
    await until(cli_env, pane, f"● {current}", shown=False)
    await cli_env.tmux.press(pane, "Enter")


async def what_is_answered_and_said_at_the_desk_is_told(
    cli_env: OpenCodeEnv, driver: TmuxOpenCodeDriver, talk: Talk
) -> None:
    """Answered there, the ask is settled here; a turn that began there is told here."""
    touch = use("bash", command="touch desk.txt", description="Make a file")
    cli_env.model.script.conversation("zz-desk", touch, say("made it"))
    cli_env.model.script.conversation("zz-typed", say("heard you at the desk"))
    await talk.say("t0", "zz-desk")
    raised = await talk.hear(facts.AskRaised)
    pane = await start_pane(driver, talk.worker)
    await until(cli_env, pane, "Permission required")
    assert not (cli_env.project / "desk.txt").exists()
    await cli_env.tmux.press(pane, "Enter")
    settled = await talk.hear(facts.AskSettled)
    assert (settled.ask, settled.how) == (raised.ask, HowSettled.DESK)
    assert (await talk.ended("t0")).how is HowEnded.COMPLETED
    assert (cli_env.project / "desk.txt").exists()
    await until(cli_env, pane, "made it")
    before = len(talk.heard)
    await types(cli_env, pane, "zz-typed")
    await talk.hear(facts.TurnStarted, after=before)
    await talk.hear(facts.Said, lambda said: "at the desk" in said.text, after=before)
    await talk.hear(facts.TurnEnded, after=before)


async def test_what_is_said_at_the_desk_is_told_and_a_session_begun_there_is_followed_when_the_turn_is_over(
    cli_env: OpenCodeEnv, drivers: dict[str, Driver], driver: TmuxOpenCodeDriver, worker: Worker
) -> None:
    """One after the other on one start of OpenCode's screen, which is what costs."""
    script, lines = cli_env.model.script, {"old": "the old word", "new": "the new word", "bob": "hello from bob"}
    lines |= {"last": "the last word", "again": "another word", "back": "here as before"}
    for name, line in lines.items():
        script.conversation(f"zz-{name}", say(line))
    script.conversation("zz-slow", ScriptedReply((ScriptedText("half "), Hold("slow"), ScriptedText("and half"))))
    script.conversation("zz-ask", use("bash", command="touch new.txt", description="Make a file"), say("made it new"))
    bob = replace(worker, name="bob")
    others = drivers["opencode"]
    async with talking(driver, worker) as talk:
        old = (await talk.hear(facts.SessionKnown)).session
        await what_is_answered_and_said_at_the_desk_is_told(cli_env, driver, talk)
        at_last = len(talk.heard)
        await talk.say("t1", "zz-old")
        await talk.ended("t1")
        # A neighbour in the same folder is nobody at this desk.
        async with talking(others, bob) as neighbour:
            await neighbour.say("b1", "zz-bob")
            await neighbour.ended("b1")
        await others.end(bob)
        await talk.say("t2", "zz-slow")
        await talk.hear(facts.Said, lambda said: "half" in said.text)
        pane = await start_pane(driver, worker)
        await begins(cli_env, pane, "zz-new")
        await until(cli_env, pane, "the new word")
        assert talk.count(facts.SessionKnown) == 1
        script.release("slow")
        assert (await talk.ended("t2")).how is HowEnded.COMPLETED
        assert talk.text("t2") == "half and half"
        new = (await talk.hear(facts.SessionKnown, lambda known: known.session != old)).session
        told = await talk.hear(facts.Said, lambda said: said.text == "the new word")
        assert str(next(one.turn for one in talk.heard if one.fact is told)).startswith("desk-")
        await talk.say("t3", "zz-ask")
        raised = await talk.hear(facts.AskRaised, after=at_last)
        await talk.link.perform(Settle(ask=answered(raised, worker, "t3")))
        await talk.ended("t3")
        await until(cli_env, pane, "made it new")
        cursor = talk.cursor
    assert (cli_env.project / "new.txt").exists()
    asked = str((await cli_env.model.asked("zz-ask")).body)
    assert "the new word" in asked
    assert "the old word" not in asked
    async with talking(driver, replace(worker, session=new), cursor) as talk:
        await talk.say("t4", "zz-last")
        await talk.ended("t4")
        assert (talk.count(facts.SessionKnown), talk.text("t4")) == (0, "the last word")
        assert "the new word" in str((await cli_env.model.asked("zz-last")).body)
        # Nothing runs: it is followed at once.
        await begins(cli_env, pane, "zz-again")
        assert (await talk.hear(facts.SessionKnown)).session not in (old, new)
        await talk.hear(facts.Said, lambda said: said.text == "another word")
        await until(cli_env, pane, "another word")
        # One of the list, too; its past was told before.
        await takes_up(cli_env, pane, "ann", current="An aside")
        await until(cli_env, pane, "the old word")
        await types(cli_env, pane, "zz-back")
        await talk.hear(facts.SessionKnown, lambda known: known.session == old)
        await talk.hear(facts.Said, lambda said: said.text == "here as before")
        assert not any("old word" in one.fact.text for one in talk.heard if isinstance(one.fact, facts.Said))
    assert "the old word" in str((await cli_env.model.asked("zz-back")).body)

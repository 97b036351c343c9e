"""An agent that somebody started by hand is a worker: a node on the two files, and hooks run as a CLI runs them."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.contract.bridge_hooks import HookedProject, read

from farhand.bridge.hook.files import BridgeState
from farhand.bridge.hook.rules import SENT, encode, new_message
from farhand.cli.bridge import worker_name
from farhand.drivers.bridge.driver import BridgeDriver
from farhand.drivers.bridge.link import AT_WORK, PACE_SECONDS, WAITS
from farhand.drivers.bridge.pane import PaneWaker, Waking, sits_there
from farhand.model.bridge import BACKEND, BridgeLook
from farhand.model.commands import Hire, Sprint
from farhand.model.facts import (
    Event,
    HandedOver,
    Noted,
    Said,
    Seen,
    SprintEnded,
    TurnEnded,
    TurnStarted,
    WentOffline,
)
from farhand.model.grammar import CHAT
from farhand.model.grammar import read as read_wish
from farhand.model.present import Present
from farhand.model.sprint import HowSprintEnded
from farhand.model.words import HowEnded
from farhand.roster import open_bridge
from farhand.testing.house import House, open_house

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> HookedProject:
    """A project with the hooks of a CLI, which the test runs in its place."""
    return HookedProject(tmp_path, "gemini")


@asynccontextmanager
async def bridged(tmp_path: Path, *, hired: bool = False) -> AsyncIterator[House]:
    async with open_house(tmp_path / "node", drivers={BACKEND: BridgeDriver(open_bridge)}) as house:
        if not hired:
            await house.hire("ann", BACKEND, directory=tmp_path)
        yield house


async def run(work: object, *given: object) -> object:
    return await anyio.to_thread.run_sync(work, *given)  # type: ignore[arg-type]


async def until_unread(project: HookedProject, text: str) -> None:
    """Returns when the message waits in the inbox."""
    while not any(one["text"] == text and not one["read"] for one in read(project.inbox)):  # noqa: ASYNC110
        await anyio.sleep(0.01)


async def test_a_message_goes_to_the_inbox_is_seen_when_read_and_answered_by_the_outbox(
    tmp_path: Path, project: HookedProject
) -> None:
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await house.fact(HandedOver)
        assert [one["text"] for one in read(project.inbox)] == ["run the tests"]
        assert await run(project.context) == "WhatsApp messages:\nrun the tests"
        assert (await house.fact(Seen)).message == said.message
        long = "All of them pass. " * 100
        await run(project.after, long)
        ended = await house.event(TurnEnded)
        assert (ended.turn, (await house.fact(Said)).text) == (said.message, long.strip())
        while not all(one["sent"] for one in read(project.outbox)):  # noqa: ASYNC110 - a file rings no bell
            await anyio.sleep(0.01)


async def test_a_message_that_is_read_and_pruned_at_once_is_seen_all_the_same(
    tmp_path: Path, project: HookedProject
) -> None:
    """Over 100 messages all that is read goes, and the node may never see it in the file as read."""
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await house.fact(HandedOver)
        project.write(*(f"from a foreign bot {number}" for number in range(100)))
        told = str(await run(project.context))
        assert told.startswith("WhatsApp messages:\nrun the tests\nfrom a foreign bot 0\n")
        assert read(project.inbox) == []
        await run(project.after, "They pass.")
        assert (await house.fact(Seen)).message == said.message
        assert (await house.event(TurnEnded)).turn == said.message


async def test_an_agent_that_nobody_wakes_gets_it_with_its_next_turn_and_that_is_told(
    tmp_path: Path, project: HookedProject
) -> None:
    async with bridged(tmp_path) as house:
        await house.say("when you have time", worker="ann")
        assert (await house.fact(Noted)).text == WAITS


async def test_a_message_to_an_agent_at_work_waits_and_that_is_told(tmp_path: Path, project: HookedProject) -> None:
    """Also where its turn was stopped at the desk and no hook told so."""
    async with bridged(tmp_path) as house:
        await run(project.before)
        await house.say("when you have time", worker="ann")
        assert (await house.fact(Noted)).text == AT_WORK
        await run(project.after, "done at the desk")
        assert (await house.fact(Noted, lambda event: WAITS in str(event.fact))).text == WAITS


async def test_what_is_said_at_the_desk_is_shown(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        await run(project.before)
        await run(project.after, "done at the desk")
        started = await house.event(TurnStarted)
        assert (await house.fact(Said)).text == "done at the desk"
        assert (await house.event(TurnEnded)).turn == started.turn
        # What was said before our message was read is no answer to it.
        await run(project.after, "still at the desk")
        await house.until(lambda present: present.workers["ann"].turn is None)
        said = await house.say("now mine", worker="ann")
        await until_unread(project, "now mine")
        await run(project.before)
        await run(project.after, "yours")
        ended = await house.event(TurnEnded, lambda event: event.turn == said.message)
        told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert told[-1] == "yours", ended


async def test_a_restart_tells_every_answer_once(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        said = await house.say("first", worker="ann")
        await house.fact(HandedOver)
    # The node is away: the agent reads and answers all the same.
    assert await run(project.context) == "WhatsApp messages:\nfirst"
    await run(project.after, "answer to first")
    async with bridged(tmp_path, hired=True) as house:
        ended = await house.event(TurnEnded)
        assert ended.turn == said.message
    # Killed before it could mark the answer: somebody says that it is unsent.
    project.outbox.write_text(project.outbox.read_text().replace('"sent": true', '"sent": false'))
    async with bridged(tmp_path, hired=True) as house:
        await house.say("second", worker="ann")
        await until_unread(project, "second")
        await run(project.before)
        await run(project.after, "answer to second")
        await house.event(TurnEnded, lambda event: event.turn != said.message)
        told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert told == ["answer to first", "answer to second"]


async def test_a_message_that_nobody_read_can_be_stopped(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        await house.say("never mind", worker="ann")
        await house.fact(HandedOver)
        await house.interrupt("ann")
        assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
        assert read(project.inbox) == []


async def test_a_sprint_goes_on_at_the_desk_a_message_a_second_at_most(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        began = anyio.current_time()
        await house.send(Sprint(id="s1", worker="ann", tasks=("a", "b"), verifier="true"))
        for number, task in enumerate("ab", 1):
            text = f"Task {number} of 2: {task}\nDo this one and no other, then say what you did."
            await until_unread(project, text)
            assert await run(project.context) == f"WhatsApp messages:\n{text}"
            await run(project.after, f"did {task}")
        # A slow machine makes it longer, and nothing makes it shorter.
        assert anyio.current_time() - began >= PACE_SECONDS
        ended = await house.fact(SprintEnded)
        assert (ended.how, [one.done for one in ended.sprint.outcomes]) == (HowSprintEnded.DONE, [True, True])
        told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert told == ["did a", "did b"]


async def test_a_folder_that_tells_nobody_of_its_changes_is_looked_at(tmp_path: Path, project: HookedProject) -> None:
    """The kernel reports no write through a mapped file, as a network drive reports none of another machine's."""
    message = new_message("resp", "agent", "said in silence", time.time(), "x", SENT)
    whole = encode([{**message, SENT: True}]).replace(b"true", b"true ")
    project.outbox.write_bytes(whole)
    async with bridged(tmp_path) as house:
        await house.until(lambda present: present.workers["ann"].online)
        with project.outbox.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[:] = whole.replace(b"true ", b"false")
            assert (await house.fact(Said)).text == "said in silence"


async def test_a_folder_without_a_bridge_says_how_to_get_one(tmp_path: Path) -> None:
    async with open_house(tmp_path / "node", drivers={BACKEND: BridgeDriver(open_bridge)}) as house:
        await house.hire("ann", BACKEND, directory=tmp_path, online=False)
        assert f"farhand bridge install --project {tmp_path}" in (await house.fact(WentOffline)).why


def test_hire_takes_a_bridge() -> None:
    wish = read_wish("1", "/hire ann --bridge /home/me/app", Present(), CHAT)
    assert wish == Hire(id="1", worker="ann", backend=BACKEND, directory="/home/me/app")
    assert [worker_name(one) for one in ("My App", "2048", "--x--")] == ["my-app", "desk-2048", "x"]


def test_hooks_tell_a_node_that_reads_where_the_agent_sits(tmp_path: Path, project: HookedProject) -> None:
    project.before()
    assert not (project.folder / "wa_bridge.json").exists(), "nobody reads here"
    open_bridge(tmp_path).attach()
    os.environ["TMUX_PANE"] = "%7"
    try:
        project.before()
    finally:
        del os.environ["TMUX_PANE"]
    assert BridgeState(str(project.folder)).busy
    project.after("done")
    assert not BridgeState(str(project.folder)).busy


def test_only_the_agent_itself_at_its_own_terminal_is_typed_to(tmp_path: Path) -> None:
    terminal, other = os.openpty()
    name = os.ttyname(other)
    # A session of its own makes that terminal the child's.
    start = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); print(1, flush=True)"
    words = [sys.executable, "-I", "-c", f"{start}; sys.stdin.read()"]
    with subprocess.Popen(words, stdin=other, stdout=subprocess.PIPE, cwd=tmp_path) as agent:
        assert agent.stdout is not None
        agent.stdout.readline()
        assert sits_there(f"0 0 {name}\n", agent.pid, tmp_path)
        assert not sits_there(f"0 0 {name}\n", agent.pid, tmp_path / "other")
        assert not sits_there("0 0 /dev/null\n", agent.pid, tmp_path)
        assert not sits_there(f"1 0 {name}\n", agent.pid, tmp_path)
        assert not sits_there(f"0 1 {name}\n", agent.pid, tmp_path)
        assert not sits_there(f"0 0 {name}\n", os.getpid(), tmp_path)
        assert not sits_there("", agent.pid, tmp_path)
        agent.kill()
    assert not sits_there(f"0 0 {name}\n", agent.pid, tmp_path)
    os.close(terminal)
    os.close(other)


async def test_a_pane_that_a_file_invents_is_not_typed_to(tmp_path: Path) -> None:
    for tmux, pane in ((f"{tmp_path}/none,1,0", "%1"), ("/tmp", "%1; kill-server"), ("/etc/passwd", "%1")):
        look = BridgeLook(tmux=tmux, pane=pane, agent=os.getpid())
        assert await PaneWaker(tmp_path, ()).wake(look) is Waking.NOT_THERE


async def test_a_file_that_makes_no_sense_is_set_aside_by_the_node_and_told(
    tmp_path: Path, project: HookedProject
) -> None:
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await until_unread(project, "run the tests")
        await run(project.before)
        await house.fact(Seen)
        for path in (project.inbox, project.outbox):
            aged_nonsense(path)
            told = await house.fact(Noted, partial(tells, path.name))
            (aside,) = project.folder.glob(f"{path.name}.malformed-*")
            assert told.text == f"⚠ {path.name} made no sense and was set aside: {aside}"
            assert aside.read_text() == "{"
        assert house.worker().turn is not None, "it answers nothing"
        await run(project.after, "They pass.")
        assert (await house.event(TurnEnded)).turn == said.message
        told_texts = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert told_texts == ["They pass."]


def tells(name: str, event: Event) -> bool:
    return isinstance(event.fact, Noted) and f"{name} made no sense" in event.fact.text


def aged_nonsense(path: Path) -> None:
    """Half a file, and nobody is writing it any more."""
    beside = path.with_name("half")
    beside.write_text("{")
    os.utime(beside, (1_000_000_000, 1_000_000_000))
    beside.rename(path)

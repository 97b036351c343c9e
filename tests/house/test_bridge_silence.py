"""A bridged agent that answers nothing: its turn ends all the same, and the next message does not wait for the desk."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore

import anyio
import pytest
from tests.contract.bridge_hooks import SAFETY_SECONDS, HookedProject, read
from tests.house.test_bridge_worker import bridged, run, until_unread

from farhand.bridge.hook.rules import SENT, encode, new_message
from farhand.bridge.project import ProjectFiles
from farhand.drivers.bridge import link
from farhand.drivers.bridge.driver import BridgeDriver
from farhand.drivers.bridge.link import GONE, NO_LONGER_AWAITED, SILENT
from farhand.model.bridge import BACKEND, BridgeLook
from farhand.model.commands import Sprint
from farhand.model.facts import Noted, Said, Seen, SprintEnded, TurnEnded
from farhand.model.present import Worker
from farhand.model.sprint import HowSprintEnded, SprintLimits
from farhand.model.words import HowEnded
from farhand.testing.house import House

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> HookedProject:
    """A project with the hooks of a CLI, which the test runs in its place."""
    return HookedProject(tmp_path, "gemini")


async def ended(house: House, turn: str | None) -> TurnEnded:
    """How that turn ended."""
    found = (await house.event(TurnEnded, lambda event: event.turn == turn)).fact
    assert isinstance(found, TurnEnded)
    return found


async def read_by_the_agent(house: House, project: HookedProject, text: str) -> str | None:
    """Says something that the agent reads: the turn of it."""
    said = await house.say(text, worker="ann")
    await until_unread(project, text)
    await run(project.before)
    await house.event(Seen, lambda event: event.turn == said.message)
    return said.message


class CountedFiles(ProjectFiles):
    """A project's files, which count how often they are looked at."""

    def __init__(self, folder: Path, looked: Semaphore) -> None:
        super().__init__(folder)
        self._looked = looked
        self.looks = 0

    def look(self) -> BridgeLook:
        look = super().look()
        self.looks += 1
        self._looked.release()
        return look


@contextmanager
def agent_that_reads(project: HookedProject) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the project's folder that has begun a turn, and works at it."""
    words = ["/bin/sh", "-c", f"/bin/sh -c {shlex.quote(project.commands[0])} </dev/null; cat"]
    with subprocess.Popen(words, cwd=project.folder.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        try:
            assert agent.stdout is not None
            assert b"additionalContext" in agent.stdout.readline()
            yield agent
        finally:
            agent.kill()


async def test_a_turn_without_a_word_is_over_and_the_next_message_goes_on(
    tmp_path: Path, project: HookedProject
) -> None:
    async with bridged(tmp_path) as house:
        turn = await read_by_the_agent(house, project, "run the tests")
        await run(project.after, "[no response text]")
        over = await ended(house, turn)
        assert (over.how, over.error) == (HowEnded.FAILED, SILENT)
        turn = await read_by_the_agent(house, project, "once more")
        await run(project.after, "They pass.")
        assert (await ended(house, turn)).how is HowEnded.COMPLETED
        assert [event.fact.text for event in await house.history() if isinstance(event.fact, Said)] == ["They pass."]


async def test_an_answer_that_finds_no_place_yet_is_no_silence(tmp_path: Path, project: HookedProject) -> None:
    """The outbox is full of what a foreign script put there; the node takes it away, and the answer after it."""
    async with bridged(tmp_path) as house:
        turn = await read_by_the_agent(house, project, "run the tests")
        full = [new_message("resp", "bridge", f"r{number}", 2e9, f"{number}", SENT) for number in range(100)]
        beside = project.outbox.with_name("full")
        beside.write_bytes(encode(full))
        beside.rename(project.outbox)
        await run(project.after, "They pass.")
        assert (await ended(house, turn)).how is HowEnded.COMPLETED
        assert (await house.fact(Said)).text == "They pass."


async def test_what_a_foreign_program_has_read_is_awaited(tmp_path: Path, project: HookedProject) -> None:
    """A script in the place of our hooks tells nobody whether a turn runs."""
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await until_unread(project, "run the tests")
        beside = project.inbox.with_name("marked")
        beside.write_bytes(encode([{**one, "read": True} for one in read(project.inbox)]))
        beside.rename(project.inbox)
        await house.event(Seen, lambda event: event.turn == said.message)
        beside.write_bytes(encode([new_message("resp", "agent", "They pass.", 2e9, "x", SENT)]))
        beside.rename(project.outbox)
        assert (await ended(house, said.message)).how is HowEnded.COMPLETED


async def test_an_agent_that_dies_in_its_turn_ends_it(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await until_unread(project, "run the tests")
        with agent_that_reads(project) as agent:
            await house.event(Seen, lambda event: event.turn == said.message)
            assert house.worker().turn is not None
            agent.kill()
            agent.wait(SAFETY_SECONDS)
            over = await ended(house, said.message)
        assert (over.how, over.error) == (HowEnded.FAILED, GONE)


async def test_an_agent_that_dies_while_the_node_is_away_ends_its_turn_and_answers_nothing_else(
    tmp_path: Path, project: HookedProject
) -> None:
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await until_unread(project, "run the tests")
        with agent_that_reads(project):
            await house.event(Seen, lambda event: event.turn == said.message)
    async with bridged(tmp_path, hired=True) as house:
        assert (await ended(house, said.message)).error == GONE


async def test_another_program_that_is_idle_in_the_folder_ends_no_turn(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        said = await house.say("run the tests", worker="ann")
        await until_unread(project, "run the tests")
        with agent_that_reads(project):
            await house.event(Seen, lambda event: event.turn == said.message)
            await run(project.before)
            await run(project.after, "")
            assert not ProjectFiles(project.folder).look().busy
            beside = project.outbox.with_name("notice")
            beside.write_bytes(encode([new_message("resp", "bridge", "looked at", 2e9, "x", SENT)]))
            beside.rename(project.outbox)
            await house.fact(Noted, lambda event: "looked at" in str(event.fact))
            assert house.worker().turn is not None
            await run(project.after, "They pass.")
            assert (await ended(house, said.message)).how is HowEnded.COMPLETED


async def test_pause_stops_the_wait_for_what_the_agent_has_read(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        turn = await read_by_the_agent(house, project, "go on")
        await house.interrupt("ann")
        assert (await ended(house, turn)).how is HowEnded.INTERRUPTED
        told = [event.fact.text for event in await house.history() if isinstance(event.fact, Noted)]
        assert told[-1] == NO_LONGER_AWAITED
        # What it says after all is shown, and answers nobody.
        await run(project.after, "done at last")
        shown = await house.event(Said)
        assert shown.turn != turn


async def test_a_task_without_a_word_is_given_again_and_told(tmp_path: Path, project: HookedProject) -> None:
    async with bridged(tmp_path) as house:
        limits = SprintLimits(rounds=2)
        await house.send(Sprint(id="s1", worker="ann", tasks=("a",), commits=False, limits=limits))
        told = "Task 1 of 1: a\nDo this one and no other, then say what you did."
        for text in (told, f"{told}\n\nThe last try was not enough:\nThe turn failed: {SILENT}"):
            await until_unread(project, text)
            await run(project.before)
            await run(project.after, "")
        over = await house.fact(SprintEnded)
        assert (over.how, over.why) == (HowSprintEnded.STUCK, "2 rounds were not enough")


async def test_a_look_at_the_files_leads_to_no_further_look(
    tmp_path: Path, project: HookedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the lock of the folder that is watched, which once made the node look without end."""
    monkeypatch.setattr(link, "LOOK_SECONDS", 3600.0)
    looked = Semaphore(0)
    files = CountedFiles(project.folder, looked)
    worker = Worker(name="ann", since=1, backend=BACKEND, directory=str(tmp_path))
    async with BridgeDriver(lambda _: files).open(worker, "") as opened, anyio.create_task_group() as tasks:

        async def listen() -> None:
            async for _ in opened.facts():
                pass

        tasks.start_soon(listen)
        for number in range(20):
            assert await run(looked.acquire, True, SAFETY_SECONDS), "a change is looked at"
            assert files.looks == number + 1
            (tmp_path / "new").touch()
            # Moved in, it is one change.
            (tmp_path / "new").rename(project.folder / "new")
        tasks.cancel_scope.cancel()

"""Any ACP agent as a worker: the driver's contract with the real gemini and opencode, and with our own server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.live.acp_agents import AGENTS, PROGRAMS, ROOT, AcpEnv, GeminiModel, age_sessions

from farhand.drivers.acp.schema import catalogue
from farhand.drivers.wires.acp.driver import AcpDriver
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.model import facts
from farhand.model.ports import Change, Driver, NotTaken, Settle, Taken
from farhand.model.present import Worker
from farhand.model.words import HowEnded, HowSettled, Mode, replace
from farhand.sandbox.environment import child_environment
from farhand.sandbox.folder import Folder
from farhand.sandbox.holders import LocalHolders
from farhand.testing.contracts.driver import DriverContract, Words, answered, talking
from farhand.testing.models.gemini import FakeGemini

MODES = {Mode.DEFAULT: "default", Mode.AUTO_EDIT: "auto_edit", Mode.PLAN: "plan", Mode.YOLO: "yolo"}


@asynccontextmanager
async def own_server(root: Path) -> AsyncIterator[AcpEnv]:
    """Our own ACP server as an agent."""
    project = root / "home" / "project"
    (project / ".git").mkdir(parents=True)
    fake = FakeGemini().start()
    try:
        model = GeminiModel(fake)
        environ = {"HOME": str(root / "home"), "PATH": os.environ["PATH"], "GEMINI_MODEL": "gemini-2.5-flash"}
        program = (sys.executable, str(ROOT / "tests" / "sdk" / "acp_agent.py"))
        yield AcpEnv(program, {**environ, **fake.environ()}, project, model)
        model.release()
    finally:
        fake.close()


def held_child(root: Path) -> int:
    """The process that the holder owns."""
    folder = Folder(root / "h" / "ann-1.1")
    life = folder.life()
    folder.close()
    assert life is not None
    return life.child


def children_of(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


async def gone(process: int) -> None:
    """Returns when that process has ended."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    with os.fdopen(descriptor, "rb") as watched:
        await anyio.wait_readable(watched)


class AcpContract(DriverContract):
    """What every ACP agent keeps as a worker."""

    agent = "own"

    @pytest.fixture
    async def acp_env(self, short_folder: Path) -> AsyncIterator[AcpEnv]:
        opens = {"own": own_server, **AGENTS}
        async with opens[self.agent](short_folder) as opened:
            yield opened

    @pytest.fixture
    def directory(self, acp_env: AcpEnv) -> Path:
        return acp_env.project

    @pytest.fixture
    def driver(self, acp_env: AcpEnv, short_folder: Path) -> Driver:
        described = AcpAgent(backend=self.agent, command=acp_env.argv, modes=MODES)
        environment = child_environment(acp_env.environ, acp_env.environ)
        return AcpDriver(LocalHolders(short_folder / "h"), described, python=sys.executable, environment=environment)

    @pytest.fixture
    def words(self) -> Words:
        return Words(plain="good morning", tool="look around", ask="touch it", slow="count slowly", fail="fail now")

    async def test_an_ask_that_is_answered_no_runs_nothing(
        self, driver: Driver, worker: Worker, directory: Path
    ) -> None:
        async with talking(driver, worker) as talk:
            await talk.say("t1", "touch it")
            raised = await talk.hear(facts.AskRaised)
            assert raised.choices[0].allows
            refusal = next(choice.id for choice in raised.choices if not choice.allows)
            ask = answered(raised, worker, "t1")
            no = facts.AskSettled(ask=raised.ask, how=HowSettled.ANSWERED, choice=refusal)
            assert await talk.link.perform(Settle(ask=replace(ask, settled=no))) == Taken()
            await talk.ended("t1")
        assert not (directory / "made.txt").exists()

    async def test_an_ask_outlives_its_link_and_its_answer_runs_the_tool_once(
        self, driver: Driver, worker: Worker, directory: Path
    ) -> None:
        async with talking(driver, worker) as talk:
            await talk.say("t1", "touch it")
            raised = await talk.hear(facts.AskRaised)
            cursor = talk.cursor
        assert not (directory / "made.txt").exists()
        async with talking(driver, worker, cursor) as talk:
            for _ in range(2):
                assert await talk.link.perform(Settle(ask=answered(raised, worker, "t1"))) == Taken()
            assert (await talk.ended("t1")).how is HowEnded.COMPLETED
            assert talk.count(facts.ToolEnded) == 1
        assert (directory / "made.txt").exists()

    async def test_a_mode_that_the_agent_does_not_have_is_refused(self, driver: Driver, worker: Worker) -> None:
        async with talking(driver, worker) as talk:
            refused = await talk.link.perform(Change(mode="wild"))
            assert isinstance(refused, NotTaken)
            assert "has no mode 'wild'. Known: default" in refused.why

    async def test_a_link_that_is_killed_while_an_ask_waits_runs_nothing(
        self, driver: Driver, worker: Worker, directory: Path, short_folder: Path
    ) -> None:
        async with talking(driver, worker) as talk:
            await talk.say("t1", "touch it")
            await talk.hear(facts.AskRaised)
            relay = held_child(short_folder)
            agents = children_of(relay)
            assert agents
            os.kill(relay, signal.SIGKILL)
            await talk.end()
        with anyio.fail_after(240):
            for agent in agents:
                await gone(agent)
        assert not (directory / "made.txt").exists()

    async def test_the_next_life_takes_the_session_up_again(
        self, driver: Driver, worker: Worker, acp_env: AcpEnv, short_folder: Path
    ) -> None:
        async with talking(driver, worker) as talk:
            await talk.say("t1", "good morning")
            await talk.ended("t1")
            known = await talk.hear(facts.SessionKnown)
            os.kill(held_child(short_folder), signal.SIGKILL)
            await talk.end()
            cursor = talk.cursor
        age_sessions(acp_env)
        async with talking(driver, replace(worker, session=known.session), cursor) as talk:
            await talk.say("t2", "good morning")
            assert (await talk.ended("t2")).how is HowEnded.COMPLETED
            assert (await talk.hear(facts.SessionKnown)) == known


class TestOwnServer(AcpContract):
    async def test_an_agent_that_dies_in_its_turn_is_told_and_the_next_one_works(
        self, driver: Driver, worker: Worker, short_folder: Path
    ) -> None:
        async with talking(driver, worker) as talk:
            await talk.say("t1", "count slowly")
            await talk.hear(facts.Said)
            os.kill(children_of(held_child(short_folder))[0], signal.SIGKILL)
            await talk.end()
            assert any("The agent is gone" in one.fact.text for one in talk.heard if isinstance(one.fact, facts.Noted))
            cursor = talk.cursor
        async with talking(driver, worker, cursor) as talk:
            await talk.say("t2", "good morning")
            assert (await talk.ended("t2")).how is HowEnded.COMPLETED

    async def test_a_mode_is_taken(self, driver: Driver, worker: Worker, directory: Path) -> None:
        async with talking(driver, worker) as talk:
            assert await talk.link.perform(Change(mode="yolo")) == Taken()
            await talk.say("t1", "touch it")
            assert (await talk.ended("t1")).how is HowEnded.COMPLETED
            assert talk.count(facts.AskRaised) == 0
        assert (directory / "made.txt").exists()


@pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh")
class TestGemini(AcpContract):
    agent = "gemini"


@pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh")
class TestOpenCode(AcpContract):
    agent = "opencode"

    @pytest.fixture
    def words(self) -> Words:
        # opencode asks the model again and again after a 400: its failure is not told in a test's time.
        return Words(plain="good morning", tool="look around", ask="touch it", slow="count slowly")


@pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh")
class TestCodex(AcpContract):
    agent = "codex"

    @pytest.fixture
    def words(self) -> Words:
        # Its adapter tells a failure in words and ends the turn as a good one.
        return Words(plain="good morning", tool="look around", ask="touch it", slow="count slowly")


@pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh")
class TestClaudeCode(AcpContract):
    agent = "claude"


@pytest.mark.skipif(not PROGRAMS.exists(), reason="the agent CLIs are not installed: sh scripts/setup-tests.sh")
class TestQwenCode(AcpContract):
    """As the catalogue has it, with nothing told but where its program is."""

    agent = "qwen"

    @pytest.fixture
    def driver(self, acp_env: AcpEnv, short_folder: Path) -> Driver:
        described = next(one for one in catalogue() if one.backend == self.agent)
        assert described.command[1:] == acp_env.argv[1:]
        described = replace(described, command=acp_env.argv)
        environment = child_environment(acp_env.environ, acp_env.environ)
        return AcpDriver(LocalHolders(short_folder / "h"), described, python=sys.executable, environment=environment)

    async def test_a_mode_is_taken(self, driver: Driver, worker: Worker, directory: Path) -> None:
        async with talking(driver, worker) as talk:
            assert await talk.link.perform(Change(mode="yolo")) == Taken()
            await talk.say("t1", "touch it")
            assert (await talk.ended("t1")).how is HowEnded.COMPLETED
            assert talk.count(facts.AskRaised) == 0
        assert (directory / "made.txt").exists()

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
from tests.live.acp_agents import AGENTS, PROGRAMS, ROOT, TOUCHES, AcpEnv, GeminiModel, age_sessions

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
from farhand.testing.contracts.driver import DriverContract, Talk, Words, answered, talking
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


def held_child(holders: Path, worker: Worker, start: int = 1) -> int:
    """The process that the holder owns since the agent was started so often."""
    folder = Folder(holders / f"{worker.name}-{worker.since}.{start}")
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
    here: AcpEnv
    holders: Path

    @pytest.fixture
    async def acp_env(self, short_folder: Path) -> AsyncIterator[AcpEnv]:
        opens = {"own": own_server, **AGENTS}
        async with opens[self.agent](short_folder) as opened:
            self.here, self.holders = opened, short_folder / "h"
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

    async def hired_again(self, driver: Driver, worker: Worker, cursor: str) -> None:
        """Asks and kills run nothing unasked, and the next life goes on: on the start of the worker that is somebody
        else, and on one more, whose session is that one's."""
        acp_env, made = self.here, self.here.project / "made.txt"
        made.unlink(missing_ok=True)
        async with talking(driver, worker) as talk:
            known = await talk.hear(facts.SessionKnown)
        async with talking(driver, worker, cursor) as talk:
            await self.a_strange_mode_is_refused(talk)
            await self.an_ask_that_is_answered_no_runs_nothing(talk, made)
            cursor = talk.cursor or cursor
        cursor = await self.an_ask_outlives_its_link(driver, worker, cursor, made)
        cursor = await self.killed_at_rest(driver, worker, cursor)
        age_sessions(acp_env)
        made.unlink()
        async with talking(driver, replace(worker, session=known.session), cursor) as talk:
            await talk.say("next", "good morning")
            assert (await talk.ended("next")).how is HowEnded.COMPLETED
            assert (await talk.hear(facts.SessionKnown)) == known
            await self.killed_while_an_ask_waits(talk)
        assert not made.exists()

    async def a_strange_mode_is_refused(self, talk: Talk) -> None:
        """A mode that the agent does not have."""
        refused = await talk.link.perform(Change(mode="wild"))
        assert isinstance(refused, NotTaken)
        assert "has no mode 'wild'. Known: default" in refused.why

    async def an_ask_that_is_answered_no_runs_nothing(self, talk: Talk, made: Path) -> None:
        """Neither at once nor when the turn is over."""
        await talk.say("no", TOUCHES[1])
        raised = await talk.hear(facts.AskRaised)
        assert raised.choices[0].allows
        refusal = next(choice.id for choice in raised.choices if not choice.allows)
        ask = answered(raised, talk.worker, "no")
        no = facts.AskSettled(ask=raised.ask, how=HowSettled.ANSWERED, choice=refusal)
        assert await talk.link.perform(Settle(ask=replace(ask, settled=no))) == Taken()
        await talk.ended("no")
        assert not made.exists()

    async def an_ask_outlives_its_link(self, driver: Driver, worker: Worker, cursor: str, made: Path) -> str:
        """Its answer, which comes twice, runs the tool once."""
        async with talking(driver, worker, cursor) as talk:
            await talk.say("yes", TOUCHES[2])
            raised = await talk.hear(facts.AskRaised)
            cursor = talk.cursor
        assert not made.exists()
        async with talking(driver, worker, cursor) as talk:
            for _ in range(2):
                assert await talk.link.perform(Settle(ask=answered(raised, worker, "yes"))) == Taken()
            assert (await talk.ended("yes")).how is HowEnded.COMPLETED
            assert talk.count(facts.ToolEnded) == 1
            assert made.exists()
            return talk.cursor or cursor

    async def killed_at_rest(self, driver: Driver, worker: Worker, cursor: str) -> str:
        """A turn is over when its process is killed."""
        async with talking(driver, worker, cursor) as talk:
            await talk.say("rest", "good morning")
            await talk.ended("rest")
            os.kill(held_child(self.holders, worker), signal.SIGKILL)
            await talk.end()
            return talk.cursor or cursor

    async def killed_while_an_ask_waits(self, talk: Talk) -> None:
        """The agent goes with the process that spoke for it."""
        await talk.say("late", TOUCHES[3])
        await talk.hear(facts.AskRaised)
        relay = held_child(self.holders, talk.worker, start=2)
        agents = children_of(relay)
        assert agents
        os.kill(relay, signal.SIGKILL)
        await talk.end()
        with anyio.fail_after(240):
            for agent in agents:
                await gone(agent)


class ModedAcpContract(AcpContract):
    """What an ACP agent keeps, too, that goes by the mode it is told."""

    async def test_a_mode_is_taken(self, driver: Driver, worker: Worker, directory: Path) -> None:
        async with talking(driver, worker) as talk:
            assert await talk.link.perform(Change(mode="yolo")) == Taken()
            await talk.say("t1", "touch it")
            assert (await talk.ended("t1")).how is HowEnded.COMPLETED
            assert talk.count(facts.AskRaised) == 0
        assert (directory / "made.txt").exists()


class TestOwnServer(ModedAcpContract):
    async def test_an_agent_that_dies_in_its_turn_is_told_and_the_next_one_works(
        self, driver: Driver, worker: Worker, short_folder: Path
    ) -> None:
        async with talking(driver, worker) as talk:
            await talk.say("t1", "count slowly")
            await talk.hear(facts.Said)
            os.kill(children_of(held_child(short_folder / "h", worker))[0], signal.SIGKILL)
            await talk.end()
            assert any("The agent is gone" in one.fact.text for one in talk.heard if isinstance(one.fact, facts.Noted))
            cursor = talk.cursor
        async with talking(driver, worker, cursor) as talk:
            await talk.say("t2", "good morning")
            assert (await talk.ended("t2")).how is HowEnded.COMPLETED


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
class TestQwenCode(ModedAcpContract):
    """As the catalogue has it, with nothing told but where its program is."""

    agent = "qwen"

    @pytest.fixture
    def driver(self, acp_env: AcpEnv, short_folder: Path) -> Driver:
        described = next(one for one in catalogue() if one.backend == self.agent)
        assert described.command[1:] == acp_env.argv[1:]
        described = replace(described, command=acp_env.argv)
        environment = child_environment(acp_env.environ, acp_env.environ)
        return AcpDriver(LocalHolders(short_folder / "h"), described, python=sys.executable, environment=environment)

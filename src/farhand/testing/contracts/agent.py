"""What a real agent CLI is tried by, whichever it is: each of its drivers alone, and its workers in a whole node.

A test module gives a `cli_env` fixture, inherits `AgentAlone` for each driver, and `AgentAtWork` once.
"""

from __future__ import annotations

import os
import signal
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from farhand.app import open_drivers
from farhand.model.ports import Driver
from farhand.testing.cli_env import CliEnv
from farhand.testing.contracts import worker
from farhand.testing.contracts.driver import DriverContract, Words
from farhand.testing.contracts.worker import AgentScript, WireShows
from farhand.testing.house import House, settings_in
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, ScriptedThinking, say

Promise = Callable[[House, AgentScript], Awaitable[None]]
ALL = Words(plain="zz-plain", tool="zz-tool", ask="zz-ask", fail="zz-fail", slow="zz-slow")


class AgentAlone(DriverContract):
    """A driver without a core: its link, its cursor, its errands."""

    # As a worker's kind names it.
    kind = ""
    said = ALL

    @abstractmethod
    def plays(self, cli_env: Any) -> None:
        """Tells the fake model what to do at each of the words; every test needs some of these only."""

    @pytest.fixture
    def directory(self, cli_env: CliEnv) -> Path:
        return cli_env.project

    @pytest.fixture
    def words(self) -> Words:
        return self.said

    @pytest.fixture
    async def driver(self, cli_env: CliEnv) -> AsyncIterator[Driver]:
        self.plays(cli_env)
        chosen = cli_env.drivers()[self.kind]
        async with anyio.create_task_group() as tasks:
            await open_drivers(tasks, [chosen], settings_in(cli_env.folder).hooks)
            yield chosen
            tasks.cancel_scope.cancel()
        cli_env.forget()


class CliScript:
    """A CLI whose fake model plays a script. `touch` is the tool call that runs a command of the shell, `look` the one
    that reads a file."""

    def __init__(
        self,
        cli_env: Any,
        kind: str,
        touch: Callable[[str], ScriptedReply],
        look: Callable[[str], ScriptedReply],
        shows: WireShows,
    ) -> None:
        self._cli_env = cli_env
        self._touch = touch
        self._look = look
        self.shows = shows
        self.backend = kind
        self.directory = str(cli_env.project)

    def answers(self, marker: str, text: str) -> None:
        """One answer."""
        self._cli_env.model.script.conversation(marker, say(text))

    def holds(self, marker: str, first: str, rest: str) -> Callable[[], None]:
        """One answer in two parts."""
        self._cli_env.model.script.conversation(
            marker, ScriptedReply((ScriptedText(first), Hold(marker), ScriptedText(rest)))
        )
        return lambda: self._cli_env.model.script.release(marker)

    def asks(self, marker: str, text: str) -> Callable[[], bool]:
        """A shell command that leaves a file."""
        self._cli_env.model.script.conversation(marker, self._touch(f"touch {marker}.txt"), say(text))
        return Path(self.directory, f"{marker}.txt").exists

    def works(self, marker: str, thought: str, file: str, first: str, rest: str) -> Callable[[], None]:
        """A thought and a tool, then one answer in two parts."""
        looked = ScriptedReply((ScriptedThinking(thought), *self._look(file).blocks))
        said = ScriptedReply((ScriptedText(first), Hold(marker), ScriptedText(rest)))
        self._cli_env.model.script.conversation(marker, looked, said)
        return lambda: self._cli_env.model.script.release(marker)

    async def began(self, marker: str) -> None:
        """The model was asked."""
        await self._cli_env.model.asked(marker)

    async def kill_agent(self) -> None:
        """With -9."""
        for pid in await anyio.to_thread.run_sync(self._cli_env.agents):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.anyio
class AgentAtWork:
    """A worker in a whole node. Inherit, and give a `agent_script` fixture: one for each way to reach the agent."""

    def promises(self, _agent_script: AgentScript) -> tuple[Promise, ...]:
        """What this way to reach the agent is tried by; fewer where it cannot do all, or need not show it again."""
        return worker.PROMISES

    async def test_one_worker_keeps_every_promise(self, cli_env: CliEnv, agent_script: AgentScript) -> None:
        """One after the other; at last a turn outlives the node."""
        async with cli_env.open() as house:
            await keep(house, agent_script, self.promises(agent_script))
            release = await worker.before_a_restart(house, agent_script)
            since = house.started
        release()
        async with cli_env.open() as house:
            await worker.after_a_restart(house, since)


async def keep(house: House, agent_script: AgentScript, promises: Iterable[Promise]) -> None:
    """Tries these promises, one after the other, with the same worker as far as they let it live."""
    for promise in promises:
        try:
            await promise(house, agent_script)
        except BaseException as error:
            error.add_note(f"The promise: {promise.__name__}")
            raise

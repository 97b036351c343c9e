"""Who writes from a sandbox is known: it has pipes of its own to everybody, reaches no other, and claims no name."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from tests.live.sandbox.conftest import Engine
from tests.live.sandbox.engines import remove_containers
from tests.spec.team import Team, team_house

from farhand.config.sandbox import read_sandbox
from farhand.model.provenance import FRAME, UNKNOWN_PROGRAM
from farhand.model.sandbox import PIPES_FOLDER
from farhand.roster import sandboxes_of
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
# Every way to bob's pipe that an agent might find; each line says by which it came.
TRIES = """
echo by the usual path > {temporary}/test/bob/in.pipe
[ -e /workspace/temporary/test/bob/in.pipe ] && echo by the home > /workspace/temporary/test/bob/in.pipe
for pipe in {node}/pipes/*/bob/in.pipe /workspace/.claude/telegram/nodes/test/pipes/*/bob/in.pipe; do
  [ -e $pipe ] && echo by the node > $pipe
done
rm {temporary}/test/bob/in.pipe 2> /dev/null && echo removed
mkfifo {temporary}/test/eve 2> /dev/null && echo made
ls {temporary}/test/bob
echo looked
"""


def by(who: str, line: str) -> str:
    return f"{FRAME.format(who=who)}\n> {line}"


class Inside:
    """A shell in a worker's sandbox."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process

    async def says(self, script: str, until: str) -> list[str]:
        """Runs the script; what it prints up to that line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        await self._process.stdin.send(f"{script}\n".encode())
        text = ""
        while f"{until}\n" not in text:
            text += (await self._process.stdout.receive()).decode()
        return text.splitlines()[:-1]


@asynccontextmanager
async def inside(team: Team, worker: str) -> AsyncIterator[Inside]:
    """A shell where that worker's agent would run."""
    made = sandboxes_of(team.settings)
    environment = {"HOME": team.settings.environment["HOME"], "PATH": os.environ["PATH"]}
    start = await made.wrapped(team.house.worker(worker), ["/bin/sh"], environment, terminal=False)
    process = await anyio.open_process(start.argv, env=start.environment, stderr=None)
    try:
        yield Inside(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.wait()
            await process.aclose()


@pytest.fixture
def places(short_folder: Path, engine: Engine) -> dict[str, Any]:
    """Settings of a node whose folder and pipes both lie in the home, which is mounted."""
    home = short_folder / "home"
    folder, project = home / ".claude/telegram/nodes/test", home / "project"
    for one in (folder / "hooks", project):
        one.mkdir(parents=True)
    environment = {"PATH": os.environ["PATH"], **engine.variables, "HOME": str(home)}
    return {
        "folder": folder,
        "temporary": home / "temporary",
        "working_directory": project,
        "environment": environment,
        "sandbox": read_sandbox(environment),
    }


async def test_a_worker_in_a_sandbox_is_known_by_its_pipes(
    tmp_path: Path, bot: FakeBot, engine: Engine, places: dict[str, Any]
) -> None:
    agents: dict[str, Any] = {"claude": ScriptedDriver(backend="claude"), "codex": ScriptedDriver(backend="codex")}
    node, temporary = places["folder"], places["temporary"]
    try:
        async with team_house(tmp_path, bot, settings=places, **agents) as team:
            await team.hire("ann")
            await team.hire("bob", "codex")
            async with inside(team, "ann") as ann:
                said = await ann.says(TRIES.format(temporary=temporary, node=node), until="looked")
                assert said == ["in.pipe"]
                await ann.says(f"echo and this > {temporary}/test/bob/in.pipe; echo written", until="written")
                await team.until_told("and this", "bob")
                expected = [by("the worker ann", line) for line in ("by the usual path", "and this")]
                assert team.told("bob") == expected
                # Hired when the sandbox runs already.
                await team.hire("cid", "codex")
                pipe = f"{temporary}/test/cid/in.pipe"
                wait = f"while [ ! -p {pipe} ]; do sleep 0.05; done; echo welcome > {pipe}; echo written"
                await ann.says(wait, until="written")
                assert await team.until_told("welcome", "cid") == by("the worker ann", "welcome")
                # Outside of sandboxes nobody can tell who it was.
                await anyio.to_thread.run_sync(team.pipe("bob").write_text, "who am I\n")
                assert await team.until_told("who am I", "bob") == by(UNKNOWN_PROGRAM, "who am I")
                # Files for it are there, and nobody else's.
                inbox = team.house.node.inbox("ann")
                (inbox / "data.csv").write_text("1,2")
                team.house.node.inbox("bob")
                assert await ann.says(f"cat {inbox}/data.csv; echo; ls -A {temporary}/test/bob; echo read", "read") == [
                    "1,2",
                    "in.pipe",
                ]
                # Whoever leaves is gone from there, too.
                await team.house.end("cid")
                await until(lambda: not list((node / PIPES_FOLDER).glob("*/cid")))
                await ann.says(f"[ ! -e {temporary}/test/cid ] && echo gone", until="gone")
    finally:
        remove_containers(engine.kind, node, engine.variables)


async def test_pipes_outlive_the_node_and_go_with_the_worker(
    tmp_path: Path, bot: FakeBot, engine: Engine, places: dict[str, Any]
) -> None:
    agents: dict[str, Any] = {"claude": ScriptedDriver(backend="claude"), "codex": ScriptedDriver(backend="codex")}
    node, temporary = places["folder"], places["temporary"]
    write = f"echo still me > {temporary}/test/bob/in.pipe; echo written"
    try:
        async with AsyncExitStack() as stack:
            async with team_house(tmp_path, bot, settings=places, **agents) as team:
                await team.hire("ann")
                await team.hire("bob", "codex")
                ann = await stack.enter_async_context(inside(team, "ann"))
                await ann.says("echo ready", until="ready")
            async with anyio.create_task_group() as tasks, team_house(tmp_path, bot, settings=places, **agents) as team:
                tasks.start_soon(ann.says, write, "written")
                assert await team.until_told("still me", "bob") == by("the worker ann", "still me")
                await team.house.end("ann")
                await until(lambda: [one.name.split("-")[0] for one in (node / PIPES_FOLDER).iterdir()] == ["bob"])
                assert {one.name for one in next((node / PIPES_FOLDER).iterdir()).iterdir()} == {"bob"}
    finally:
        remove_containers(engine.kind, node, engine.variables)

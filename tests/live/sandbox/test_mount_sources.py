"""An agent in a sandbox that puts links where mounts come from gets nothing more with its next start."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.live.sandbox.conftest import Engine

from farhand.config.sandbox import read_sandbox
from farhand.config.settings import Settings
from farhand.model.errors import DriverError
from farhand.model.present import Worker
from farhand.roster import sandboxes_of
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio
KEY = "the-node's-key"
# Every way to change a source for a link that an agent might find.
LINKS = """
cd {own}/private && mv sessions old; ln -s {nodes} {own}/private/sessions
for one in mounted/sessions mounted private spool; do
  mv {own}/$one {own}/old && ln -s {nodes} {own}/$one
done
mv {sessions}/ann {sessions}/old; ln -s {nodes} {sessions}/ann
true
"""
READS = "cat ~/.claude/sessions/key {sessions}/ann/key {own}/spool/key {own}/private/*/key 2>/dev/null; echo looked"


@dataclass(frozen=True)
class Machine:
    """A home with a node's folder in it, a project, and a worker there."""

    settings: Settings
    home: Path
    project: Path

    @property
    def nodes(self) -> Path:
        return self.home / ".claude" / "telegram"

    @property
    def worker(self) -> Worker:
        return Worker(name="ann", since=1, backend="claude", directory=str(self.project))

    def said(self, script: str) -> str:
        """A script for the inside, with the paths that it is about."""
        own = self.settings.folder / "claude" / self.worker.hiring_id
        return script.format(own=own, nodes=self.nodes, sessions=self.settings.sessions)

    async def runs(self, script: str, worker: Worker | None = None) -> str:
        """What a shell in the worker's place prints, in a new life of the node."""
        made = sandboxes_of(self.settings)
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        words = ["/usr/bin/env", "sh", "-c", self.said(script)]
        start = await made.wrapped(worker or self.worker, words, environment, terminal=False)
        done = subprocess.run(start.argv, env=start.environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout


@pytest.fixture
def make(short_folder: Path, engine: Engine) -> Callable[..., Machine]:
    """Makes such a machine; a node's variables can be added."""

    def make(mount: str = "", sessions: str = "", **variables: str) -> Machine:
        home = short_folder / "home"
        folder, project = home / ".claude/telegram/nodes/test", home / "code" / "shop"
        for one in (folder / "hooks", project):
            one.mkdir(parents=True)
        (home / ".claude" / "telegram" / "key").write_text(KEY)
        environment = {"PATH": os.environ["PATH"], **engine.variables, **variables, "HOME": str(home)}
        environment["SANDBOX_MOUNTS"] += f",{mount}" if mount else ""
        settings = replace(
            settings_in(short_folder),
            folder=folder,
            environment=environment,
            sandbox=read_sandbox(environment),
            sessions_folder=home / sessions if sessions else None,
        )
        return Machine(settings, home, project)

    return make


@pytest.mark.parametrize("home_inside", ["0", "1"])
async def test_no_link_of_an_agents_is_mounted(make: Callable[..., Machine], home_inside: str) -> None:
    machine = make(FARHAND_SANDBOX_HOME=home_inside)
    await machine.runs(LINKS)
    assert await machine.runs(READS) == "looked\n"


async def test_what_an_earlier_release_kept_is_kept(make: Callable[..., Machine]) -> None:
    machine = make()
    before = machine.settings.folder / "claude" / machine.worker.hiring_id / "private" / "sessions"
    before.mkdir(parents=True)
    (before / "2.json").write_text("kept")
    for _ in range(2):
        assert await machine.runs("cat ~/.claude/sessions/2.json") == "kept"


async def test_an_earlier_link_is_not_brought_over(make: Callable[..., Machine]) -> None:
    machine = make()
    before = machine.settings.folder / "claude" / machine.worker.hiring_id / "private"
    before.mkdir(parents=True)
    (before / "sessions").symlink_to(machine.nodes)
    assert await machine.runs(READS) == "looked\n"


async def test_a_link_among_the_sessions_that_another_worker_left_is_refused(make: Callable[..., Machine]) -> None:
    machine = make(sessions="sessions")
    bob = Worker(name="bob", since=2, backend="claude", directory=str(machine.project))
    await machine.runs("true", worker=bob)
    await machine.runs("mv /workspace/sessions/bob /workspace/old; ln -s {nodes} /workspace/sessions/bob")
    with pytest.raises(DriverError, match="is a link"):
        await machine.runs("true", worker=bob)


async def test_a_dangling_link_where_a_folder_is_mounted_is_told(make: Callable[..., Machine]) -> None:
    machine = make()
    await machine.runs("true")
    (machine.home / ".claude" / "sessions").rmdir()
    (machine.home / ".claude" / "sessions").symlink_to("/nowhere/at/all")
    with pytest.raises(DriverError, match="cannot be made"):
        await machine.runs("true")


async def test_what_lies_above_the_source_of_a_mount_stays_in_its_place(make: Callable[..., Machine]) -> None:
    machine = make("~/team/work:/team")
    (machine.home / "team" / "work").mkdir(parents=True)
    tries = (
        "for one in /workspace/team ~/team /workspace/team/work; do mv $one /workspace/old && echo moved; done; true"
    )
    assert await machine.runs(tries) == ""
    assert (machine.home / "team" / "work").is_dir()


async def test_a_mount_through_a_link_that_an_agent_can_change_is_refused(make: Callable[..., Machine]) -> None:
    machine = make("~/team:/team")
    (machine.home / "team").symlink_to(machine.nodes)
    with pytest.raises(DriverError, match=r"team is a link in a folder"):
        await machine.runs("cat /team/key")

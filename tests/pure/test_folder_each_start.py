"""Whatever starts a process that reads the folder anew looks at the folder first, and refuses what nobody trusted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import pytest
from tests.pure.test_line_link import DeadChild

from farhand.disk.local_disks import is_local
from farhand.drivers.opencode.exec.driver import ExecOpenCodeDriver
from farhand.drivers.opencode.headless.driver import HeadlessOpenCodeDriver
from farhand.drivers.opencode.headless.server import ServerRecord
from farhand.drivers.opencode.headless.state import OpenCodeLog, OpenCodeStart
from farhand.drivers.wires.folders.check import LARGEST_QUICK_BYTES, FolderCheck, FolderGate, rules_out
from farhand.drivers.wires.folders.find import FolderReads
from farhand.drivers.wires.folders.scan import listing
from farhand.drivers.wires.holder.process import HeldProcess, HolderCursor
from farhand.drivers.wires.lines.link import LineLink
from farhand.drivers.wires.lines.translate import to_line, translate
from farhand.model.folder_trust import FolderNotTrusted
from farhand.model.holder_ports import Fed, Held
from farhand.model.ports import Deliver, NotTaken, Taken
from farhand.model.present import Message, Worker
from farhand.model.words import Sender

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 240.0
DELIVERY = Deliver(turn="t", message=Message(id="t", text="go", by=Sender(via="test"), at=0.0))


class NothingHeld:
    """Holders of which none holds anything; nothing may be started."""

    async def attach(self, _name: str) -> None:
        return None

    async def forget(self, _name: str) -> None:
        """There is nothing."""

    async def names(self) -> list[str]:
        return []

    async def start(
        self, name: str, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Held]:
        raise AssertionError(f"{name} was started: {argv} in {cwd} with {len(environment)} variables")


class Reader(DeadChild):
    """A child that takes a line, and knows which it had before."""

    def __init__(self, had: bool) -> None:
        self._had = had

    async def feed(self, key: str, data: bytes) -> Fed:
        return Fed.TAKEN

    async def fed(self, key: str) -> Fed:
        return Fed.TAKEN if self._had else Fed.NOT_TAKEN


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    (tmp_path / "project").mkdir()
    return Worker(name="ann", since=1, backend="opencode", directory=str(tmp_path / "project"))


@pytest.fixture
def gate(tmp_path: Path) -> FolderGate:
    return FolderGate(FolderCheck(tmp_path / "node"), FolderReads(code=("plugin.js",)))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    program = tmp_path / "bin/opencode"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}


def change(worker: Worker) -> None:
    Path(worker.directory, "plugin.js").write_text("run()")


READS = FolderReads(code=("plugin.js",))


def skip_unless_quick(worker: Worker) -> None:
    """Skips where something above the folder, or its disk, has every look done in a thread."""
    folder = Path(worker.directory)
    if not is_local(folder) or not rules_out(READS, [listing(place) for place in (folder, *folder.parents)]):
        pytest.skip("the folder of temporary files lies in one that agents read, or on a disk that is not known")


async def test_names_that_rule_everything_out_need_no_thread_and_a_new_file_is_seen_at_once(
    tmp_path: Path, worker: Worker
) -> None:
    skip_unless_quick(worker)
    folders = FolderCheck(tmp_path / "node", quick_seconds=60.0)
    await folders.check(worker.directory, READS)
    with anyio.fail_after(SAFETY_SECONDS):
        async with taken_up(anyio.to_thread.current_default_thread_limiter()):
            await folders.check(worker.directory, READS)
            await folders.check(worker.directory, READS)
    change(worker)
    with pytest.raises(FolderNotTrusted):
        await folders.check(worker.directory, READS)


async def test_a_folder_in_whose_place_a_link_stands_is_looked_at_in_a_thread(tmp_path: Path, worker: Worker) -> None:
    """The link may lead to a network that does not answer."""
    skip_unless_quick(worker)
    folders = FolderCheck(tmp_path / "node", quick_seconds=60.0)
    await folders.check(worker.directory, READS)
    Path(worker.directory).rename(tmp_path / "elsewhere")
    Path(worker.directory).symlink_to(tmp_path / "elsewhere")
    assert await waits_for_a_thread(folders, worker)


async def test_names_that_take_long_to_read_are_read_in_a_thread(tmp_path: Path, worker: Worker) -> None:
    folders = FolderCheck(tmp_path / "node", quick_seconds=0.0)
    await folders.check(worker.directory, READS)
    assert await waits_for_a_thread(folders, worker)


async def test_a_folder_that_was_filled_meanwhile_is_read_in_a_thread(tmp_path: Path, worker: Worker) -> None:
    """Whoever may write there could stop all else by a million names."""
    skip_unless_quick(worker)
    folders = FolderCheck(tmp_path / "node", quick_seconds=60.0)
    await folders.check(worker.directory, READS)
    for number in range(LARGEST_QUICK_BYTES + 1):
        Path(worker.directory, f"{number}".zfill(200)).touch()
        if Path(worker.directory).stat().st_size > LARGEST_QUICK_BYTES:
            break
    assert await waits_for_a_thread(folders, worker)


async def waits_for_a_thread(folders: FolderCheck, worker: Worker) -> bool:
    """Whether a look needs one."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    async with anyio.create_task_group() as tasks, taken_up(limiter):
        tasks.start_soon(folders.check, worker.directory, READS)
        await anyio.wait_all_tasks_blocked()
        waiting = limiter.statistics().tasks_waiting
    return waiting == 1


@pytest.mark.parametrize(
    ("there", "ruled_out"),
    [
        ("a.txt", True),
        ("plugin.js", False),
        ("PLUGIN.JS", False),
        (".git", False),
        ("HEAD", False),
        ("AGENTS.md", False),
    ],
)
def test_names_rule_out_only_what_no_look_would_open(tmp_path: Path, there: str, ruled_out: bool) -> None:
    (tmp_path / there).touch()
    assert rules_out(READS, [listing(tmp_path)]) is ruled_out


def test_names_rule_nothing_out_where_folders_below_are_read(tmp_path: Path) -> None:
    assert not rules_out(FolderReads(below=(".claude/skills/**/SKILL.md",)), [listing(tmp_path)])


@asynccontextmanager
async def taken_up(limiter: anyio.CapacityLimiter) -> AsyncIterator[None]:
    """Nothing gets a thread until the block ends."""
    free = int(limiter.available_tokens)
    borrowers = [object() for _ in range(free)]
    for one in borrowers:
        limiter.acquire_on_behalf_of_nowait(one)
    try:
        yield
    finally:
        for one in borrowers:
            limiter.release_on_behalf_of(one)


@pytest.mark.parametrize(("had", "changed"), [(False, False), (False, True), (True, True)])
async def test_a_runner_of_turns_gets_no_message_once_the_folder_changed(
    worker: Worker, gate: FolderGate, had: bool, changed: bool
) -> None:
    process = HeldProcess(Reader(had), HolderCursor())
    link = LineLink(process, to_line, translate, "It cannot.", partial(gate.pass_through, worker))
    if changed:
        change(worker)
    outcome = await link.perform(DELIVERY)
    if had or not changed:
        assert isinstance(outcome, Taken)
        return
    assert isinstance(outcome, NotTaken)
    assert "plugin.js: extends the agent" in outcome.why
    assert "/relaunch" in outcome.why


async def test_opencode_runs_no_turn_once_the_folder_changed(
    tmp_path: Path, worker: Worker, gate: FolderGate, environment: dict[str, str]
) -> None:
    driver = ExecOpenCodeDriver(NothingHeld(), environment, tmp_path / "runs", gate)
    async with driver.open(worker, "") as link:
        change(worker)
        outcome = await link.perform(DELIVERY)
    assert isinstance(outcome, NotTaken)
    assert "plugin.js: extends the agent" in outcome.why


async def test_a_server_that_died_is_not_started_again_without_a_look(
    tmp_path: Path, worker: Worker, gate: FolderGate, environment: dict[str, str]
) -> None:
    driver = HeadlessOpenCodeDriver(NothingHeld(), environment, tmp_path / "served", 60.0, gate)
    dead = ServerRecord(life=1, password="x", url="http://127.0.0.1:9")
    (tmp_path / "served/server.json").write_bytes(msgspec.json.encode(dead))
    (tmp_path / "served/ann-1").mkdir()
    (tmp_path / "served/ann-1/served").write_text("1")
    OpenCodeLog(tmp_path / "served/ann-1").write_start(OpenCodeStart(session="s"))
    change(worker)
    with pytest.raises(FolderNotTrusted):
        async with driver.open(worker, ""):
            raise AssertionError("it was opened")

"""What a node keeps is its owner's alone: its files under any umask, its memory and environment while it runs."""

import os
import shutil
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest

from farhand.model.errors import NodeError
from farhand.sandbox.holders import LocalHolders
from farhand.store.database import Database
from farhand.store.folder import make
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_store_and_the_holders_are_private_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = Database(tmp_path / "farhand.db")
        try:
            for name in ("farhand.db", "farhand.db-wal", "farhand.db-shm"):
                assert mode(tmp_path / name) == 0o600
        finally:
            database.close()
        holders = LocalHolders(tmp_path / "holders")
        async with await holders.start("one", ["true"], cwd=tmp_path, environment={"PATH": os.environ["PATH"]}) as held:
            await held.wait_exit()
        assert mode(tmp_path / "holders") == 0o700
        await holders.forget("one")
    finally:
        os.umask(before)


async def test_a_store_that_was_open_to_others_is_closed_to_them(tmp_path: Path) -> None:
    Database(tmp_path / "farhand.db").close()
    (tmp_path / "farhand.db").chmod(0o644)
    Database(tmp_path / "farhand.db").close()
    assert mode(tmp_path / "farhand.db") == 0o600


def test_the_node_cannot_be_dumped_and_its_children_can() -> None:
    program = """
import ctypes, subprocess, sys
from farhand.config.process import make_undumpable
assert make_undumpable()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
print(subprocess.run([sys.executable, "-c", "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"],
    capture_output=True, text=True).stdout.strip())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]


def there_now(folder: Path) -> list[Path]:
    """What is below the folder; a file that is written may be put in its place meanwhile."""
    names = [Path(parent) / name for parent, folders, files in os.walk(folder) for name in (*folders, *files)]
    return [path for path in names if os.path.lexists(path)]


def is_open_to_others(path: Path) -> bool:
    """Whether others may do anything with it; not, if it is gone by now."""
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISLNK(found) and bool(found & 0o077)


NODE = [sys.executable, "-m", "farhand", "run", "--headless", "--demo", "--port", "0", "--node", "modes"]


@pytest.mark.parametrize("umask", [0o022, 0])
async def test_everything_in_a_nodes_folder_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "FARHAND_TEMPORARY": str(tmp_path / "temporary")}
    folder = tmp_path / ".claude" / "telegram" / "nodes" / "modes"
    async with await anyio.open_process(
        [*NODE, "--no-telegram"],
        env=environ,
        cwd=tmp_path,
        umask=umask,
        stdin=subprocess.DEVNULL,
        stdout=None,
        stderr=None,
    ) as node:
        await until(lambda: (folder / "http.sock").exists() and (folder / "hub.sock").exists())
        found = [*folder.parents[:3], folder, *there_now(folder)]
        open_to_others = [str(path) for path in found if is_open_to_others(path)]
        node.terminate()
        assert await node.wait() == 0
    assert open_to_others == []
    assert len(found) > 5


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a link away")
def test_a_nodes_folder_that_somebody_elses_link_leads_to_is_not_used(tmp_path: Path) -> None:
    own, link = tmp_path / "own", tmp_path / "nodes" / "prod"
    own.mkdir()
    link.parent.mkdir()
    link.symlink_to(own)
    make(link)
    os.chown(link, 12345, 12345, follow_symlinks=False)
    with pytest.raises(NodeError, match="belongs to somebody else"):
        make(link)


# Root without its capabilities is a user like others.
AS_A_USER = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


async def environment_read(process: int) -> tuple[int, bytes]:
    """What a program of the same user reads of that process's environment."""
    looked = await anyio.run_process([*AS_A_USER, "cat", f"/proc/{process}/environ"], check=False)
    return looked.returncode, looked.stdout


@pytest.mark.skipif(AS_A_USER != [] and shutil.which("setpriv") is None, reason="setpriv is not there")
async def test_a_running_nodes_environment_is_closed_to_its_own_user(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "FARHAND_TEMPORARY": str(tmp_path / "temporary")}
    folder = tmp_path / ".claude" / "telegram" / "nodes" / "modes"
    start = partial(anyio.open_process, env=environ, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=None, stderr=None)
    async with await start([*AS_A_USER, "sleep", "infinity"]) as other:
        await until(lambda: Path(f"/proc/{other.pid}/comm").read_text() == "sleep\n")
        code, read = await environment_read(other.pid)
        other.kill()
    assert (code, f"HOME={tmp_path}".encode() in read) == (0, True)
    async with await start([*AS_A_USER, *NODE, "--no-telegram"]) as node:
        await until(lambda: (folder / "http.sock").exists() or node.returncode is not None)
        looked = await environment_read(node.pid)
        node.terminate()
        assert await node.wait() == 0
    assert looked == (1, b"")

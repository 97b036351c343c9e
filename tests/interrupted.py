"""Ends what an interrupted run leaves: agents outlive their node and tmux its client, but not the tests' Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

RUN = "FARHAND_TEST_RUN"


def pytest_configure(config: pytest.Config) -> None:
    """Gives the run a short name, which its workers inherit."""
    if not hasattr(config, "workerinput"):
        os.environ[RUN] = f"{os.getpid():x}"


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
    """After the workers are gone, which an interrupt ends in the middle of their tests."""
    yield
    if exitstatus == pytest.ExitCode.INTERRUPTED and not hasattr(session.config, "workerinput"):
        own = (short_folders(), memory_folders())
        end_all(*map(str, own), f"{session.config._tmp_path_factory.getbasetemp()}/")  # type: ignore[attr-defined]
        for folder in (each for one in own for each in one.parent.glob(f"{one.name}*")):
            shutil.rmtree(folder, ignore_errors=True)


def short_folders() -> Path:
    """How the paths of this run's short folders begin."""
    return Path(tempfile.gettempdir(), f"fh{os.environ[RUN]}-")


def memory_folders() -> Path:
    """How the paths of this run's folders in memory begin (`tests/in_memory.py`)."""
    return Path("/dev/shm").resolve() / short_folders().name


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name."""
    with made_short_folder() as folder:
        yield folder


@contextmanager
def made_short_folder() -> Iterator[Path]:
    """Such a folder for as long as the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix=short_folders().name))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def end_all(*places: str) -> None:
    """Kills every process whose command or variables name one of these places, until there is none."""
    wanted = [place.encode() for place in places]
    while found := [pid for pid in processes() if names(pid, wanted)]:
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def processes() -> list[int]:
    """Every process but this one and those that started it."""
    spared, pid = {1}, os.getpid()
    while pid > 1:
        spared.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return [
        int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal() and int(entry.name) not in spared
    ]


def names(pid: int, wanted: list[bytes]) -> bool:
    """Whether that process, if it still runs, names one of these places."""
    told = b""
    for file in ("cmdline", "environ"):
        with suppress(OSError):
            told += Path(f"/proc/{pid}/{file}").read_bytes()
    return any(place in told for place in wanted)

"""With FARHAND_PROCESSOR_TIME=folder: how much processor time each test used, with all that it started.

Every worker is a control group of its own (only root can make one), so whatever outlives its parent counts too, for
the test during which it ran. `python -m tests.processor_time folder` adds it up."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

FOLDER = "FARHAND_PROCESSOR_TIME"
# Where the kernel counts, and in which unit: the older control groups, then the newer.
ACCOUNTS = Path("/sys/fs/cgroup/cpuacct")
UNIFIED = Path("/sys/fs/cgroup")
# Its own files have little in common, and are told one by one.
DEEP = "tests/live"


class ProcessorTime:
    """The control group of this worker, and what was counted in it."""

    def __init__(self, folder: Path) -> None:
        self.told = folder / f"{os.getpid()}.tsv"
        folder.mkdir(parents=True, exist_ok=True)
        self.group = (ACCOUNTS if ACCOUNTS.is_dir() else UNIFIED) / f"farhand-tests-{os.getpid()}"
        self.group.mkdir()
        (self.group / "cgroup.procs").write_text(str(os.getpid()))
        self.tell("(reading the tests)", sum(os.times()[:4]))

    def used(self) -> float:
        """Seconds so far."""
        if ACCOUNTS.is_dir():
            return int((self.group / "cpuacct.usage").read_text()) / 1e9
        return int((self.group / "cpu.stat").read_text().split()[1]) / 1e6

    def tell(self, test: str, seconds: float) -> None:
        with self.told.open("a", encoding="utf-8") as file:
            file.write(f"{seconds:.3f}\t{test}\n")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """A test with what is made before it and taken down after it."""
        before = self.used()
        try:
            return (yield)
        finally:
            self.tell(item.nodeid, self.used() - before)

    def pytest_unconfigure(self) -> None:
        """Leaves the group, and takes it away unless something that the tests started is still in it."""
        (self.group.parent / "cgroup.procs").write_text(str(os.getpid()))
        with suppress(OSError):
            self.group.rmdir()


def pytest_configure(config: pytest.Config) -> None:
    """Counts where tests run: in each worker, or in the one process."""
    folder = os.environ.get(FOLDER)
    if folder and (hasattr(config, "workerinput") or not config.getoption("numprocesses", default=None)):
        config.pluginmanager.register(ProcessorTime(Path(folder).absolute()))


def room(test: str) -> str:
    """The folder of tests, or the file where a folder holds all sorts."""
    file = test.partition("::")[0]
    folder = str(Path(file).parent)
    return file if folder == DEEP else folder


def report(folder: Path, most: int = 60) -> str:
    """The sums by room, then the dearest tests."""
    rooms: dict[str, list[float]] = defaultdict(list)
    tests: dict[str, float] = defaultdict(float)
    for told in folder.glob("*.tsv"):
        for line in told.read_text("utf-8").splitlines():
            seconds, _, test = line.partition("\t")
            tests[test] += float(seconds)
            rooms[room(test)].append(float(seconds))
    lines = [f"{sum(tests.values()):8.1f} s  {len(tests)} tests in all"]
    dearest = sorted(rooms.items(), key=lambda one: -sum(one[1]))
    lines += [f"{sum(of):8.1f} s  {len(of):5} {name}" for name, of in dearest]
    lines += [""] + [f"{of:8.1f} s  {name}" for name, of in sorted(tests.items(), key=lambda one: -one[1])[:most]]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(Path(sys.argv[1])))

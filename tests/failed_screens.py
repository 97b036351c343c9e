"""Adds to the report of a failed test what its terminals showed and its journal said last: races seldom come twice."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Protocol, runtime_checkable

import pytest

from farhand.testing.cli_env import CliEnv

EVENTS = 25
SHOWN = 400


@runtime_checkable
class HasCliEnv(Protocol):
    """What several tests share: a worker in an environment of a real CLI."""

    cli_env: CliEnv


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Looks before the fixtures end: tmux and the node's folder go with them."""
    report = yield
    if report.failed and call.when == "call":
        for server, folder in places(getattr(item, "funcargs", {})):
            report.sections += [*screens(server), *last_events(folder)]
    return report


def places(given: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], Path | None]]:
    """The tmux server and the folder of a test, or of the environment that several tests share."""
    server, folder = given.get("tmux_server", ()), given.get("short_folder", given.get("tmp_path"))
    if isinstance(server, tuple) and isinstance(folder, Path):
        yield server, folder
    shared = (one.cli_env for one in given.values() if isinstance(one, HasCliEnv))
    yield from ((one.server, one.folder) for one in shared)


def screens(server: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What each pane of that tmux server shows."""
    if not server:
        return
    panes = _tmux(server, "list-panes", "-a", "-F", "#{pane_id} #{session_name}")
    for line in panes.splitlines():
        yield f"screen of {line}", _tmux(server, "capture-pane", "-p", "-t", line.split()[0]).rstrip()


def _tmux(server: tuple[str, ...], *words: str) -> str:
    return subprocess.run([*server, *words], capture_output=True, text=True, check=False).stdout


def last_events(folder: Path | None) -> Iterator[tuple[str, str]]:
    """The newest events of each node in that folder, oldest first."""
    for path in sorted(folder.glob("*/farhand.db")) if folder is not None else ():
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as journal:
            rows = journal.execute("SELECT seq, body FROM events ORDER BY seq DESC LIMIT ?", (EVENTS,)).fetchall()
        told = (f"{seq} {bytes(body).decode(errors='replace')[:SHOWN]}" for seq, body in reversed(rows))
        yield f"last events of {path.parent.name}", "\n".join(told)

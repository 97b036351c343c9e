"""Which test runs where and when: each on the next free worker, slow ones first, files whole whose tests share."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Most of the time a test waits for an agent's CLI or for a pause: five of them keep one core busy.
WORKERS_PER_CORE = 5
MOST_WORKERS = 12
# A long test that begins last would keep one worker busy while the others have nothing to do.
SLOW_FIRST = (
    "tests/live/test_telegram_kills.py",
    "tests/live/test_kills.py",
    "tests/live/test_wire_kills.py",
    "tests/live/opencode/",
    "tests/live/app/",
    "tests/sdk/test_safe_commands_observed.py",
    "tests/sdk/test_hook_typing.py",
    "tests/spec/test_desk.py",
    "tests/live/test_telegram_docs.py",
    "tests/live/test_telegram_aiogram.py",
    "tests/spec/test_running.py",
    "tests/live/test_inherited.py",
    "tests/live/test_telegram_faults.py",
    "tests/live/test_acp_",
    "tests/sdk/test_mcp.py",
    "tests/live/gemini/",
    "tests/live/claude/",
    "tests/live/codex/",
    "tests/live/",
    "tests/spec/",
    "tests/sdk/",
)
# Quick and many: handed out by the file.
WHOLE_FILES = "tests/pure/"
# What a file makes once for all its tests.
SHARES = re.compile(r'^ *@pytest\.fixture\(.*scope="module"', re.MULTILINE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many workers `-n auto` means."""
    return min(MOST_WORKERS, WORKERS_PER_CORE * (os.cpu_count() or 1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadgroup`: a test, or a file whose tests stay together, to the next free worker.

    xdist's own groups are lost on the way with a pytest that keeps the ids of its tests elsewhere."""
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    class OneByOne(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return work_unit(nodeid)

    return OneByOne(config, log)


def work_unit(nodeid: str) -> str:
    """What is handed to a worker in one piece: the test, or its whole file."""
    file = nodeid.partition("::")[0]
    return file if stays_whole(file) else nodeid


@cache
def stays_whole(file: str) -> bool:
    """Whether the tests of this file are quick and many, or share something that the file makes once."""
    beside = ROOT / Path(file).with_name("conftest.py")
    return file.startswith(WHOLE_FILES) or shares(ROOT / file) or (beside.is_file() and shares(beside))


def shares(file: Path) -> bool:
    """Whether it has a fixture that is made once for all tests of a file."""
    return bool(SHARES.search(file.read_text("utf-8")))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--dist loadgroup`: sorts; a run without workers keeps the order of the files."""
    if config.getoption("loadgroup", default=False):
        items.sort(key=rank)


def rank(item: pytest.Item) -> int:
    """The smaller, the earlier."""
    places = (place for place, prefix in enumerate(SLOW_FIRST) if item.nodeid.startswith(prefix))
    return next(places, len(SLOW_FIRST))

"""Which test runs where and when: each on the next free worker, slow ones first, files whole whose tests share."""

from __future__ import annotations

import os

import pytest

# Most of the time a test waits for an agent's CLI or for a pause: three of them keep one core busy.
WORKERS_PER_CORE = 3
MOST_WORKERS = 12
# A long test that begins last would keep one worker busy while the others have nothing to do.
SLOW_FIRST = (
    "tests/live/test_telegram_kills.py",
    "tests/live/test_kills.py",
    "tests/live/test_wire_kills.py",
    "tests/live/opencode/",
    "tests/live/app/",
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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many workers `-n auto` means."""
    return min(MOST_WORKERS, WORKERS_PER_CORE * (os.cpu_count() or 1))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--dist loadgroup`: groups and sorts; a run without workers keeps the order of the files."""
    if not config.getoption("loadgroup", default=False):
        return
    for item in items:
        if item.nodeid.startswith(WHOLE_FILES) or shares(item):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=rank)


def shares(item: pytest.Item) -> bool:
    """Whether the test uses something that its file makes once."""
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return any(found[-1].scope == "module" for found in known.values())


def rank(item: pytest.Item) -> int:
    """The smaller, the earlier."""
    places = (place for place, prefix in enumerate(SLOW_FIRST) if item.nodeid.startswith(prefix))
    return next(places, len(SLOW_FIRST))

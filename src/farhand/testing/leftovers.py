"""Finds and ends what a test leaves alive: a node's agents outlive it by design, and must not outlive the test."""

from __future__ import annotations

import os
import signal
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

import anyio

from farhand.sandbox.holders import LocalHolders

SAFETY_SECONDS = 240.0
LOOK_SECONDS = 0.05


async def end_agents(folder: Path) -> None:
    """Ends every agent that a node below this folder has started."""
    for place in list(folder.glob("**/holders")):  # noqa: ASYNC240 - a few folders
        holders = LocalHolders(place)
        for name in await holders.names():
            await holders.forget(name)


def processes_of(folder: Path) -> dict[int, str]:
    """What runs with that folder in its variables or its words, and how it was started."""
    found = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal():
                words = (entry / "cmdline").read_bytes()
                if str(folder).encode() in words + (entry / "environ").read_bytes():
                    found[int(entry.name)] = words.replace(b"\0", b" ").decode(errors="replace")
    return found


def end_new(folder: Path, before: Container[int]) -> None:
    """Kills everything of that folder that was not there before, by its id."""
    for pid in processes_of(folder):
        if pid not in before:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def nothing_new_runs(folder: Path, before: Container[int]) -> None:
    """Waits until everything of that folder has gone that was not there before; raises AssertionError if it stays."""
    left: dict[int, str] = {}
    with anyio.move_on_after(SAFETY_SECONDS):
        while left := {pid: words for pid, words in processes_of(folder).items() if pid not in before}:  # noqa: ASYNC110 - processes of others
            await anyio.sleep(LOOK_SECONDS)
    if left:
        raise AssertionError(f"It still runs: {left}")

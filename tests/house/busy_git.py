"""A repository in which git is busy for as long as anybody lets it: it has a file of nothing without an end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import anyio

from farhand.testing.house import SAFETY_SECONDS

BYTES = 1 << 42


def make_busy_repository(folder: Path) -> Path:
    """The repository; the lock that git has in it while it reads that file."""
    told = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "-q"), ("config", "user.name", "Ada"), ("config", "user.email", "ada@example.org")):
        subprocess.run(["git", *words], cwd=folder, env=told, check=True)
    with (folder / "endless").open("wb") as file:
        file.truncate(BYTES)
    return folder / ".git" / "index.lock"


async def until(path: Path, *, there: bool) -> None:
    """Waits until the file is there, or is no more."""
    with anyio.fail_after(SAFETY_SECONDS):
        while path.exists() is not there:  # noqa: ASYNC110 - git cannot call back
            await anyio.sleep(0.01)

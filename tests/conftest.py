"""What tests of every kind need: the event loop, folders with short names for sockets, a tmux of their own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Everything runs on asyncio."""
    return "asyncio"


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name."""
    folder = Path(tempfile.mkdtemp(prefix="fh"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tmux_server(short_folder: Path) -> Iterator[tuple[str, ...]]:
    """The words that reach a tmux server of this test alone; it ends with the test."""
    server = ("tmux", "-f", "/dev/null", "-S", str(short_folder / "tmux"))
    yield server
    subprocess.run([*server, "kill-server"], capture_output=True, check=False)

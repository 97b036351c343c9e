"""Folders in memory for tests that ask nothing of a disk.

A node makes a dozen files when it starts and syncs every command to the disk. Where folders are in memory, a test in a
whole node needs a quarter less processor time, and waits for no disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.interrupted import memory_folders, short_folders

LEAST_FREE_BYTES = 2_000_000_000


@cache
def beginning() -> Path:
    """How the paths of such folders begin: in memory where there is room for them, else where all folders are."""
    place = memory_folders().parent
    usable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return memory_folders() if usable and shutil.disk_usage(place).free > LEAST_FREE_BYTES else short_folders()


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of this test alone, which goes with it."""
    folder = Path(tempfile.mkdtemp(prefix=beginning().name, dir=beginning().parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

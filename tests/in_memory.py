"""Folders in memory, for tests that write for most of their time and ask nothing of a disk.

Not for all that run a node: what the product says about paths below /dev is true of such folders, too."""

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

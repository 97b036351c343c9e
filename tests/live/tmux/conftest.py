"""A tmux of each test alone, and a pane in it that writes down what it is given."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live.tmux.typed import ENVIRONMENT, TYPIST, until

from farhand.drivers.wires.tmux import Pane, Tmux


@pytest.fixture
async def tmux(tmux_server: tuple[str, ...]) -> AsyncIterator[Tmux]:
    """A tmux of this test alone."""
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as wire:
        yield wire


@pytest.fixture
async def typist(tmux: Tmux, short_folder: Path) -> Pane:
    """A pane that writes down what it is given."""
    pane = await tmux.start(
        "claude-test-ann", [sys.executable, "-IS", str(TYPIST), str(short_folder)], short_folder, {}
    )
    await until((short_folder / "ready").exists)
    return pane

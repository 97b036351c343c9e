"""An isolated environment for the real OpenCode."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.conftest import PROGRAMS

from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.opencode_env import OpenCodeEnv, configuration


@pytest.fixture
async def cli_env(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[OpenCodeEnv]:
    """An environment whose fake model fails the test on steps that nobody asked for."""
    async with opencode_env(short_folder, tmux_server) as opened:
        yield opened


@asynccontextmanager
async def opencode_env(folder: Path, server: tuple[str, ...]) -> AsyncIterator[OpenCodeEnv]:
    """Such an environment for as long as the block lasts."""
    if not (PROGRAMS / "opencode").exists():
        pytest.skip("OpenCode is not installed: sh scripts/setup-tests.sh")
    model = FakeOpenAi()
    async with model.served() as address:
        opened = OpenCodeEnv(folder, server, model, address, PROGRAMS)
        yield opened
        await opened.tidy()
        # A terminal that is ended in its first moments may outlive its tmux.
        for pid in opened.agents():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert json.loads(opened.settings.read_text()) == configuration(address), (
            "the person's own settings were touched"
        )
    model.script.check()

"""What every test may use: the event loop, a house, folders with short names for sockets, a tmux of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from farhand.model.logger import structlog
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.clis import COMPILED, programs
from farhand.testing.house import House, open_house
from farhand.testing.models.anthropic import FakeAnthropic

# Where `make setup-tests` puts the agent CLIs.
PROGRAMS = programs(Path(__file__).resolve().parents[1])

# The agent CLIs run on the node that the set-up put there.
os.environ["PATH"] = f"{Path(__file__).resolve().parent.parent / '.cache' / 'node' / 'bin'}:{os.environ['PATH']}"
# What Node compiled in an earlier start is not compiled again.
os.environ.setdefault(COMPILED, str(Path(__file__).resolve().parent.parent / ".cache" / "compiled"))

# A node in a test's own process logs as structlog does unasked: it would draw every traceback with rich.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

pytest_plugins = [
    "tests.collecting",
    "tests.failed_screens",
    "tests.hypothesis_profile",
    "tests.inherited",
    "tests.interrupted",
    "tests.order",
    "tests.processor_time",
    "tests.telegram_fixtures",
    "tests.whatsapp_fixtures",
]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Everything runs on asyncio; each test has a loop of its own, but for those that share what their file makes."""
    return "asyncio"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A node with a scripted agent."""
    async with open_house(tmp_path) as opened:
        yield opened


@pytest.fixture
def tmux_server(short_folder: Path) -> Iterator[tuple[str, ...]]:
    """The words that reach a tmux server of this test alone; it ends with the test."""
    with tmux_in(short_folder) as server:
        yield server


@contextmanager
def tmux_in(folder: Path) -> Iterator[tuple[str, ...]]:
    """A tmux server whose socket is in that folder, until the block ends."""
    server = ("tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
    try:
        yield server
    finally:
        subprocess.run([*server, "kill-server"], capture_output=True, check=False)


@pytest.fixture
async def cli_env(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[ClaudeEnv]:
    """An environment whose fake model fails the test on steps that nobody asked for."""
    async with claude_env(short_folder, tmux_server) as opened:
        yield opened


@asynccontextmanager
async def claude_env(folder: Path, server: tuple[str, ...]) -> AsyncIterator[ClaudeEnv]:
    """Such an environment for as long as the block lasts."""
    model = FakeAnthropic()
    async with model.served() as address:
        opened = ClaudeEnv(folder, server, model, address, PROGRAMS)
        yield opened
        await opened.tidy()
    model.script.check()

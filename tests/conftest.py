"""What every test may use: the event loop, a house, folders with short names for sockets, a tmux of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
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
    "tests.hypothesis_profile",
    "tests.inherited",
    "tests.interrupted",
    "tests.order",
    "tests.telegram_fixtures",
    "tests.whatsapp_fixtures",
]


@pytest.fixture
def anyio_backend() -> str:
    """Everything runs on asyncio."""
    return "asyncio"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A node with a scripted agent."""
    async with open_house(tmp_path) as opened:
        yield opened


@pytest.fixture
def tmux_server(short_folder: Path) -> Iterator[tuple[str, ...]]:
    """The words that reach a tmux server of this test alone; it ends with the test."""
    server = ("tmux", "-f", "/dev/null", "-S", str(short_folder / "tmux"))
    yield server
    subprocess.run([*server, "kill-server"], capture_output=True, check=False)


@pytest.fixture
async def cli_env(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[ClaudeEnv]:
    """An environment whose fake model fails the test on steps that nobody asked for."""
    model = FakeAnthropic()
    async with model.served() as address:
        opened = ClaudeEnv(short_folder, tmux_server, model, address, PROGRAMS)
        yield opened
        await opened.tidy()
    model.script.check()

"""What every test may use."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from farhand.testing.house import House, open_house

# The agent CLIs run on the node that the set-up put there.
os.environ["PATH"] = f"{Path(__file__).resolve().parent.parent / '.cache' / 'node' / 'bin'}:{os.environ['PATH']}"

pytest_plugins = ["tests.hypothesis_profile", "tests.telegram_fixtures"]


@pytest.fixture
def anyio_backend() -> str:
    """Everything runs on asyncio."""
    return "asyncio"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A node with a scripted agent."""
    async with open_house(tmp_path) as opened:
        yield opened

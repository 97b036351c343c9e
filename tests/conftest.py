"""What every test may use: the event loop that farhand runs on."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Asyncio, the only loop that farhand supports."""
    return "asyncio"

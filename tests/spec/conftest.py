"""What every spec test may use."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.spec.team import Team, team_house

from farhand.testing.telegram import FakeBot


@pytest.fixture
async def team(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Team]:
    """A team on Telegram."""
    async with team_house(tmp_path, bot) as opened:
        yield opened

"""What every spec test may use."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.spec.stop_hook import line, text, write
from tests.spec.team import Team, team_house

from farhand.testing.telegram import FakeBot


@pytest.fixture
async def team(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Team]:
    """A team on Telegram."""
    async with team_house(tmp_path, bot) as opened:
        yield opened


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A conversation with an answer in two pieces."""
    return write(
        tmp_path,
        line("user", "before"),
        line("assistant", text("an old answer")),
        line("user", "now", uuid="u-2"),
        line("assistant", [{"type": "thinking", "thinking": "hm"}, *text("**Two** files.")]),
        line("assistant", [{"type": "tool_use", "name": "Bash"}, *text("All `done` & good")]),
    )

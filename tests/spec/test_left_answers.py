"""What a worker's programs leave as files is taken at the pace of what they post, and a little at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spec.team import team_house
from tests.spec.test_http import known

from farhand.channels.files.answer_pace import MOST_IN_A_MINUTE
from farhand.channels.files.channel import LEFT_SECONDS
from farhand.channels.files.spooled_answers import MOST_BYTES_AT_ONCE, read_spooled_answers
from farhand.core.clock import SystemClock
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


class LookClock(SystemClock):
    """Real time that can be advanced; looks at what was left come one after the other, and are counted."""

    def __init__(self) -> None:
        self.looks, self.ahead = 0, 0.0

    def now(self) -> float:
        return super().now() + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.looks += seconds == LEFT_SECONDS
        await super().sleep(0.02 if seconds == LEFT_SECONDS else seconds)


async def test_answers_that_are_left_as_files_come_no_faster_than_posted_ones(tmp_path: Path, bot: FakeBot) -> None:
    clock = LookClock()
    async with team_house(tmp_path, bot, clock=clock) as team:
        await known(team)
        folder, made = team.session() / "answers", team.session() / "made"
        made.mkdir()
        for number in range(MOST_IN_A_MINUTE + 10):
            (made / f"{number}.json").write_text(f'{{"text": "answer {number}", "id": "{number}"}}')
        made.rename(folder)
        await until(lambda: len(list(folder.iterdir())) == 10)
        looks = clock.looks
        await until(lambda: clock.looks > looks + 3)
        assert len(list(folder.iterdir())) == 10
        clock.ahead = 61.0
        await until(lambda: not list(folder.iterdir()))


def test_no_more_is_read_in_one_look_than_a_few_large_answers(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    large = '{"text": "' + "x" * 3_000_000 + '"}'
    for number in range(10):
        (folder / f"{number}.json").write_text(large)
    found = read_spooled_answers(tmp_path, 0.0)
    assert sum(len(one.text) for one in found) <= MOST_BYTES_AT_ONCE
    assert len(found) == 2

"""Every kind of news is pushed under a title of its own: limits, agents that are gone, sprints, a chat that is deaf."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.house.chats_by_push import MANAGER, telegram_beside
from tests.house.push_house import PushHouse, push_house

from farhand.model.commands import Sprint
from farhand.model.facts import Limited, TurnEnded, WentOffline
from farhand.model.sprint import SprintLimits
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def push(tmp_path: Path) -> AsyncIterator[PushHouse]:
    async with push_house(tmp_path) as opened:
        yield opened


async def told(push: PushHouse) -> tuple[str, str]:
    """Title and text of the first notification."""
    shown = push.phones[0].reads((await push.service.receives(1))[0])["notification"]
    return shown["title"], shown["body"]


async def test_a_usage_limit(push: PushHouse) -> None:
    await push.pair()
    await push.plays(Limited(text="You've hit your limit"), TurnEnded(how=HowEnded.PARKED))
    assert await told(push) == ("ann has reached its usage limit", "You've hit your limit")


async def test_an_agent_that_does_not_come_back(push: PushHouse) -> None:
    await push.pair()
    link = await push.agent.wait_link("ann")
    await link.say(WentOffline(why="The program is gone."))
    assert await told(push) == ("ann is offline", "The program is gone.")


@pytest.mark.parametrize(
    ("verifier", "text"),
    [
        pytest.param("true", "Every task is done.", id="done"),
        pytest.param("false", "1 round was not enough", id="stuck"),
    ],
)
async def test_a_sprint_that_is_over(push: PushHouse, verifier: str, text: str) -> None:
    await push.pair()
    limits = SprintLimits(rounds=1)
    await push.house.send(
        Sprint(id="s1", worker="ann", tasks=("one",), verifier=verifier, commits=False, limits=limits)
    )
    assert await told(push) == ("ann’s sprint is over", text)


async def test_a_chat_that_is_not_heard(tmp_path: Path, bot: FakeBot) -> None:
    async with push_house(tmp_path, beside=telegram_beside(bot)) as push:
        await push.pair()
        manager = bot.person(MANAGER, "Mo")
        await manager.says("/team")
        await manager.reads("Your team:")
        await bot.http.post(f"/bot{bot.token}/setWebhook", json={"url": "https://elsewhere.example/"})
        with anyio.fail_after(SAFETY_SECONDS):
            title, text = await told(push)
    assert title == "Your node"
    assert "A webhook is set elsewhere (elsewhere.example)" in text

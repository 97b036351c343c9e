"""What workers used: the agents' own numbers, by day and worker, over HTTP."""

import time
from typing import Any

import httpx2
import pytest

from farhand.channels.kit import overview
from farhand.model.facts import Ended, Said, TurnEnded
from farhand.model.words import HowEnded, Usage, UsageWindow
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
DAY_SECONDS = 86_400


def _day(house: House) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(house.clock.now()))


async def _usage(house: House, query: str = "") -> httpx2.Response:
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, headers=headers, timeout=SAFETY_SECONDS) as client:
        return await client.get(f"/api/usage{query}")


async def _turn(house: House, worker: str, usage: Usage | None) -> None:
    house.agent.plays(Said(text="done"), TurnEnded(how=HowEnded.COMPLETED, usage=usage))
    said = await house.say("work", worker=worker)
    await house.event(TurnEnded, lambda event: event.turn == said.message, after=said.seq - 1)


async def test_how_much_of_a_window_is_used_stays_known_until_it_is_told_anew(house: House) -> None:
    window = UsageWindow(name="5h", used_percent=42.5, resets_at=1_800_000_000.0)
    await house.hire("ann")
    await _turn(house, "ann", Usage(input_tokens=10, windows=(window,)))
    await _turn(house, "ann", Usage(input_tokens=5))
    assert house.worker("ann").spent.total.windows == (window,)
    told = {"name": "5h", "used_percent": 42.5, "resets_at": 1_800_000_000.0}
    assert (await _usage(house)).json()["windows"] == {"ann": [told]}
    assert overview.usage(await house.hub.look()).endswith("ann: 15 tokens in, 0 out; limits used: 5h 42 %")


async def test_what_was_used_is_added_up_by_day_and_worker(house: House) -> None:
    assert isinstance(house.clock, ManualClock)
    for name in ("ann", "bob"):
        await house.hire(name)
    first = _day(house)
    await _turn(house, "ann", Usage(input_tokens=100, output_tokens=10, cost_dollars=0.25))
    await _turn(house, "ann", Usage(input_tokens=50, output_tokens=5, cost_dollars=0.5))
    await _turn(house, "bob", Usage(input_tokens=7))
    house.clock.advance(DAY_SECONDS)
    second = _day(house)
    await _turn(house, "ann", None)
    left = await house.end("bob")
    await house.event(Ended, after=left.seq - 1)
    today: dict[str, Any] = {"day": second, "worker": "ann", "turns": 1, "usage": {}}
    assert (await _usage(house)).json()["usage"] == [
        today,
        {
            "day": first,
            "worker": "ann",
            "turns": 2,
            "usage": {"input_tokens": 150, "output_tokens": 15, "cost_dollars": 0.75},
        },
        {"day": first, "worker": "bob", "turns": 1, "usage": {"input_tokens": 7}},
    ]
    assert (await _usage(house, "?days=1")).json()["usage"] == [today]


@pytest.mark.parametrize("days", ["0", "32", "-1", "seven", "1e3", ""])
async def test_a_number_of_days_that_is_none_is_said(house: House, days: str) -> None:
    refused = await _usage(house, f"?days={days}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_input")

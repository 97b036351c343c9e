"""A project's outbox is anybody's who can write there: it cannot fill the chats, nor end the worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject
from tests.house.test_bridge_worker import bridged

from farhand.bridge.hook.rules import AGENT
from farhand.drivers.bridge.pace import AT_ONCE, OutboxPace
from farhand.model.facts import Said

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, "gemini")


def test_there_is_room_for_so_many_at_once_and_then_for_one_a_second() -> None:
    pace = OutboxPace(now=0.0)
    assert pace.room(0.0) == AT_ONCE
    pace.took(AT_ONCE)
    assert (pace.room(0.5), pace.room(1.0)) == (0, 1)
    assert pace.room(10_000.0) == AT_ONCE


def leave(project: HookedProject, *texts: str) -> None:
    said = [{"id": f"x{n}", "timestamp": n, "from": AGENT, "text": text, "sent": False} for n, text in enumerate(texts)]
    project.outbox.write_text(json.dumps({"messages": said}))


async def test_of_a_flood_a_part_is_told_and_the_rest_stays_in_the_file(tmp_path: Path, project: HookedProject) -> None:
    leave(project, *(f"flood {number}" for number in range(20_000)))
    async with bridged(tmp_path) as house:
        await house.event(Said, lambda event: isinstance(event.fact, Said) and event.fact.text == "flood 199")
        told = [event for event in await house.history() if isinstance(event.fact, Said)]
        assert len(told) < 1_000


async def test_half_a_character_ends_nobody(tmp_path: Path, project: HookedProject) -> None:
    leave(project, "a\ud800b")
    async with bridged(tmp_path) as house:
        assert (await house.fact(Said)).text == "a?b"
        assert house.hub.present.workers["ann"].online

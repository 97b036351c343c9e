"""A watcher gets every event, however many come at once."""

import anyio
import pytest

from farhand.core.tail import CACHED_EVENTS
from farhand.model.facts import Draft, Event, Noted
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio


async def test_more_events_at_once_than_memory_keeps_reach_a_watcher_that_kept_up(house: House) -> None:
    await house.hire()
    start, many = house.hub.present.seq, 2 * CACHED_EVENTS + 10
    heard: list[Event] = []

    async def listen(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        task_status.started()
        async for event in house.hub.watch(after=start):
            heard.append(event)
            if len(heard) == many:
                return

    with anyio.fail_after(SAFETY_SECONDS):
        async with anyio.create_task_group() as tasks:
            await tasks.start(listen)
            drafts = [Draft(worker="ann", fact=Noted(text=str(number))) for number in range(many)]
            await house.hub.record("ann", lambda _: drafts)
    assert [event.seq for event in heard] == list(range(start + 1, start + many + 1))


async def test_large_events_are_not_all_kept_in_memory(house: House) -> None:
    await house.hire()
    start, size = house.hub.present.seq, 1024 * 1024
    for _ in range(40):
        await house.hub.record("ann", lambda _: [Draft(worker="ann", fact=Noted(text="x" * size))])
    assert sum(len(body) for body in house.hub._tail.bodies(house.hub._tail.first - 1, CACHED_EVENTS)) < 20 * size
    with anyio.fail_after(SAFETY_SECONDS):
        async for event in house.hub.watch(after=start):
            if event.seq == start + 40:
                break

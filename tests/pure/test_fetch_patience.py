"""A chat waits for quick files, and for one slow file at the most."""

import anyio
import pytest

from farhand.channels.kit.patience import FetchPatience

pytestmark = pytest.mark.anyio


async def test_what_is_quick_is_waited_for() -> None:
    fetched = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(FetchPatience(seconds=float("inf")).wait, fetched)
        await anyio.lowlevel.checkpoint()
        fetched.set()


async def test_while_one_is_slow_no_other_is_waited_for() -> None:
    patience, slow, next_one = FetchPatience(seconds=0.0), anyio.Event(), anyio.Event()
    await patience.wait(slow)
    with anyio.CancelScope() as no_waiting:
        no_waiting.cancel()
        await patience.wait(next_one)
    assert not no_waiting.cancelled_caught
    slow.set()
    with anyio.CancelScope() as waiting:
        waiting.cancel()
        await patience.wait(next_one)
    assert waiting.cancelled_caught

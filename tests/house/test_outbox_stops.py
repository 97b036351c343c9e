"""A node that stops in the middle of a send: what was answered is not sent again, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest
from tests.house.test_outbox import Surface

from farhand.channels.kit.outbox import Dispatcher
from farhand.model.store_ports import Parcel
from farhand.store.database import Database
from farhand.store.outbox import SqliteOutbox
from farhand.testing.clock import ManualClock

pytestmark = pytest.mark.anyio


async def test_a_stop_in_the_middle_of_a_send_lets_it_end_and_repeats_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db")
    outbox, surface = SqliteOutbox(database), Surface()
    surface.slow = anyio.Event()
    dispatcher = Dispatcher("tg", outbox, surface.send, ManualClock())
    await outbox.put("tg", [Parcel(key="1", chat="c", body=b"one"), Parcel(key="2", chat="c", body=b"two")])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        await surface.until(1)
        tasks.cancel_scope.cancel()
        surface.slow.set()
    (left,) = await outbox.waiting("tg", "c")
    assert (left.parcel.key, left.doubtful, surface.sent) == ("2", False, ["one"])
    database.close()


class SlowOutbox(SqliteOutbox):
    """A store on a disk that is slow to write one state of a parcel down."""

    def __init__(self, database: Database, state: str) -> None:
        super().__init__(database)
        self._state = state
        self.begins, self.goes_on = anyio.Event(), anyio.Event()

    async def begin(self, waiting: int) -> None:
        await self._wait("begin")
        await super().begin(waiting)

    async def sent(self, waiting: int, reference: str) -> None:
        await self._wait("sent")
        await super().sent(waiting, reference)

    async def _wait(self, state: str) -> None:
        if state == self._state:
            self.begins.set()
            await self.goes_on.wait()


async def test_what_was_answered_is_marked_although_a_stop_waits_for_no_answer_any_more(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db")
    outbox, surface = SlowOutbox(database, "sent"), Surface()
    dispatcher = Dispatcher("tg", outbox, surface.send, ManualClock(), last_send_seconds=0.0)
    await outbox.put("tg", [Parcel(key="1", chat="c", body=b"one")])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        await outbox.begins.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        outbox.goes_on.set()
    assert await outbox.waiting("tg", "c") == []
    database.close()


async def test_what_is_not_answered_when_a_stop_waits_no_longer_is_in_doubt(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db")
    outbox, surface = SqliteOutbox(database), Surface()
    surface.slow = anyio.Event()
    dispatcher = Dispatcher("tg", outbox, surface.send, ManualClock(), last_send_seconds=0.0)
    await outbox.put("tg", [Parcel(key="1", chat="c", body=b"one")])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        await surface.until(1)
        tasks.cancel_scope.cancel()
    (left,) = await outbox.waiting("tg", "c")
    assert left.doubtful
    database.close()


async def test_a_machine_that_stood_still_in_the_middle_of_a_stop_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / "store.db")
    outbox, surface, loop = SqliteOutbox(database), Surface(), asyncio.get_running_loop()
    surface.slow = anyio.Event()
    usual = loop.time
    dispatcher = Dispatcher("tg", outbox, surface.send, ManualClock())
    await outbox.put("tg", [Parcel(key="1", chat="c", body=b"one")])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        await surface.until(1)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
            monkeypatch.setattr(loop, "time", lambda: usual() + 3600)
            await anyio.wait_all_tasks_blocked()
        # It came meanwhile, and is read now.
        surface.slow.set()
    assert await outbox.waiting("tg", "c") == []
    database.close()


async def test_a_send_that_begins_when_the_node_stops_already_holds_up_nobody(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db")
    outbox, surface = SlowOutbox(database, "begin"), Surface()
    surface.slow = anyio.Event()
    dispatcher = Dispatcher("tg", outbox, surface.send, ManualClock(), last_send_seconds=0.0)
    await outbox.put("tg", [Parcel(key="1", chat="c", body=b"one")])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run)
        await outbox.begins.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
            outbox.goes_on.set()
            await surface.until(1)
            await anyio.wait_all_tasks_blocked()
        surface.slow.set()
    (left,) = await outbox.waiting("tg", "c")
    assert left.doubtful
    database.close()

"""The outbox sends in order, at its pace, with patience, and in doubt once more; all on a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from farhand.channels.kit.outbox import Dispatcher, SendLater, SendRefused, SendUncertain
from farhand.channels.kit.pace import Pace
from farhand.model.errors import StoreError
from farhand.model.store_ports import Parcel, Waiting
from farhand.store.database import Database
from farhand.store.outbox import SqliteOutbox
from farhand.testing.clock import ManualClock
from farhand.testing.telegram.bell import Bell

pytestmark = pytest.mark.anyio


class Surface:
    """A surface that notes what it gets, and fails as it is told."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.faults: list[Exception | None] = []
        self.bell = Bell()
        self.slow: anyio.Event | None = None

    async def send(self, waiting: Waiting) -> str:
        fault = self.faults.pop(0) if self.faults else None
        self.sent.append(waiting.parcel.body.decode(errors="replace") + (f" ({type(fault).__name__})" if fault else ""))
        self.bell.ring()
        if self.slow:
            await self.slow.wait()
        if fault:
            raise fault
        return str(len(self.sent))

    async def until(self, count: int) -> list[str]:
        with anyio.fail_after(240):
            while len(self.sent) < count:
                await self.bell.wait(self.bell.count, 20)
        return self.sent


class Rules:
    """Progress is what has a slot of that name; `-s` removes the slot `s`."""

    def __init__(self) -> None:
        self.owes = 0

    def gives_way(self, parcel: Parcel) -> bool:
        return parcel.slot.startswith("progress")

    def removes(self, parcel: Parcel) -> str:
        return parcel.key[1:] if parcel.key.startswith("-") else ""

    async def owed(self) -> int:
        return self.owes


class Desk:
    """An outbox at work."""

    def __init__(
        self, outbox: SqliteOutbox, surface: Surface, clock: ManualClock, rules: Rules, dispatcher: Dispatcher
    ) -> None:
        self.rules = rules
        self.outbox = outbox
        self.surface = surface
        self.clock = clock
        self._dispatcher = dispatcher

    async def put(
        self, text: str, *, chat: str = "c", slot: str = "", edit: bool = False, urgent: bool = False
    ) -> None:
        parcel = Parcel(key=text, chat=chat, body=text.encode(), slot=slot, edit=edit, urgent=urgent)
        await self.outbox.put("tg", [parcel])
        self._dispatcher.wake()

    async def drain(self) -> None:
        """Returns when everything is sent and marked."""
        with anyio.fail_after(240):
            await self._dispatcher.drain()

    async def release(self) -> None:
        """Lets time pass until everything is sent and marked."""
        async with anyio.create_task_group() as tasks:

            async def pass_time() -> None:
                while True:
                    await self.asleep()
                    self.clock.advance(1.0)

            tasks.start_soon(pass_time)
            await self.drain()
            tasks.cancel_scope.cancel()

    async def asleep(self, lanes: int = 1) -> None:
        """Returns when the dispatcher waits for time to pass, in so many lanes."""
        await self.clock.until_asleep(lanes)


@asynccontextmanager
async def open_desk(folder: Path, pace: float = 0.0, burst: int = 3) -> AsyncIterator[Desk]:
    database = Database(folder / "store.db")
    outbox, surface, clock = SqliteOutbox(database), Surface(), ManualClock()
    limits = Pace(clock, per_chat=pace, burst=burst, overall=1000) if pace else None

    def given_up(waiting: Waiting, why: str) -> list[Parcel]:
        text = f"lost {waiting.parcel.body.decode()}: {why}"
        return [] if text.startswith("lost lost") else [Parcel(key=text, chat=waiting.parcel.chat, body=text.encode())]

    rules = Rules()
    dispatcher = Dispatcher("tg", outbox, surface.send, clock, pace=limits, given_up=given_up, progress=rules)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(dispatcher.run)
            yield Desk(outbox, surface, clock, rules, dispatcher)
            tasks.cancel_scope.cancel()
    finally:
        database.close()


async def test_a_surface_that_asks_for_patience_gets_it_and_the_order_stays(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [SendLater("429", 7.0)]
        await desk.put("one")
        await desk.put("two")
        await desk.asleep()
        desk.clock.advance(6.9)
        await anyio.wait_all_tasks_blocked()
        assert desk.surface.sent == ["one (SendLater)"]
        desk.clock.advance(0.2)
        assert await desk.surface.until(3) == ["one (SendLater)", "one", "two"]


async def test_one_that_trips_an_error_of_ours_is_given_up_and_the_rest_goes_on(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [LookupError("unforeseen")]
        await desk.put("one")
        await desk.put("two")
        told = "lost one: it tripped an error of the node's own (LookupError)"
        assert await desk.surface.until(3) == ["one (LookupError)", "two", told]
        # Nor does one whose replacement cannot be made.
        desk.surface.faults = [LookupError("unforeseen")]
        await desk.outbox.put("tg", [Parcel(key="three", chat="c", body=b"\xff")])
        await desk.put("four")
        assert (await desk.surface.until(5))[3:] == ["\ufffd (LookupError)", "four"]
        await desk.drain()


async def test_a_send_during_which_the_store_refused_is_in_doubt(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [StoreError("full")]
        await desk.put("one")
        await desk.asleep()
        desk.clock.advance(1)
        assert await desk.surface.until(2) == ["one (StoreError)", "one"]


async def test_a_send_in_doubt_is_repeated_once_and_then_told(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [SendUncertain("cut"), SendUncertain("cut")]
        await desk.put("one")
        for _ in range(2):
            await desk.asleep()
            desk.clock.advance(100)
        sent = await desk.surface.until(3)
        assert sent == ["one (SendUncertain)"] * 2 + ["lost one: unknown: sent twice, and no answer came"]


async def test_trouble_that_proves_nothing_was_taken_never_counts_as_doubt(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [*[SendLater("502")] * 6, SendUncertain("cut"), *[SendLater("502")] * 3]
        await desk.put("one")
        for count in range(1, 11):
            await desk.surface.until(count)
            await desk.asleep()
            desk.clock.advance(100)
        assert (await desk.surface.until(11))[-1] == "one"


async def test_what_is_refused_is_told_and_holds_up_nothing(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [SendRefused("too ugly")]
        await desk.put("one")
        await desk.put("two")
        sent = await desk.surface.until(3)
        assert sent[0] == "one (SendRefused)"
        assert sorted(sent[1:]) == ["lost one: too ugly", "two"]


async def test_a_chat_in_trouble_holds_up_no_other(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [SendLater("429", 50.0)]
        await desk.put("one", chat="a")
        await desk.asleep()
        await desk.put("two", chat="b")
        assert await desk.surface.until(2) == ["one (SendLater)", "two"]


async def test_the_pace_is_kept_and_waiting_edits_become_one(tmp_path: Path) -> None:
    async with open_desk(tmp_path, pace=1.0, burst=3) as desk:
        await desk.put("first", slot="s")
        await desk.put("second")
        await desk.surface.until(2)
        for number in range(5):
            await desk.put(f"edit {number}", slot="s", edit=True)
        await desk.asleep()
        assert desk.surface.sent == ["first", "second"]
        desk.clock.advance(1.0)
        await desk.drain()
        assert desk.surface.sent == ["first", "second", "edit 4"]


async def test_what_is_urgent_overtakes_all_that_waits_and_finds_one_in_hand(tmp_path: Path) -> None:
    async with open_desk(tmp_path, pace=1.0, burst=3) as desk:
        for number in range(50):
            await desk.put(f"answer {number}")
        assert await desk.surface.until(2) == ["answer 0", "answer 1"]
        await desk.asleep()
        await desk.put("ask", slot="ask:1", urgent=True)
        # No time has passed: it waited for nothing.
        assert await desk.surface.until(3) == ["answer 0", "answer 1", "ask"]


async def test_urgent_ones_keep_their_order_and_the_next_that_may_go_is_always_theirs(tmp_path: Path) -> None:
    async with open_desk(tmp_path, pace=1.0, burst=2) as desk:
        for number in range(5):
            await desk.put(f"answer {number}")
        await desk.surface.until(1)
        for number in range(3):
            await desk.put(f"ask {number}", urgent=True)
        for count in (2, 3):
            await desk.surface.until(count)
            await desk.asleep(2)
            desk.clock.advance(1.0)
        assert await desk.surface.until(4) == ["answer 0", "ask 0", "ask 1", "ask 2"]


async def test_what_is_urgent_waits_for_no_upload(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.slow = anyio.Event()
        await desk.put("a large file")
        await desk.surface.until(1)
        await desk.put("ask", urgent=True)
        assert await desk.surface.until(2) == ["a large file", "ask"]
        desk.surface.slow.set()
        await desk.drain()
        assert desk.surface.sent == ["a large file", "ask"]


async def test_what_is_urgent_waits_too_when_the_surface_asks_for_patience(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [SendLater("429", 7.0)]
        await desk.put("one")
        await desk.asleep()
        await desk.put("ask", urgent=True)
        await desk.asleep(2)
        assert desk.surface.sent == ["one (SendLater)"]
        desk.clock.advance(7.1)
        await desk.drain()
        assert sorted(desk.surface.sent[1:]) == ["ask", "one"]


async def test_a_burst_of_answers_waits_for_no_progress_and_keeps_its_order(tmp_path: Path) -> None:
    async with open_desk(tmp_path, pace=1.0, burst=8) as desk:
        desk.rules.owes = 15
        await desk.put("working 0", slot="progress:0")
        await desk.surface.until(1)
        for number in range(1, 15):
            await desk.put(f"working {number}", slot=f"progress:{number}")
        await desk.asleep()
        for number in range(15):
            desk.rules.owes -= 1
            await desk.put(f"answer {number}")
            await desk.put(f"-progress:{number}")
        while len([one for one in desk.surface.sent if one.startswith("answer")]) < 15:
            await desk.asleep()
            desk.clock.advance(1.0)
        answers = [one for one in desk.surface.sent if one.startswith("answer")]
        assert answers == [f"answer {number}" for number in range(15)]
        await desk.release()
        assert [one for one in desk.surface.sent if one.startswith("working")] == ["working 0"]


async def test_progress_that_was_held_back_goes_when_there_is_room(tmp_path: Path) -> None:
    async with open_desk(tmp_path, pace=1.0, burst=3) as desk:
        desk.rules.owes = 3
        await desk.put("one")
        await desk.put("working", slot="progress")
        await desk.asleep()
        assert desk.surface.sent == ["one"]
        desk.clock.advance(1.0)
        assert await desk.surface.until(2) == ["one", "working"]


async def test_progress_goes_as_soon_as_nothing_is_owed(tmp_path: Path) -> None:
    async with open_desk(tmp_path, pace=1.0, burst=4) as desk:
        desk.rules.owes = 3
        await desk.put("one")
        await desk.put("working", slot="progress")
        await desk.asleep()
        desk.rules.owes = 0
        await desk.put("two")
        assert sorted(await desk.surface.until(3)) == ["one", "two", "working"]


async def test_progress_that_may_have_arrived_is_sent_again_before_it_is_removed(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        desk.surface.faults = [SendUncertain("cut")]
        await desk.put("working", slot="progress")
        await desk.asleep()
        await desk.put("-progress")
        desk.clock.advance(100)
        assert await desk.surface.until(3) == ["working (SendUncertain)", "working", "-progress"]


async def test_a_store_that_refuses_for_a_while_neither_loses_nor_repeats(tmp_path: Path) -> None:
    refuses = (
        "CREATE TEMP TRIGGER refuses BEFORE UPDATE ON main.outbox WHEN new.state = '{}'"
        " BEGIN SELECT RAISE(ABORT, 'no room'); END"
    )
    async with open_desk(tmp_path) as desk:
        for state in ("sending", "sent"):
            await desk.outbox._change(refuses.format(state), ())
            await desk.put(f"while not {state}")
            await desk.asleep()
            await desk.outbox._change("DROP TRIGGER refuses", ())
            desk.clock.advance(60)
            await desk.drain()
        assert desk.surface.sent == ["while not sending", "while not sent"]

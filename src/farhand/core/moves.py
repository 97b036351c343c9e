"""Makes moves by their names, a task each: one under way is not begun twice, and made again if it was wanted."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

import anyio
import anyio.abc

from farhand.model.errors import StoreError
from farhand.model.logger import get_logger
from farhand.model.ports import Clock

Move: TypeAlias = Callable[[], Awaitable[None]]
log = get_logger("moves")
PAUSE_SECONDS = 2.0


class Moves:
    """Makes every move that is possible whenever it is woken, or when the time has come that `next_due` tells."""

    def __init__(
        self, clock: Clock, possible: Callable[[], Iterable[tuple[str, Move]]], next_due: Callable[[], float | None]
    ) -> None:
        self._clock = clock
        self._possible = possible
        self._next_due = next_due
        self._changed = anyio.Event()
        self._under_way: set[str] = set()
        # Moves that were wanted while they were under way; those of them that are over and must be made again; and
        # whether something happened that may make any move possible.
        self._missed: set[str] = set()
        self._again: set[str] = set()
        self._woken = False

    def wake(self) -> None:
        """Something happened: whatever is possible now is made."""
        self._woken = True
        self._changed.set()

    async def run(self) -> None:
        """Runs until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                self._changed = anyio.Event()
                again, self._again = self._again, set()
                # What was missed is made again by itself: moves that overlap must not wake one another for ever.
                everything = self._woken or not again
                self._woken = False
                for name, move in list(self._possible()):
                    if everything or name in again:
                        self._begin(tasks, name, move)
                await self._sleep()

    def _begin(self, tasks: anyio.abc.TaskGroup, name: str, move: Move) -> None:
        if name in self._under_way:
            self._missed.add(name)
            return
        self._under_way.add(name)
        tasks.start_soon(self._make, name, move, name=f"move {name}")

    async def _make(self, name: str, move: Move) -> None:
        try:
            await move()
        except StoreError as error:
            log.error("move waits for the store", move=name, error=error.text)
            await self._clock.sleep(PAUSE_SECONDS)
            self.wake()
        except Exception:
            # It costs this move alone; the next event tries again, and not at once.
            log.exception("move not made", move=name)
            await self._clock.sleep(PAUSE_SECONDS)
        finally:
            self._under_way.discard(name)
            if name in self._missed:
                self._missed.discard(name)
                self._again.add(name)
                self._changed.set()

    async def _sleep(self) -> None:
        """Until something happens, or the time has come."""
        due = self._next_due()
        if due is None:
            await self._changed.wait()
            return
        async with anyio.create_task_group() as tasks:

            async def wake() -> None:
                await self._changed.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wake)
            await self._clock.sleep(max(1.0, due - self._clock.now()))
            tasks.cancel_scope.cancel()

"""Previews of what agents say: a worker's screen is followed while its turn runs and somebody looks at the worker."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import anyio
import anyio.abc

from farhand.core.hub import LocalHub
from farhand.model.callbacks import Callbacks
from farhand.model.devices import ViewRegistry
from farhand.model.driver_ports import ScreenAnswers
from farhand.model.errors import FarhandError
from farhand.model.facts import Event, Said, TurnStarted
from farhand.model.logger import get_logger
from farhand.model.present import Worker
from farhand.model.previews import TextPreview, news
from farhand.model.words import TurnId, WorkerName

log = get_logger("previews")
# How many characters of what a turn has said are compared with its screen: the newest.
MOST_SAID = 50_000


class LivePreviews:
    """Follows screens; nothing of it is written down, and nothing is followed while nobody looks."""

    def __init__(self, hub: LocalHub, views: ViewRegistry, sources: Mapping[str, ScreenAnswers]) -> None:
        self._hub = hub
        self._views = views
        # By the kind of worker.
        self._sources = sources
        self._previews: dict[WorkerName, tuple[int, TextPreview]] = {}
        self._said: dict[WorkerName, str] = {}
        self._followed: set[WorkerName] = set()
        self._version = 0
        self._callbacks = Callbacks()
        self._woken = asyncio.Event()

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` whenever a preview has changed."""
        return self._callbacks.calling(wake)

    def since(self, version: int) -> tuple[list[TextPreview], int]:
        """Those that changed after that version, and the version now."""
        return [one for changed, one in self._previews.values() if changed > version], self._version

    def hear(self, events: Sequence[Event]) -> None:
        """Listens to what was just written; what an agent has said needs no preview any more."""
        for event in events:
            if isinstance(event.fact, TurnStarted):
                self._said[event.worker] = ""
            elif isinstance(event.fact, Said) and event.worker in self._said:
                self._said[event.worker] = (self._said[event.worker] + event.fact.text)[-MOST_SAID:]
                self._drop(event.worker)
        self._woken.set()

    async def run(self) -> None:
        """Serves until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            with self._views.calling(self._woken.set):
                while True:
                    await self._woken.wait()
                    self._woken.clear()
                    self._follow_wanted(tasks)

    def _follow_wanted(self, tasks: anyio.abc.TaskGroup) -> None:
        for worker in self._hub.present.workers.values():
            if worker.name not in self._followed and self._is_wanted(worker) and worker.turn is not None:
                self._followed.add(worker.name)
                tasks.start_soon(self._follow, worker, worker.turn.id)

    def _is_wanted(self, worker: Worker) -> bool:
        return worker.kind in self._sources and worker.turn is not None and bool(self._views.looking_at(worker.name))

    def _still(self, worker: Worker, turn: TurnId) -> bool:
        now = self._hub.present.workers.get(worker.name)
        return now is not None and now.turn is not None and now.turn.id == turn and self._is_wanted(now)

    async def _follow(self, worker: Worker, turn: TurnId) -> None:
        try:
            async with self._sources[worker.kind].answers_on_screen(worker) as answers:
                async for text in answers:
                    if not self._still(worker, turn):
                        break
                    self._show(worker.name, turn, news(text, self._said.get(worker.name, "")))
        except FarhandError as error:
            log.info("no preview", worker=worker.name, error=error.text)
        finally:
            self._drop(worker.name)
            self._followed.discard(worker.name)
            # Its next turn may have begun meanwhile.
            self._woken.set()

    def _show(self, worker: WorkerName, turn: TurnId, text: str) -> None:
        _, before = self._previews.get(worker, (0, TextPreview(worker=worker, turn=turn)))
        if (before.turn, before.text) == (turn, text):
            return
        self._version += 1
        self._previews[worker] = (self._version, TextPreview(worker=worker, turn=turn, text=text))
        self._callbacks.call()

    def _drop(self, worker: WorkerName) -> None:
        if worker in self._previews:
            self._show(worker, self._previews[worker][1].turn, "")

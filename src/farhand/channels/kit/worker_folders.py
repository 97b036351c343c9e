"""Where workers work, as the hub knows it, and what their agents see."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from farhand.model.ports import Hub
from farhand.model.present import Worker


class WorkerFolder(NamedTuple):
    """Where a worker works, and whether its agent sees a file itself: in a sandbox, and as another user, it may not."""

    directory: Path
    sees: Callable[[Path], bool] = lambda _: True


class WorkerFolders:
    """Where workers work, as the hub knows it."""

    def __init__(self, hub: Hub, sees: Callable[[Worker, Path], bool]) -> None:
        self._hub = hub
        self._sees = sees

    async def of(self, worker: str) -> WorkerFolder | None:
        """The folder of that worker, if it is known."""
        known = (await self._hub.look()).workers.get(worker)
        return WorkerFolder(Path(known.directory), partial(self._sees, known)) if known and known.directory else None


async def nowhere(_: str) -> WorkerFolder | None:
    """Nobody's folder is known."""
    return None

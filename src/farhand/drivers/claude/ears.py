"""What brings news of one Claude Code: its hooks, its transcript, its own word on how it stands, its cost, its end."""

from __future__ import annotations

import math
from pathlib import Path

import anyio
import anyio.abc
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.drivers.claude.launch import COST, Places
from farhand.drivers.claude.news import Item, Priced, Standing, Written, read_cost, read_standing
from farhand.drivers.wires.hooks import Arrival, Asked
from farhand.drivers.wires.notify import Folders
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxGone


class Ears:
    """Puts everything that happens into one line; nothing here polls, the system tells."""

    def __init__(self, tmux: Tmux, pane: Pane, places: Places, folder: Path) -> None:
        self._tmux = tmux
        self._pane = pane
        self._status = places.status(pane.pid)
        self._cost = folder / COST
        self._send, self.items = anyio.create_memory_object_stream[Item](math.inf)
        # Something was added to the transcript, and nobody has looked yet: to say so twice would be too much.
        self.unread = False

    def start(
        self,
        tasks: anyio.abc.TaskGroup,
        arrivals: MemoryObjectReceiveStream[Arrival],
        folders: Folders,
        transcripts: Path,
    ) -> None:
        """Listens until the group ends."""
        transcripts.mkdir(parents=True, exist_ok=True, mode=0o700)
        tasks.start_soon(self._hooks, arrivals, name="hooks")
        tasks.start_soon(self._death, name="death")
        tasks.start_soon(self._transcript, folders, transcripts, name="transcript")
        tasks.start_soon(self._standing, folders, name="standing")
        tasks.start_soon(self._costs, folders, name="cost")

    def tell(self, item: Item) -> None:
        """Adds something that the link itself has to say."""
        self._send.send_nowait(item)

    def close(self) -> None:
        """Nobody listens any more; hooks that wait ask the next link."""
        self._send.close()
        self.items.close()

    async def _hooks(self, arrivals: MemoryObjectReceiveStream[Arrival]) -> None:
        async for arrival in arrivals:
            arrived = arrival.arrived if isinstance(arrival, Asked) else arrival
            if arrived.keyed or arrived.agent == self._pane.pid:
                self.tell(arrival)
            elif isinstance(arrival, Asked):
                # Another Claude Code that the agent started: its questions are its own.
                arrival.answer(None)

    async def _death(self) -> None:
        try:
            self.tell(await self._tmux.died(self._pane))
        except TmuxGone as gone:
            self.tell(gone)

    async def _transcript(self, folders: Folders, folder: Path) -> None:
        with folders.watched(folder) as change:
            while True:
                if not self.unread:
                    self.unread = True
                    self.tell(Written())
                await change.wait()

    async def _standing(self, folders: Folders) -> None:
        self._status.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        before = Standing()
        with folders.watched(self._status.parent) as change:
            while True:
                now = read_standing(self._status)
                if now != before and now.status:
                    before = now
                    self.tell(now)
                await change.wait()

    async def _costs(self, folders: Folders) -> None:
        before = Priced()
        with folders.watched(self._cost.parent) as change:
            while True:
                now = read_cost(self._cost)
                if now != before:
                    before = now
                    self.tell(now)
                await change.wait()

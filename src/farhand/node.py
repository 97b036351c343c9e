"""A running node: what it says of itself, and what its channels may ask of one another."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from starlette.routing import BaseRoute

from farhand import __version__
from farhand.attention.service import Attention
from farhand.config.settings import Settings
from farhand.core.hub import LocalHub
from farhand.core.retention import Retention
from farhand.devices.views import DeviceViews
from farhand.model.abilities import can_words
from farhand.model.channel_ports import (
    Announces,
    Channel,
    FollowsManagerChat,
    HasHealth,
    HasReceiveStatus,
    KeepsInboxes,
    ReachesManager,
)
from farhand.model.devices import DeviceRegistry
from farhand.model.logger import get_logger
from farhand.model.ports import Can, Driver
from farhand.model.present import Worker
from farhand.model.push import ServesPush
from farhand.reach.supervisor import ReachSupervisor
from farhand.store.journal import SqliteJournal
from farhand.store.outbox import SqliteOutbox

log = get_logger("node")


def worker_status(worker: Worker, now: float, can: Can) -> dict[str, Any]:
    """One worker as the status tells it: what waits in its queue and since when, what it asks, what is uncertain."""
    turn = worker.turn
    open_asks = [ask for ask in worker.asks if ask.settled is None]
    late = turn.at if turn and turn.message and not turn.handed_over else None
    return {
        "name": worker.name,
        "backend": worker.backend,
        "mode": worker.mode,
        "can": can_words(worker, can),
        "state": worker.state_at(now),
        "queued": len(worker.queue),
        "queued_since": min((message.at for message in worker.queue), default=None),
        "asks": len(open_asks),
        "questions": [{"id": ask.id, "question": ask.question, "deadline": ask.deadline} for ask in open_asks],
        # A message that is being handed over, and one of which nobody knows whether it arrived.
        "handing_over_since": late,
        "unknown": turn is not None and turn.doubted,
        "directory": worker.directory,
        "why_offline": worker.why_offline,
    }


@dataclass
class Node:
    """A running node: its hub, and what it says of itself."""

    settings: Settings
    hub: LocalHub
    port: int
    journal: SqliteJournal
    outbox: SqliteOutbox
    # Who runs workers, by their kinds.
    drivers: Mapping[str, Driver]
    # What the people at devices look at: whom a notification would tell nothing new.
    views: DeviceViews
    started_at: float = field(default_factory=time.time)
    channels: list[Channel] = field(default_factory=list)
    retention: Retention | None = None
    # Who may speak to it over HTTP.
    devices: DeviceRegistry | None = None
    # All that its HTTP listener serves.
    routes: list[BaseRoute] = field(default_factory=list)
    reach: ReachSupervisor | None = None
    # Where it can be reached from outside, as was last told; empty where it cannot, None while nobody knows yet.
    way_in: str | None = None
    # Whoever wants to hear of that.
    way_listeners: list[Callable[[str], None]] = field(default_factory=list)
    # Who is buzzed for what.
    attention: Attention | None = None
    # Whoever else wants to hear what the node says of itself: the terminal that it runs in.
    listeners: list[Callable[[str], None]] = field(default_factory=list)

    def can(self, worker: Worker) -> Can:
        """What that worker's agent can do; nothing where this node has no driver for it."""
        driver = self.drivers.get(worker.kind)
        return driver.can if driver else Can()

    def status(self) -> dict[str, Any]:
        """For `farhand status`, `/healthz` and whoever else asks."""
        present, now = self.hub.present, time.time()
        return {
            "node": self.settings.node,
            "version": __version__,
            "pid": os.getpid(),
            "port": self.port,
            # Who needs no key for the routes of workers' programs: `local` (this user) or `unix` (over the socket).
            "run_as": self.settings.agent_user.name if self.settings.agent_user else "",
            "keyless": "local" if self.settings.keyless_tcp else "unix",
            "folder": str(self.settings.folder),
            "started_at": self.started_at,
            "seq": present.seq,
            "journal": self.retention.line() if self.retention else "",
            "focus": present.focus,
            "manager": self.manager_chat() != "",
            "channels": {
                channel.name: channel.health if isinstance(channel, HasHealth) else "" for channel in self.channels
            },
            "reach": asdict(self.reach.status) if self.reach else None,
            "hearing": {
                channel.name: asdict(channel.receive_status)
                for channel in self.channels
                if isinstance(channel, HasReceiveStatus)
            },
            "workers": [worker_status(worker, now, self.can(worker)) for worker in present.workers.values()],
        }

    @property
    def push(self) -> ServesPush | None:
        """Whoever of the channels sends push messages."""
        return next((channel for channel in self.channels if isinstance(channel, ServesPush)), None)

    def tell_way_in(self, url: str) -> None:
        """A way in was opened at this address, or, with an empty one, there is none and none will be opened."""
        self.way_in = url
        for listener in self.way_listeners:
            listener(url)

    async def tell_manager(self, text: str) -> None:
        """Brings the text to the manager's chats as soon as each can be reached, and to the terminal now."""
        for listener in self.listeners:
            listener(text)
        await self.notify(text)

    # --- what a channel may ask of the others (`Peers`)

    async def announce(self, text: str, but: str = "") -> None:
        """Tells the manager something about the node itself: in the log, and over every channel that can, `but` one."""
        log.warning("announced", text=text)
        for listener in self.listeners:
            listener(text)
        for channel in self.channels:
            if isinstance(channel, Announces) and channel.name != but:
                await channel.announce(text)

    def show_at_terminal(self, text: str) -> None:
        """Shows it in the conversation that this terminal has, above the line that is typed; else on standard error."""
        for listener in self.listeners:
            listener(text)
        if not self.listeners:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def manager_chat(self) -> str:
        """The manager's chat on the first channel that knows it; empty while nobody is known."""
        chats = (channel.manager_chat for channel in self.channels if isinstance(channel, ReachesManager))
        return next((chat for chat in chats if chat), "")

    async def manager_chat_changed(self) -> None:
        """Tells every channel that follows it that the manager's chat is known now."""
        for channel in self.channels:
            if isinstance(channel, FollowsManagerChat):
                await channel.manager_chat_changed()

    async def notify(self, text: str) -> None:
        """Brings the text to the manager over every channel that has a chat."""
        for channel in self.channels:
            if isinstance(channel, ReachesManager):
                await channel.notify(text)

    def inbox(self, worker: str) -> Path:
        """The folder for files that the manager sends that worker; in the node's own folder if no channel has one."""
        keeper = next((channel for channel in self.channels if isinstance(channel, KeepsInboxes)), None)
        if keeper is not None:
            return keeper.inbox(worker)
        folder = self.settings.folder / "inbox" / worker
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

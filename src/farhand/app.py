"""Builds a node out of its rooms and runs it in one task group."""

import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import structlog
from starlette.routing import BaseRoute

from farhand import __version__
from farhand.config import logs
from farhand.config.settings import DAY_SECONDS, Settings
from farhand.core.clock import SystemClock
from farhand.core.deadlines import Deadlines
from farhand.core.decide import HirePolicy
from farhand.core.hub import LocalHub
from farhand.core.sessions import AgentSessions
from farhand.core.team import Team
from farhand.model import compat
from farhand.model.commands import Hire
from farhand.model.errors import NameTaken, NodeRunning, PortTaken, SettingMissing, StoreError
from farhand.model.ports import Channel, Clock, Driver, Outbox
from farhand.model.words import Sender
from farhand.roster import asking_events
from farhand.server import http
from farhand.server.door import Door
from farhand.server.local import closed
from farhand.server.sockets import listen
from farhand.store import folder
from farhand.store.database import Database
from farhand.store.journal import SqliteJournal
from farhand.store.outbox import SqliteOutbox

if TYPE_CHECKING:
    from farhand.channels.telegram.channel import TelegramChannel
    from farhand.drivers.wires.tmux.host import TmuxHost

log = structlog.get_logger("node")
PRUNE_EVERY_SECONDS = 6 * 3600.0


Announce = Callable[[str], Awaitable[None]]


async def keep_quiet(_: str) -> None:
    """Nobody to tell."""


@dataclass
class Parts:
    """What a channel is built from."""

    settings: Settings
    hub: LocalHub
    outbox: Outbox
    clock: Clock
    port: int = 0
    # Tells the manager something about the node itself, over every channel that can.
    announce: Announce = keep_quiet
    backends: frozenset[str] = frozenset()
    # Those whose agents run in tmux.
    terminals: frozenset[str] = frozenset()
    # Those who take a word in mid-turn.
    steers: frozenset[str] = frozenset()


Channels = Callable[[Parts], list[Channel]]


@dataclass
class Node:
    """A running node: its hub, and what it says of itself."""

    settings: Settings
    hub: LocalHub
    port: int
    journal: SqliteJournal
    outbox: SqliteOutbox
    started_at: float = field(default_factory=time.time)
    channels: list[Channel] = field(default_factory=list)
    # Whoever else wants to hear what the node says of itself: the terminal that it runs in.
    listeners: list[Callable[[str], None]] = field(default_factory=list)

    async def announce(self, text: str) -> None:
        """Tells the manager something about the node itself: in the log, and over every channel that can."""
        log.warning("announced", text=text)
        for listener in self.listeners:
            listener(text)
        for channel in self.channels:
            say = getattr(channel, "announce", None)
            if say is not None:
                await say(text)

    def status(self) -> dict[str, Any]:
        """For `farhand status`, `/healthz` and whoever else asks."""
        present, now = self.hub.present, time.time()
        return {
            "node": self.settings.node,
            "version": __version__,
            "pid": os.getpid(),
            "port": self.port,
            "folder": str(self.settings.folder),
            "started_at": self.started_at,
            "seq": present.seq,
            "focus": present.focus,
            "channels": {channel.name: getattr(channel, "health", "") for channel in self.channels},
            "workers": [
                {
                    "name": worker.name,
                    "backend": worker.backend,
                    "state": worker.state_at(now),
                    "queued": len(worker.queue),
                    "asks": sum(ask.settled is None for ask in worker.asks),
                    "directory": worker.directory,
                    "why_offline": worker.why_offline,
                }
                for worker in present.workers.values()
            ],
        }


@asynccontextmanager
async def node(
    settings: Settings, drivers: Mapping[str, Driver], channels: Channels, clock: Clock | None = None
) -> AsyncIterator[Node]:
    """A node that runs while the context is open, and lets its agents live on."""
    clock = clock or SystemClock()
    listener = _bound(settings)
    port = listener.getsockname()[1]
    try:
        with folder.lock(settings.folder, settings.node, port):
            database = Database(settings.store)
            try:
                async with _running(settings, drivers, channels, clock, database, listener, port) as running:
                    yield running
            finally:
                database.close()
    finally:
        listener.close()


def _bound(settings: Settings) -> socket.socket:
    try:
        return http.bind(settings.host, settings.port)
    except PortTaken:
        # The port is taken by this very node more often than by a stranger.
        if process := folder.running(settings.folder):
            raise NodeRunning(
                f"Node '{settings.node}' is already running (pid {process}).", node=settings.node
            ) from None
        raise


@asynccontextmanager
async def _running(
    settings: Settings,
    drivers: Mapping[str, Driver],
    channels: Channels,
    clock: Clock,
    database: Database,
    listener: Any,
    port: int,
) -> AsyncIterator[Node]:
    journal, outbox = SqliteJournal(database), SqliteOutbox(database)
    keeping = frozenset(kind for kind, driver in drivers.items() if driver.can.sessions)
    policy = HirePolicy(
        frozenset(drivers), str(settings.working_directory), settings.hire_mode, keeping, settings.hire_backend
    )
    hub = LocalHub(journal, clock, policy, await journal.load(), AgentSessions(drivers))
    team = Team(hub, journal, drivers, clock)
    built = Node(settings=settings, hub=hub, port=port, journal=journal, outbox=outbox)
    terminals = frozenset(name for name, driver in drivers.items() if driver.can.terminal)
    parts = Parts(
        settings,
        hub,
        outbox,
        clock,
        port,
        built.announce,
        frozenset(name for name in drivers if "/" not in name),
        terminals,
        frozenset(name for name, driver in drivers.items() if driver.can.steer),
    )
    built.channels = channels(parts)
    deadlines = Deadlines(hub, clock)
    key = folder.key(settings.key)
    address = f"http://127.0.0.1:{port}"
    seats = stations(drivers.values())
    posted = [route for station in seats for route in station.open_routes(address)]

    def whose(backend: str, session: str) -> str:
        return hub.present.having(backend, session)

    posted += [route for station in seats[:1] for route in station.intake_routes(whose, asking_events())]
    handed_in = [route for channel in built.channels for route in getattr(channel, "routes", list)()]
    for_neighbours = [route for channel in built.channels for route in getattr(channel, "local_routes", list)()]
    app = http.application([*http.routes(hub, built.status, key), *handed_in, *closed([*for_neighbours, *posted], key)])
    async with anyio.create_task_group() as tasks:
        await open_drivers(tasks, drivers.values(), settings.hooks)
        await tasks.start(Door(hub, settings.door, built.status).serve, name="door")
        await tasks.start(http.serve, app, listener, listen(settings.http_socket), name="http")
        tasks.start_soon(team.run, name="team")
        tasks.start_soon(deadlines.run, name="deadlines")
        tasks.start_soon(_prune, journal, settings.retention_days, clock, name="retention")
        for channel in built.channels:
            tasks.start_soon(channel.run, name=f"channel {channel.name}")
        log.info("node ready", node=settings.node, port=port, workers=len(hub.present.workers), seq=hub.present.seq)
        try:
            yield built
        finally:
            tasks.cancel_scope.cancel()


def stations(drivers: Iterable[Driver]) -> "list[TmuxHost]":
    """Where the drivers' interactive agents sit, each place once."""
    found = (getattr(driver, "station", None) for driver in drivers)
    return list(dict.fromkeys(station for station in found if station is not None))


async def open_drivers(tasks: anyio.abc.TaskGroup, drivers: Iterable[Driver], socket: Path) -> None:
    """Starts what drivers keep running for all their workers, and the door at which their hooks knock."""
    everyone = list(dict.fromkeys(drivers))
    places = stations(everyone)
    if places:
        routes: list[BaseRoute] = [route for station in places for route in station.routes()]
        await tasks.start(http.serve, http.application(routes), listen(socket), name="hooks")
    for part in (*places, *everyone):
        run = getattr(part, "run", None)
        if run is not None:
            await tasks.start(run, name=f"driver {getattr(part, 'backend', 'station')}")


async def _prune(journal: SqliteJournal, days: float, clock: Clock) -> None:
    while True:
        await clock.sleep(PRUNE_EVERY_SECONDS)
        try:
            gone = await journal.prune(clock.now() - days * DAY_SECONDS)
            log.info("journal pruned", events=gone)
        except StoreError as error:
            log.error("journal not pruned", error=error.text)


async def hire_demo(hub: LocalHub) -> None:
    """Puts the demo worker on a team that has none, for whoever tries farhand the first time."""
    if not hub.present.workers:
        with suppress(NameTaken):
            await hub.send(Hire(id=f"demo-{hub.present.seq}", worker="demo", backend="demo"), Sender(via="node"))


async def run_until_signal(settings: Settings, drivers: Mapping[str, Driver], channels: Channels) -> None:
    """Runs the node until SIGTERM, SIGINT or SIGHUP; then what is under way is finished, within a limit."""
    # Before the door opens: whoever sees a node may stop it.
    with stop_signals() as signals:
        async with node(settings, drivers, channels) as running:
            if settings.demo:
                await hire_demo(running.hub)
            await first_of(signals)
            await drain(running)


async def drain(running: Node) -> None:
    """Gives channels a moment to send what waits; what does not get out is sent after the next start."""
    with anyio.move_on_after(running.settings.drain_seconds):
        for channel in running.channels:
            finish = getattr(channel, "drain", None)
            if finish is not None:
                await finish()


def set_up_logs(settings: Settings, *, show: bool) -> None:
    """Logs into the node's folder and, unless a conversation is shown there, to standard error."""
    secrets = [settings.telegram.token, settings.telegram.webhook_secret] if settings.telegram else []
    folder.make(settings.folder)
    file = logs.LogFile(settings.folder / compat.LOG_FILE)
    logs.set_up(file, secrets=secrets, verbose=settings.verbose, quiet=settings.quiet, show=show)


def channels(settings: Settings, *, telegram: bool) -> Channels:
    """What builds the channels of a node, once it has a hub."""

    def built(parts: Parts) -> list[Channel]:
        return team_channels(parts, telegram=telegram and settings.telegram is not None)

    return built


def team_channels(parts: Parts, *, telegram: bool) -> list[Channel]:
    """The workers' files and pipes, and Telegram, which know of one another where the manager's chat is."""
    from farhand.channels.files.channel import FilesChannel, FilesOptions

    settings = parts.settings
    chats: list[TelegramChannel] = []
    options = FilesOptions(
        folder=settings.folder,
        sessions=settings.sessions,
        temporary=settings.temporary,
        tmux_prefix=settings.tmux_prefix,
        bridge_url=settings.bridge_url(parts.port),
        terminals=parts.terminals,
    )

    def chat() -> str:
        return chats[0].chat if chats else ""

    async def notify(text: str) -> None:
        for one in chats:
            await one.notify(text)

    files = FilesChannel(options, parts.hub, parts.outbox, parts.clock, chat=chat, notify=notify)
    if not telegram:
        return [files]
    chats.append(telegram_channel(parts, files.places.make_inbox))
    chats[0].learned = files.learned
    return [chats[0], files]


def telegram_channel(parts: Parts, inbox: Callable[[str], Path] | None = None) -> "TelegramChannel":
    """Telegram: over the webhook when the node has a public address, otherwise by polling."""
    from farhand.channels.telegram.channel import TelegramChannel, TelegramOptions

    given = parts.settings.telegram
    if given is None:
        raise SettingMissing("TELEGRAM_BOT_TOKEN not set")
    options = TelegramOptions(
        token=given.token,
        folder=parts.settings.folder,
        api_url=given.api_url,
        admin_chat_id=given.admin_chat_id,
        public_url=given.tunnel_url,
        webhook_secret=given.webhook_secret,
        edit_seconds=given.edit_seconds,
        chat_per_second=given.chat_per_second,
        chat_burst=given.chat_burst,
        per_second=given.per_second,
        answer_seconds=given.answer_seconds,
        poll_seconds=given.poll_seconds,
        version=__version__,
        terminals=parts.terminals,
        steers=parts.steers,
        backends=parts.backends | frozenset(compat.BACKENDS),
        sessions=parts.settings.sessions,
        working_directory=parts.settings.working_directory,
        inbox=inbox,
        pairing=given.pairing,
    )
    return TelegramChannel(options, parts.hub, parts.outbox, parts.clock, parts.announce)


async def run_with_conversation(settings: Settings, drivers: Mapping[str, Driver], channels: Channels) -> None:
    """Runs the node with a conversation in this terminal; leaving it, a signal or a closed terminal stops the node."""
    with stop_signals() as signals:
        async with node(settings, drivers, channels) as running:
            if settings.demo:
                await hire_demo(running.hub)
            await converse(running, signals)
            await drain(running)


async def converse(running: Node, signals: AsyncIterator[signal.Signals]) -> None:
    """A conversation with the team in this terminal, until the person leaves or a signal comes."""
    from farhand.cli.conversation import TerminalConversation
    from farhand.cli.terminal import open_terminal

    environment = running.settings.environment
    with open_terminal(colours="NO_COLOR" not in environment) as terminal:
        terminal.tell(f"Node '{running.settings.node}' is ready on port {running.port}.", "green")
        running.listeners.append(lambda text: terminal.tell(text, "yellow"))
        talk = TerminalConversation(running.hub, terminal, who=environment.get("USER", ""), leaving="stops the node")
        async with anyio.create_task_group() as tasks:

            async def leave() -> None:
                await first_of(signals)
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave, name="signals")
            await talk.run()
            tasks.cancel_scope.cancel()
        terminal.tell(f"Node '{running.settings.node}' stops. Its agents live on; the next run finds them.", "dim")


@contextmanager
def stop_signals() -> Iterator[AsyncIterator[signal.Signals]]:
    """The signals that want the node to stop. One that was to be ignored (nohup) stays ignored."""
    wanted = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    heeded = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    with anyio.open_signal_receiver(*heeded) as signals:
        yield signals


async def first_of(signals: AsyncIterator[signal.Signals]) -> None:
    """Returns at the first signal."""
    number = await anext(signals)
    log.info("node stops", signal=signal.Signals(number).name)

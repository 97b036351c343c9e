"""Builds a node out of its rooms and runs it in one task group."""

import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.abc
import structlog
from starlette.routing import BaseRoute

from farhand import __version__
from farhand.channels.kit.media import is_picture, keep
from farhand.channels.kit.sendable_files import SendableFiles
from farhand.choices import NodeChoices
from farhand.config.launch import launch_of
from farhand.config.settings import Settings
from farhand.core.clock import SystemClock
from farhand.core.deadlines import Deadlines
from farhand.core.decide import HirePolicy
from farhand.core.hub import LocalHub
from farhand.core.retention import Retention
from farhand.core.sessions import AgentSessions
from farhand.core.sprints import Sprints
from farhand.core.team import Team
from farhand.devices.registry import Devices
from farhand.devices.views import DeviceViews
from farhand.disk.atomic import write_private
from farhand.model.channel_ports import Channel, ChannelContext, ServesLocalRoutes, ServesPublicRoutes
from farhand.model.compat import TUNNEL_URL_FILE
from farhand.model.devices import DeviceStore
from farhand.model.driver_ports import HasPanes, HasSandboxes, HasTmuxHost, RunsInBackground, ServesHooks
from farhand.model.errors import NodeRunning, PortTaken
from farhand.model.known_secrets import KnownSecrets, SecretsInUse
from farhand.model.ports import Clock, Driver
from farhand.model.present import Worker
from farhand.model.sandbox import SandboxView
from farhand.model.worker_keys import hiring_of, worker_key
from farhand.node import Node
from farhand.reach.address import TunnelAddress
from farhand.reach.choose import ReachOptions, choose, close_left_behind
from farhand.reach.supervisor import ReachSupervisor
from farhand.roster import asking_events, channel_names, installed_backends
from farhand.sandbox.environment import child_environment
from farhand.server import http
from farhand.server.callers import Callers
from farhand.server.devices import device_routes
from farhand.server.door import Door
from farhand.server.local import RouteGuard, closed
from farhand.server.pane_routes import pane_routes
from farhand.server.socket import socket_routes
from farhand.server.sockets import listen
from farhand.server.speaker import NODE_NAMES
from farhand.server.stream import stream_routes
from farhand.server.uploads import Uploads, upload_routes
from farhand.server.usage_routes import usage_routes
from farhand.server.web_app import web_app_routes
from farhand.server.worker_routes import worker_routes
from farhand.server.worker_sockets import WorkerSockets
from farhand.store import folder
from farhand.store.database import Database
from farhand.store.devices import SqliteDevices
from farhand.store.journal import SqliteJournal
from farhand.store.managers import SqliteManagers
from farhand.store.outbox import SqliteOutbox
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.sprint_tools import LocalSprintTools
from farhand.workdir.workdirs import LocalWorkdirs

log = structlog.get_logger("node")
OTHERS_FOLDERS = "The agents of this node run as another user, whose folders it does not look into."
SANDBOXED = "This worker is in a sandbox, and the node runs nothing outside of it that the worker could have written."
PRUNE_EVERY_SECONDS = 6 * 3600.0

# Builds the channels of a node, once it has a hub.
Channels: TypeAlias = Callable[[ChannelContext], list[Channel]]


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
            launch_of(settings).keep(settings.folder)
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
    listener: socket.socket,
    port: int,
) -> AsyncIterator[Node]:
    journal, outbox = SqliteJournal(database), SqliteOutbox(database)
    with_sessions = frozenset(kind for kind, driver in drivers.items() if driver.can.sessions)
    policy = HirePolicy(
        kinds=frozenset(drivers),
        directory=str(settings.working_directory),
        mode=settings.usual_mode,
        resumable=with_sessions,
        backend=settings.hire_backend,
        no_yolo=settings.no_yolo,
    )
    present = await journal.load()
    epoch = secrets.token_urlsafe(9)
    await journal.begin_epoch(epoch)
    hub = LocalHub(journal, clock, policy, present, AgentSessions(drivers), epoch)
    team = Team(hub, journal, drivers, clock, settings.open_asks)
    views = DeviceViews(clock)
    built = Node(settings=settings, hub=hub, port=port, journal=journal, outbox=outbox, views=views)
    retention = built.retention = Retention(
        journal, hub, clock, built.announce, days=settings.retention_days, megabytes=settings.journal_megabytes
    )
    tunnel = TunnelAddress()
    key, paired = folder.key(settings.key), SqliteDevices(database)
    context = channel_context(built, drivers, clock, SqliteManagers(database), tunnel)
    secrets_now = partial(secrets_in_use, built, key, paired)
    built.channels = channels(replace(context, secrets_in_use=secrets_now))
    deadlines, snapshots = Deadlines(hub, clock), Snapshots(settings.folder / "snapshots", _finder(hub))
    sprints = Sprints(hub, clock, sprint_tools(settings))
    devices = Devices(paired, clock)
    built.devices, callers = devices, Callers(key, devices)
    live = [
        *http.history_routes(hub, callers),
        *usage_routes(callers, lambda days: journal.usage(days, clock.now())),
        *stream_routes(hub, callers, built.views, clock, __version__),
        *socket_routes(hub, callers, built.views, clock, __version__),
        *device_routes(callers),
        *_worker_routes(built, drivers, callers, snapshots, clock, secrets_now),
        *web_app_routes(),
    ]
    app = http.application([*_routes(built, drivers, key, callers), *live])
    sockets = worker_sockets(built, drivers, key)
    async with anyio.create_task_group() as tasks:
        await open_drivers(tasks, drivers.values(), settings.hooks)
        if sockets is not None:
            hub.listen(sockets.hear)
            await tasks.start(sockets.run, lambda: hub.present.workers, name="worker sockets")
        await tasks.start(Door(hub, settings.door, built.status, _reserved(built), devices).serve, name="door")
        await tasks.start(http.serve, app, listener, listen(settings.http_socket), name="http")
        tasks.start_soon(team.run, name="team")
        tasks.start_soon(deadlines.run, name="deadlines")
        tasks.start_soon(sprints.run, name="sprints")
        tasks.start_soon(retention.run, name="retention")
        if settings.agent_user is None:
            hub.listen(snapshots.hear)
            tasks.start_soon(snapshots.run, name="snapshots")
        for channel in built.channels:
            tasks.start_soon(channel.run, name=f"channel {channel.name}")
        tasks.start_soon(keep_reachable, built, tunnel, clock, name="reach")
        log.info("node ready", node=settings.node, port=port, workers=len(hub.present.workers), seq=hub.present.seq)
        try:
            yield built
        finally:
            tasks.cancel_scope.cancel()


def sprint_tools(settings: Settings) -> LocalSprintTools:
    """What sprints do in the folders of workers; those of another user, and of sandboxes, are left alone."""

    def refusal(worker: Worker) -> str:
        if settings.agent_user is not None:
            return OTHERS_FOLDERS
        return SANDBOXED if settings.sandbox.wraps(worker.options) else ""

    return LocalSprintTools(child_environment(settings.environment, {}), refusal)


def secrets_in_use(node: Node, key: str, paired: DeviceStore) -> KnownSecrets:
    """What nobody may be sent: the node's key, what its channels sign in with, the keys of workers and devices."""
    own = dict.fromkeys(node.settings.secrets.values(), "what a channel signs in with")
    workers = {worker_key(key, one.hiring_id): "the key of a worker" for one in node.hub.present.workers.values()}
    return KnownSecrets({**own, **workers, key: "its key"}, paired.digests())


async def keep_reachable(node: Node, address: TunnelAddress, clock: Clock) -> None:
    """Keeps the way in open that the settings want, if there is one; what an earlier run has left is closed first."""
    settings = node.settings
    options = ReachOptions(
        mode=settings.reach,
        folder=settings.folder,
        target=settings.tunnel_target(node.port),
        public_url=settings.public_url,
        tunnel_name=settings.tunnel_name,
        wants_public=any(isinstance(channel, ServesPublicRoutes) for channel in node.channels),
        environment=child_environment(settings.environment, {}),
    )
    way = await choose(options, clock)
    await close_left_behind(options, way)
    if way is not None:
        node.reach = ReachSupervisor(way, address, clock, node.tell_manager)
        await node.reach.run()
    elif settings.public_url:
        write_private(settings.folder / TUNNEL_URL_FILE, settings.public_url)


def channel_context(
    node: Node, drivers: Mapping[str, Driver], clock: Clock, managers: SqliteManagers, tunnel: TunnelAddress
) -> ChannelContext:
    """What the node's channels are built from."""
    settings = node.settings
    return ChannelContext(
        hub=node.hub,
        outbox=node.outbox,
        clock=clock,
        peers=node,
        managers=managers,
        variables={**settings.environment, **settings.secrets},
        version=__version__,
        folder=settings.folder,
        sessions=settings.sessions,
        temporary=settings.temporary,
        working_directory=settings.working_directory,
        tmux_prefix=settings.tmux_prefix,
        port=node.port,
        bridge_url=settings.bridge_url(node.port),
        public_url="" if settings.tunnel_name else settings.public_url,
        tunnel=tunnel,
        terminals=frozenset(name for name, driver in drivers.items() if driver.can.terminal),
        agent_group=settings.agent_user.gid if settings.agent_user else None,
        steers=frozenset(name for name, driver in drivers.items() if driver.can.steer),
        agents=partial(installed_backends, drivers, settings.environment),
        sandbox=sandbox_view(settings),
    )


def sandbox_view(settings: Settings) -> SandboxView | None:
    """What is told of the sandbox that every worker is in; None where that is not so."""
    sandbox, home = settings.sandbox, settings.environment.get("HOME", "")
    return SandboxView(image=sandbox.image, home=home, mounts=sandbox.mounts) if sandbox.enabled else None


def _routes(node: Node, drivers: Mapping[str, Driver], key: str, callers: Callers) -> list[BaseRoute]:
    """What the HTTP listener serves: the node's own routes, those of channels, and those that only callers on this
    machine may use."""
    hosts = tmux_hosts(drivers.values())
    own_key = [route for host in hosts for route in host.open_routes(f"http://127.0.0.1:{node.port}")]

    def whose(backend: str, session: str) -> str:
        return node.hub.present.having(backend, session)

    hooks = [route for host in hosts[:1] for route in host.intake_routes(whose, asking_events())]
    public = [
        one for channel in node.channels if isinstance(channel, ServesPublicRoutes) for one in channel.public_routes()
    ]
    local = [
        one for channel in node.channels if isinstance(channel, ServesLocalRoutes) for one in channel.local_routes()
    ]
    guard = RouteGuard(
        key,
        partial(_worker_of, node, key),
        keyless_tcp=node.settings.keyless_tcp,
        from_containers=node.settings.sandbox.enabled,
    )
    own = http.routes(node.hub, node.status, key, callers, _reserved(node))
    return [*own, *public, *closed([*local, *hooks], guard), *closed(own_key, guard, has_own_key=True)]


def worker_sockets(node: Node, drivers: Mapping[str, Driver], key: str) -> WorkerSockets | None:
    """The sockets of those workers that are in sandboxes, with hooks and the routes of workers behind them."""
    hosts = tmux_hosts(drivers.values())
    sandboxes = next((host.sandboxes for host in hosts if isinstance(host, HasSandboxes)), None)
    if sandboxes is None:
        return None
    known = sandboxes

    def find(hiring: str) -> Worker | None:
        return next((one for one in node.hub.present.workers.values() if one.hiring_id == hiring), None)

    def place(worker: Worker) -> Path | None:
        return known.socket(worker) if known.is_for(worker) else None

    known.join(find, node.port)
    local = [
        one for channel in node.channels if isinstance(channel, ServesLocalRoutes) for one in channel.local_routes()
    ]
    guard = RouteGuard(key, partial(_worker_of, node, key), keyless_tcp=False)
    routes = [*(route for host in hosts for route in host.routes()), *closed(local, guard)]
    return WorkerSockets(http.application(routes), place, partial(worker_key, key), known.clear)


def _finder(hub: LocalHub) -> Callable[[str], Worker | None]:
    """Finds workers on the team as it is at that moment."""

    def find(name: str) -> Worker | None:
        return hub.present.workers.get(name)

    return find


def _worker_routes(
    node: Node,
    drivers: Mapping[str, Driver],
    callers: Callers,
    snapshots: Snapshots,
    clock: Clock,
    secrets_now: SecretsInUse,
) -> list[BaseRoute]:
    """What devices may ask of workers, and the files that they send and get."""
    settings = node.settings
    sendable = SendableFiles(settings.sessions, settings.working_directory, node=settings.folder, secrets=secrets_now)

    def shown(path: str, directory: Path) -> bytes:
        return sendable.read(path, picture=is_picture(path), directory=directory)

    def place(worker: str, name: str, content: bytes) -> Path:
        path = node.inbox(worker) / name
        keep(path, content)
        return path

    hosts = {kind: driver.tmux_host for kind, driver in drivers.items() if isinstance(driver, HasTmuxHost)}
    panes = {kind: host.panes for kind, host in hosts.items() if isinstance(host, HasPanes)}

    folders = LocalWorkdirs(snapshots, OTHERS_FOLDERS if settings.agent_user else "")
    choices, uploads = NodeChoices(node, drivers), Uploads(settings.folder / "uploads", place)
    return [
        *worker_routes(node.hub, callers, choices, folders, shown),
        *upload_routes(node.hub, callers, uploads),
        *pane_routes(node.hub, callers, panes, clock),
    ]


def _worker_of(node: Node, key: str, given: str) -> str:
    """The worker on the team whose own key that is; empty for one that is no key, or whose worker is gone."""
    hiring = hiring_of(given, key)
    workers = node.hub.present.workers.values() if hiring else ()
    return next((worker.name for worker in workers if worker.hiring_id == hiring), "")


def _reserved(node: Node) -> frozenset[str]:
    """The names that only the node's channels speak as, those that are switched off included."""
    return NODE_NAMES.union(channel_names(), (channel.name for channel in node.channels))


def tmux_hosts(drivers: Iterable[Driver]) -> list[ServesHooks]:
    """The tmux hosts of all drivers, each once."""
    return list(dict.fromkeys(driver.tmux_host for driver in drivers if isinstance(driver, HasTmuxHost)))


async def open_drivers(tasks: anyio.abc.TaskGroup, drivers: Iterable[Driver], socket: Path) -> None:
    """Starts what drivers keep running for all their workers, and serves their hooks on that socket."""
    everyone = list(dict.fromkeys(drivers))
    hosts = tmux_hosts(everyone)
    if hosts:
        routes = [route for host in hosts for route in host.routes()]
        await tasks.start(http.serve, http.application(routes), listen(socket), name="hooks")
    for host in hosts:
        await tasks.start(host.run, name="tmux host")
    for driver in everyone:
        if isinstance(driver, RunsInBackground):
            await tasks.start(driver.run, name=f"driver {driver.backend}")

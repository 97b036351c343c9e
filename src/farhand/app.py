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

from farhand import __version__
from farhand.attention.service import Attention
from farhand.config.launch import launch_of
from farhand.config.settings import Settings
from farhand.core.clock import SystemClock
from farhand.core.deadlines import Deadlines
from farhand.core.hub import LocalHub
from farhand.core.merges import Merges
from farhand.core.previews import LivePreviews
from farhand.core.retention import Retention
from farhand.core.reviews import Reviews
from farhand.core.sessions import AgentSessions
from farhand.core.sprints import Sprints
from farhand.core.team import Team
from farhand.devices.passkeys import Passkeys
from farhand.devices.registry import Devices
from farhand.devices.views import DeviceViews
from farhand.disk.atomic import write_private
from farhand.manifests import how_to_sign_in, installed_backends, model_names
from farhand.model.channel_ports import Channel, ChannelContext, ServesPublicRoutes
from farhand.model.compat import TUNNEL_URL_FILE
from farhand.model.devices import DeviceStore
from farhand.model.driver_ports import RunsInBackground, ScreenAnswers
from farhand.model.errors import NodeRunning, PortTaken
from farhand.model.known_secrets import KnownSecrets
from farhand.model.logger import get_logger
from farhand.model.ports import Clock, Driver
from farhand.model.present import Worker
from farhand.model.sandbox import SandboxView
from farhand.model.voice import Transcriber
from farhand.model.worker_keys import worker_key
from farhand.node import Node
from farhand.reach.address import TunnelAddress
from farhand.reach.choose import ReachOptions, choose, close_left_behind
from farhand.reach.supervisor import ReachSupervisor
from farhand.roster import agent_sees, backends_of, hire_policy, seen_in_sandbox, sender_pipes
from farhand.routes import ApiParts, api_routes, listener_routes, reserved_names, tmux_hosts, worker_sockets
from farhand.sandbox.environment import child_environment
from farhand.server import http
from farhand.server.callers import Callers
from farhand.server.connections import ConnectionLimits
from farhand.server.door import Door
from farhand.server.sockets import listen
from farhand.server.stream import LiveNode
from farhand.store import folder
from farhand.store.attention import SqliteAttention, SqlitePush
from farhand.store.database import Database
from farhand.store.devices import SqliteDevices
from farhand.store.journal import SqliteJournal
from farhand.store.managers import SqliteManagers
from farhand.store.outbox import SqliteOutbox
from farhand.store.passkeys import SqlitePasskeys
from farhand.voice.choose import transcriber
from farhand.workdir.review_tools import LocalReviewTools
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.sprint_tools import LocalSprintTools
from farhand.workdir.workdirs import OTHERS_FOLDERS, LocalWorkdirs

log = get_logger("node")
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
    policy = hire_policy(settings, drivers)
    present = await journal.load()
    await journal.begin_epoch(epoch := secrets.token_urlsafe(9))
    hub = LocalHub(journal, clock, policy, present, AgentSessions(drivers), epoch)
    team = Team(hub, journal, drivers, clock, settings.open_asks, how_to_sign_in())
    views = DeviceViews(clock)
    built = Node(settings=settings, hub=hub, port=port, journal=journal, outbox=outbox, drivers=drivers, views=views)
    retention = built.retention = Retention(
        journal, hub, clock, built.announce, days=settings.retention_days, megabytes=settings.journal_megabytes
    )
    tunnel, voice = TunnelAddress(), _transcriber(settings)
    key, paired = folder.key(settings.key), SqliteDevices(database)
    context = channel_context(built, drivers, clock, SqliteManagers(database), tunnel)
    secrets_now = partial(secrets_in_use, built, key, paired)
    devices = Devices(paired, clock)
    attention = built.attention = Attention(hub, SqliteAttention(database), views, clock)
    context = replace(context, secrets_in_use=secrets_now, devices=devices, attention=attention, voice=voice)
    built.channels = channels(replace(context, push=SqlitePush(database)))
    await attention.open(journal, built.channels)
    deadlines, snapshots = Deadlines(hub, clock), _snapshots(settings, hub)
    hub.task_lists = LocalWorkdirs(snapshots, OTHERS_FOLDERS if settings.agent_user else "")
    judging = review_tools(settings, snapshots)
    reviews = Reviews(hub, clock, judging)
    sprints = Sprints(hub, clock, sprint_tools(settings), judging, policy)
    built.devices, callers = devices, Callers(key, devices, plain_http=settings.plain_http)
    shown = {kind: driver for kind, driver in drivers.items() if isinstance(driver, ScreenAnswers)}
    previews = LivePreviews(hub, views, shown)
    wire = LiveNode(hub, clock, previews, views, __version__)
    merges = Merges(hub, judging, gate=settings.review_gate)
    passkeys = Passkeys(SqlitePasskeys(database), clock)
    parts = ApiParts(wire, attention, reviews.refresh, merges.merge, passkeys, snapshots, secrets_now, voice)
    api = api_routes(built, drivers, callers, clock, parts)
    built.routes = [*listener_routes(built, drivers, key, callers), *api]
    app = http.application(built.routes)
    limits = ConnectionLimits()
    sockets = worker_sockets(built, drivers, key, limits)
    async with anyio.create_task_group() as tasks:
        await open_drivers(tasks, drivers.values(), settings.hooks, limits)
        if sockets is not None:
            hub.listen(sockets.hear)
            await tasks.start(sockets.run, lambda: hub.present.workers, name="worker sockets")
        await tasks.start(
            Door(hub, settings.door, built.status, reserved_names(built), devices, attention).serve, name="door"
        )
        serve = partial(http.serve, limits=limits)
        await tasks.start(serve, app, listener, listen(settings.http_socket), name="http")
        if shown:
            hub.listen(previews.hear)
            tasks.start_soon(previews.run, name="previews")
        for part in (team, deadlines, attention, sprints, reviews, retention):
            tasks.start_soon(part.run, name=type(part).__name__.lower())
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


def _transcriber(settings: Settings) -> Transcriber | None:
    return transcriber(settings.voice, settings.folder / "voice", child_environment(settings.own_environment, {}))


def sprint_tools(settings: Settings) -> LocalSprintTools:
    """What sprints do in the folders of workers; those of another user, and of sandboxes, are left alone."""

    def refusal(worker: Worker) -> str:
        if settings.agent_user is not None:
            return OTHERS_FOLDERS
        return SANDBOXED if settings.sandbox.wraps(worker.options) else ""

    return LocalSprintTools(child_environment(settings.environment, {}), refusal)


def review_tools(settings: Settings, snapshots: Snapshots) -> LocalReviewTools:
    """What reviews do in the folders of workers; those of another user are left alone."""
    refusal = OTHERS_FOLDERS if settings.agent_user else ""
    environment = child_environment(settings.environment, {})
    return LocalReviewTools(
        snapshots,
        settings.folder / "reviews",
        environment,
        lambda _: refusal,
        lambda worker: settings.sandbox.wraps(worker.options),
    )


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
        environment=child_environment(settings.own_environment, {}),
    )
    way = await choose(options, clock)
    await close_left_behind(options, way)
    if way is not None:
        node.reach = ReachSupervisor(way, address, clock, node.tell_manager, node.tell_way_in)
        await node.reach.run()
        return
    if settings.public_url:
        write_private(settings.folder / TUNNEL_URL_FILE, settings.public_url)
    node.tell_way_in(settings.public_url)


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
        can=node.can,
        models=partial(_models_of, node, model_names()),
        agents=partial(installed_backends, backends_of(drivers), settings.environment),
        sandbox=sandbox_view(settings),
        sees=partial(agent_sees, settings),
        sender_pipes=partial(sender_pipes, settings),
    )


def _models_of(node: Node, models: Mapping[str, tuple[str, ...]], worker: Worker) -> tuple[str, ...]:
    """The models by name that the worker's agent can change to."""
    return models.get(worker.backend, ()) if node.can(worker).models else ()


def sandbox_view(settings: Settings) -> SandboxView | None:
    """What is told of the sandbox that every worker is in; None where that is not so."""
    sandbox, home = settings.sandbox, settings.environment.get("HOME", "")
    return SandboxView(image=sandbox.image, home=home, mounts=sandbox.mounts) if sandbox.enabled else None


def _snapshots(settings: Settings, hub: LocalHub) -> Snapshots:
    return Snapshots(
        settings.folder / "snapshots", _finder(hub), settings.private_folder, partial(seen_in_sandbox, settings)
    )


def _finder(hub: LocalHub) -> Callable[[str], Worker | None]:
    """Finds workers on the team as it is at that moment."""

    def find(name: str) -> Worker | None:
        return hub.present.workers.get(name)

    return find


async def open_drivers(
    tasks: anyio.abc.TaskGroup, drivers: Iterable[Driver], socket: Path, limits: ConnectionLimits | None = None
) -> None:
    """Starts what drivers keep running for all their workers, and serves their hooks on that socket."""
    everyone = list(dict.fromkeys(drivers))
    hosts = tmux_hosts(everyone)
    if hosts:
        routes = [route for host in hosts for route in host.routes()]
        serve = partial(http.serve, limits=limits)
        await tasks.start(serve, http.application(routes), listen(socket), name="hooks")
    for host in hosts:
        await tasks.start(host.run, name="tmux host")
    for driver in everyone:
        if isinstance(driver, RunsInBackground):
            await tasks.start(driver.run, name=f"driver {driver.backend}")

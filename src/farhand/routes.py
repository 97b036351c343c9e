"""What a node serves over HTTP: the routes of its channels, drivers and workers, and who may call which."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.routing import BaseRoute

from farhand.attention.service import Attention
from farhand.channels.kit.media import is_picture, keep
from farhand.channels.kit.sendable_files import SendableFiles
from farhand.channels.kit.worker_folders import WorkerFolder
from farhand.choices import NodeChoices
from farhand.conversations import conversation_routes, panes_of
from farhand.devices.passkeys import Passkeys
from farhand.manifests import asking_events, channel_names
from farhand.model.channel_ports import Channel, ServesLocalRoutes, ServesPublicRoutes, SignsPeopleIn
from farhand.model.driver_ports import HasSandboxes, HasTmuxHost, ServesHooks
from farhand.model.known_secrets import SecretsInUse
from farhand.model.panes import Panes
from farhand.model.ports import Clock, Driver
from farhand.model.present import Worker
from farhand.model.voice import Transcriber
from farhand.model.worker_keys import SCOPE_WORKER, hiring_of, worker_key
from farhand.node import Node
from farhand.roster import agent_sees
from farhand.sandbox.holders import LocalHolders
from farhand.sandbox.protocol_log import ProtocolLogs
from farhand.server import http
from farhand.server.attention_routes import attention_routes
from farhand.server.callers import Callers
from farhand.server.connections import ConnectionLimits
from farhand.server.devices import device_routes
from farhand.server.local import RouteGuard, closed
from farhand.server.pane_routes import pane_routes
from farhand.server.passkey_routes import passkey_routes
from farhand.server.review_routes import MergeInto, Refresh, review_routes
from farhand.server.socket import socket_routes
from farhand.server.speaker import NODE_NAMES
from farhand.server.stream import LiveNode, stream_routes
from farhand.server.tcp_peer import is_own_user
from farhand.server.uploads import Uploads, upload_routes
from farhand.server.usage_routes import usage_routes
from farhand.server.voice_routes import voice_routes
from farhand.server.web_app import web_app_routes
from farhand.server.worker_routes import worker_routes
from farhand.server.worker_sockets import WorkerSockets
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.workdirs import OTHERS_FOLDERS, LocalWorkdirs


def listener_routes(node: Node, drivers: Mapping[str, Driver], key: str, callers: Callers) -> list[BaseRoute]:
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
    local = local_routes(node.channels)
    sandbox = node.settings.sandbox

    def own_user(client: tuple[str, int], server: tuple[str, int | None] | None) -> bool:
        sandboxed = any(sandbox.wraps(worker.options) for worker in node.hub.present.workers.values())
        return is_own_user(client, server, among_sandboxes=sandboxed)

    guard = RouteGuard(
        key,
        partial(_worker_of, node, key),
        keyless_tcp=node.settings.keyless_tcp,
        from_containers=sandbox.enabled,
        own_user=own_user,
    )
    # Who may know how many work here needs no key for that, whatever else does.
    anyones = replace(guard, keyless_tcp=True)

    def is_local(request: Request) -> bool:
        return not anyones.why_refused(request, has_own_key=False) and SCOPE_WORKER not in request.scope

    own = http.routes(node.hub, node.status, callers, node.inbox, is_local, reserved_names(node))
    return [*own, *public, *closed([*local, *hooks], guard), *closed(own_key, guard, has_own_key=True)]


@dataclass(frozen=True)
class ApiParts:
    """What the API serves beside the hub."""

    wire: LiveNode
    attention: Attention
    refresh_review: Refresh
    merge: MergeInto
    passkeys: Passkeys
    snapshots: Snapshots
    secrets_now: SecretsInUse
    voice: Transcriber | None


def api_routes(
    node: Node, drivers: Mapping[str, Driver], callers: Callers, clock: Clock, parts: ApiParts
) -> list[BaseRoute]:
    """What devices call, and programs with the node's key; and the files of the phone app."""
    return [
        *http.history_routes(node.hub, callers),
        *usage_routes(callers, lambda days: node.journal.usage(days, clock.now()), node.hub),
        *voice_routes(callers, parts.voice),
        *stream_routes(parts.wire, callers),
        *socket_routes(parts.wire, callers),
        *device_routes(callers, vouchers(node.channels)),
        *passkey_routes(callers, parts.passkeys),
        *review_routes(node.hub, callers, parts.refresh_review, parts.merge),
        *attention_routes(callers, parts.attention, node.push, clock),
        *routes_of_workers(node, drivers, callers, parts.snapshots, clock, parts.secrets_now),
        *conversation_routes(node, drivers, callers, clock),
        *web_app_routes(),
    ]


def worker_sockets(
    node: Node, drivers: Mapping[str, Driver], key: str, limits: ConnectionLimits
) -> WorkerSockets | None:
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
    local = local_routes(node.channels)
    guard = RouteGuard(key, partial(_worker_of, node, key), keyless_tcp=False)
    routes = [*(route for host in hosts for route in host.routes()), *closed(local, guard)]
    return WorkerSockets(http.application(routes), place, partial(worker_key, key), known.clear, limits)


def routes_of_workers(
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

    def shown(path: str, worker: Worker) -> bytes:
        folder = WorkerFolder(Path(worker.directory), partial(agent_sees, settings, worker))
        return sendable.read(path, picture=is_picture(path), folder=folder)

    def place(worker: str, name: str, content: bytes) -> Path:
        path = node.inbox(worker) / name
        keep(path, content)
        return path

    # Agents without a terminal have their wire to look at.
    logs = ProtocolLogs(LocalHolders(settings.holders), secrets_now)
    panes: dict[str, Panes] = {**dict.fromkeys(drivers, logs), **panes_of(drivers)}
    folders = LocalWorkdirs(snapshots, OTHERS_FOLDERS if settings.agent_user else "")
    choices, uploads = NodeChoices(node, drivers), Uploads(settings.folder / "uploads", place)
    return [
        *worker_routes(node.hub, callers, choices, folders, shown, secrets_now),
        *upload_routes(node.hub, callers, uploads),
        *pane_routes(node.hub, callers, panes, clock),
    ]


def local_routes(channels: Iterable[Channel]) -> list[BaseRoute]:
    """What channels serve to callers on this machine."""
    return [one for channel in channels if isinstance(channel, ServesLocalRoutes) for one in channel.local_routes()]


def vouchers(channels: Iterable[Channel]) -> dict[str, Callable[[str], str]]:
    """The channels whose own apps vouch for who opened a page in them."""
    return {channel.name: channel.signed_in for channel in channels if isinstance(channel, SignsPeopleIn)}


def _worker_of(node: Node, key: str, given: str) -> str:
    """The worker on the team whose own key that is; empty for one that is no key, or whose worker is gone."""
    hiring = hiring_of(given, key)
    workers = node.hub.present.workers.values() if hiring else ()
    return next((worker.name for worker in workers if worker.hiring_id == hiring), "")


def reserved_names(node: Node) -> frozenset[str]:
    """The names that only the node's channels speak as, those that are switched off included."""
    return NODE_NAMES.union(channel_names(), (channel.name for channel in node.channels))


def tmux_hosts(drivers: Iterable[Driver]) -> list[ServesHooks]:
    """The tmux hosts of all drivers, each once."""
    return list(dict.fromkeys(driver.tmux_host for driver in drivers if isinstance(driver, HasTmuxHost)))

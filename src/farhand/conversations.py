"""Builds the remote control of a node's workers: their conversations over HTTP, for whoever has a key."""

import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.routing import BaseRoute

from farhand.channels.kit.media import keep
from farhand.model.driver_ports import HasPanes, HasTmuxHost
from farhand.model.live_session import SessionTerminal
from farhand.model.panes import DrivesTerminals, Panes
from farhand.model.ports import Clock, Driver
from farhand.model.present import Worker
from farhand.model.words import Sender
from farhand.model.worker_keys import VIA_KEY
from farhand.node import Node
from farhand.remote.routes import OpenedSession, routes
from farhand.remote.worker_sessions import WorkerSessions
from farhand.server.callers import Callers, until_revoked


def conversation_routes(node: Node, drivers: Mapping[str, Driver], callers: Callers, clock: Clock) -> list[BaseRoute]:
    """The remote control of each worker below `/workers/<name>`, for the node's key and for devices."""
    panes = panes_of(drivers)

    def terminal(worker: Worker) -> SessionTerminal | None:
        found = panes.get(worker.kind)
        return found.terminal(worker) if isinstance(found, DrivesTerminals) else None

    sessions = WorkerSessions(node.hub, clock.now, terminal)
    node.hub.listen(sessions.hear)

    async def opened(request: Request, writes: bool) -> OpenedSession:
        caller, name = await callers.check(request, writes=writes), request.path_params["worker"]
        device = caller.device
        sender = Sender(via=VIA_KEY) if device is None else Sender(via=device.via, who=device.name)
        session = await sessions.session(name, sender)

        def keep_upload(file: str, content: bytes) -> Path:
            path = node.inbox(name) / f"{secrets.token_hex(6)}-{file}"
            keep(path, content)
            return path

        return OpenedSession(session, True, keep_upload, partial(until_revoked, callers.devices, caller))

    return routes(opened, "/workers/{worker}")


def panes_of(drivers: Mapping[str, Driver]) -> dict[str, Panes]:
    """The terminals of workers, by the kinds that have one."""
    hosts = {kind: driver.tmux_host for kind, driver in drivers.items() if isinstance(driver, HasTmuxHost)}
    return {kind: host.panes for kind, host in (*hosts.items(), *drivers.items()) if isinstance(host, HasPanes)}

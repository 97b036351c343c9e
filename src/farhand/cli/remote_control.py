"""Serves the remote control of a conversation beside it, on loopback alone, for as long as the conversation is open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from farhand.model.compat import REMOTE_PORT_VARIABLES
from farhand.model.errors import SettingWrong
from farhand.model.variables import port_number

if TYPE_CHECKING:
    from farhand.model.action import Action
    from farhand.remote.routes import SessionOf

LOOPBACK = "127.0.0.1"


def remote_port(flag: str | None, environ: Mapping[str, str], flag_name: str = "--remote-port") -> int | None:
    """Where the remote control is to listen: the flag, then the document's variables; None when nobody wants it."""
    named = {name: environ.get(name, "").strip() for name in REMOTE_PORT_VARIABLES}
    name, text = next(((name, text) for name, text in named.items() if text), ("", ""))
    given = flag if flag is not None else text
    if not given:
        return None
    try:
        return port_number(given)
    except SettingWrong:
        told = flag_name if flag is not None else name
        raise SettingWrong(f"{told} is a number from 0 to 65535, not '{given[:40]}'.", name=told) from None


def own_user(client: tuple[str, int], server: tuple[str, int | None] | None) -> bool:
    """Whether a program of this user calls. Nobody knows here which node has workers in a sandbox: one that shares the
    network is never taken for the person."""
    from farhand.server.tcp_peer import is_own_user

    return is_own_user(client, server, among_sandboxes=True)


@asynccontextmanager
async def remote_control(session_of: SessionOf, port: int, uploads: Path, key: str = "") -> AsyncIterator[int]:
    """The API on that port of this machine; raises PortTaken. Requests that are open when it closes are cut."""
    # Loaded for those alone who want it: it is a good part of a start.
    from farhand.remote.routes import application
    from farhand.server import http

    listener = http.bind(LOOPBACK, port)
    try:
        async with anyio.create_task_group() as tasks:
            await tasks.start(http.serve, application(session_of, uploads, key, own_user), listener)
            yield int(listener.getsockname()[1])
            tasks.cancel_scope.cancel()
    finally:
        listener.close()


def sdk_action(tool: str, arguments: Mapping[str, Any]) -> Action:
    """What a call of a tool would do, as the drivers read it."""
    from farhand.drivers.wires.asks.actions import action_of
    from farhand.drivers.wires.foreign_json import Fields

    return action_of(tool, Fields(dict(arguments)))

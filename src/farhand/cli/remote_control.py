"""Serves the remote control of a conversation beside it, on loopback alone, for as long as the conversation is open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from farhand.config.settings import port_number
from farhand.drivers.wires.asks.actions import action_of
from farhand.drivers.wires.foreign_json import Fields
from farhand.model.action import Action
from farhand.model.compat import REMOTE_PORT_VARIABLES
from farhand.model.errors import SettingWrong
from farhand.remote.routes import SessionOf, application
from farhand.server import http
from farhand.server.tcp_peer import is_own_user

LOOPBACK = "127.0.0.1"


def remote_port(flag: str | None, environ: Mapping[str, str]) -> int | None:
    """Where the remote control is to listen: the flag, then the document's variables; None when nobody wants it."""
    named = {name: environ.get(name, "").strip() for name in REMOTE_PORT_VARIABLES}
    name, text = next(((name, text) for name, text in named.items() if text), ("", ""))
    given = flag if flag is not None else text
    if not given:
        return None
    try:
        return port_number(given)
    except SettingWrong:
        told = "--remote-port" if flag is not None else name
        raise SettingWrong(f"{told} is a number from 0 to 65535, not '{given[:40]}'.", name=told) from None


@asynccontextmanager
async def remote_control(session_of: SessionOf, port: int, uploads: Path, key: str = "") -> AsyncIterator[int]:
    """The API on that port of this machine; raises PortTaken. Requests that are open when it closes are cut."""
    listener = http.bind(LOOPBACK, port)
    try:
        async with anyio.create_task_group() as tasks:
            await tasks.start(http.serve, application(session_of, uploads, key, is_own_user), listener)
            yield int(listener.getsockname()[1])
            tasks.cancel_scope.cancel()
    finally:
        listener.close()


def sdk_action(tool: str, arguments: Mapping[str, Any]) -> Action:
    """What a call of a tool would do, as the drivers read it."""
    return action_of(tool, Fields(dict(arguments)))

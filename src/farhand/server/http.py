"""The node's HTTP listener: health for anybody, the hub for whoever holds the node's key."""

import errno
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.abc
import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from farhand.model import compat, frames
from farhand.model.body_limits import read_bounded
from farhand.model.errors import (
    BadInput,
    EventsGone,
    FarhandError,
    NotAllowed,
    NotTranscribed,
    PortTaken,
    StoreError,
    TooBusy,
    TooLarge,
    TooManyTries,
    UploadConflict,
)
from farhand.model.frames import DoorReply
from farhand.model.wire import decode_command, encode, error_fields
from farhand.model.words import Sender
from farhand.model.worker_keys import VIA_KEY
from farhand.server.acceptor import Acceptor
from farhand.server.callers import Callers, until_revoked
from farhand.server.connections import ConnectionLimits, GuardedProtocol
from farhand.server.device_commands import Inbox, check_device_command
from farhand.server.door import OpenHub
from farhand.server.local import CONNECTION, CUT_UNREAD
from farhand.server.speaker import own_name

# What a client sends over a WebSocket: where it was, and what it looks at.
LONGEST_SOCKET_FRAME = 64 * 1024
NO_RIGHTS = "below 1024 a port needs more rights: --port 8080"
NO_ADDRESS = "FARHAND_HOST says on which address of this machine the node listens"
STATUSES: dict[type[FarhandError], int] = {
    NotAllowed: 403,
    UploadConflict: 409,
    NotTranscribed: 502,
    TooLarge: 413,
    TooManyTries: 429,
    TooBusy: 503,
    StoreError: 503,
}


def routes(
    hub: OpenHub,
    status: Callable[[], dict[str, Any]],
    callers: Callers,
    inbox: Inbox,
    is_local: Callable[[Request], bool],
    reserved: frozenset[str] = frozenset(),
) -> list[BaseRoute]:
    """The hub over HTTP: `POST /api/hub/commands`, and to read `/events`, `/present`, `/status`, `/sessions`;
    `GET /healthz` for anybody."""

    async def banner(_: Request) -> Response:
        return PlainTextResponse(compat.BANNER)

    async def healthz(request: Request) -> Response:
        if not is_local(request):
            # How many work here is nobody's business out there, nor in a sandbox.
            return JSONResponse({"ok": True})
        present = await hub.look()
        return JSONResponse({"ok": True, "seq": present.seq, "workers": len(present.workers)})

    async def send(request: Request) -> Response:
        await callers.check(request, writes=True)
        command = decode_command(await body(request))
        # It may have been revoked while it sent the rest.
        caller = await callers.check(request, writes=True)
        if caller.device is None:
            sender = Sender(via=own_name(request.headers.get("x-farhand-via", VIA_KEY), reserved))
        else:
            check_device_command(command, await hub.look(), inbox)
            sender = caller.sender
        accepted = await hub.send(command, sender)
        return json_response(frames.DoorReply(accepted=accepted))

    async def look(request: Request) -> Response:
        await callers.check(request)
        return json_response(DoorReply(present=await hub.look()))

    async def read_status(request: Request) -> Response:
        await callers.check(request)
        return json_response(DoorReply(status=status()))

    async def sessions(request: Request) -> Response:
        await callers.check(request)
        asked = request.query_params
        found = await hub.sessions(asked.get("backend", ""), asked.get("directory", ""))
        return json_response(DoorReply(sessions=found))

    async def watch(request: Request) -> Response:
        caller = await callers.check(request)
        after = number(request.query_params.get("after"), "after")
        if after is None:
            after = (await hub.look()).seq
        await hub.check_after(after)
        events = until_revoked(callers.devices, caller, lines(hub, after))
        return StreamingResponse(events, media_type="application/x-ndjson")

    return [
        Route("/", banner, methods=["GET"]),
        Route("/healthz", healthz),
        Route("/api/hub/commands", send, methods=["POST"]),
        Route("/api/hub/present", look),
        Route("/api/hub/status", read_status),
        Route("/api/hub/sessions", sessions),
        Route("/api/hub/events", watch),
    ]


def history_routes(hub: OpenHub, callers: Callers) -> list[BaseRoute]:
    """The past over HTTP: `GET /api/hub/history` and `/search`, and what was said in a conversation at the desk."""

    async def history(request: Request) -> Response:
        await callers.check(request)
        asked = request.query_params
        before, limit = number(asked.get("before"), "before"), number(asked.get("limit"), "limit")
        page = await hub.history(asked.get("worker", ""), before, 60 if limit is None else limit)
        return json_response(DoorReply(history=page))

    async def search(request: Request) -> Response:
        await callers.check(request)
        asked = request.query_params
        limit = number(asked.get("limit"), "limit")
        found = await hub.search(asked.get("query", ""), asked.get("worker", ""), 50 if limit is None else limit)
        return json_response(DoorReply(found=found))

    async def messages(request: Request) -> Response:
        await callers.check(request)
        asked, session = request.query_params, request.path_params
        before, limit = number(asked.get("before"), "before"), number(asked.get("limit"), "limit")
        page = await hub.messages(session["backend"], session["session"], before, 60 if limit is None else limit)
        return json_response(DoorReply(history=page))

    return [
        Route("/api/hub/history", history),
        Route("/api/hub/search", search),
        Route("/api/hub/sessions/{backend}/{session}", messages),
    ]


async def lines(hub: OpenHub, after: int) -> AsyncIterator[bytes]:
    """Events as lines (NDJSON); the first one is empty and confirms the subscription. Where what follows is kept no
    more, the last line says so."""
    yield b"\n"
    try:
        async for bodies in hub.bodies(after):
            if bodies:
                yield b"\n".join(bodies) + b"\n"
    except EventsGone as gone:
        yield encode({"error": error_fields(gone)}) + b"\n"


async def body(request: Request) -> bytes:
    """The body, or TooLarge as soon as it is."""
    return await read_bounded(request.stream(), frames.LONGEST)


def number(text: str | None, name: str) -> int | None:
    """The whole number that a query has under that name; None where it has none."""
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadInput(f"'{name}' takes a whole number, not '{text[:40]}'.")
    return int(text)


def json_response(reply: DoorReply) -> Response:
    """A reply as a response."""
    return Response(encode(reply), media_type="application/json")


async def error_response(_: HTTPConnection, error: Exception) -> Response:
    """An error of our tree as a response."""
    if not isinstance(error, FarhandError):
        raise error
    code = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
    return JSONResponse({"error": error_fields(error)}, status_code=code)


def application(parts: list[BaseRoute]) -> Starlette:
    """The ASGI application of a node, made of the routes that rooms handed in."""
    made = Starlette(routes=parts, exception_handlers={FarhandError: error_response})
    # A redirection would lead to whatever name a stranger put into the Host.
    made.router.redirect_slashes = False
    return made


def bind(host: str, port: int) -> socket.socket:
    """The listening socket, or a sentence that says how to go on."""
    # Named as TCP, for otherwise asyncio leaves Nagle on and every answer is 40 ms late.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(f"Port {port} is already in use", port=port) from None
        hint = NO_RIGHTS if error.errno == errno.EACCES else NO_ADDRESS
        raise PortTaken(f"Port {port} of {host} cannot be used: {error.strerror}", hints=(hint,), port=port) from None
    listener.listen(128)
    listener.setblocking(False)
    return listener


async def serve(
    app: ASGIApp,
    *listeners: socket.socket,
    limits: ConnectionLimits | None = None,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serves until it is cancelled; open streams are cut then, their readers come back with `after`.

    Uvicorn's protocol without its server loop, which would tick ten times a second for nothing."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        # A connection brings its own class when it is asked to become a WebSocket.
        ws="none",
        ws_max_size=LONGEST_SOCKET_FRAME,
        # Most frames are small, and a tunnel compresses: it would cost a core more than it saves a phone.
        ws_per_message_deflate=False,
    )
    config.load()
    state = ServerState()
    given = limits or ConnectionLimits()

    def protocol(address: str, received: bytes) -> GuardedProtocol:
        own: dict[str, Any] = {CONNECTION: {}}
        made = GuardedProtocol(given, address, received, config=config, server_state=state, app_state=own)
        own[CONNECTION][CUT_UNREAD] = made.cut_unread
        return made

    def close_left(_: object) -> None:
        # A request that is cancelled before its first step answers nothing, and nobody else closes its connection.
        for connection in () if state.tasks else tuple(state.connections):
            connection.transport.close()

    acceptors = [Acceptor(listener, given, protocol) for listener in listeners]
    try:
        for acceptor in acceptors:
            acceptor.open()
        task_status.started()
        await anyio.sleep_forever()
    finally:
        for acceptor in acceptors:
            acceptor.close()
        for connection in list(state.connections):
            connection.shutdown()
        for task in list(state.tasks):
            task.add_done_callback(close_left)
            task.cancel()

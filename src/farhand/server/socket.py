"""The live wire `farhand.1` over a WebSocket: the same frames as the stream, and frames from the client as well."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import anyio
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from farhand.model import stream
from farhand.model.devices import ViewRegistry
from farhand.model.errors import BadFrame, FarhandError, NotAllowed
from farhand.model.http_guard import is_same_site
from farhand.model.ports import Clock
from farhand.model.stream import Looking, Opening
from farhand.server.callers import Caller, Callers, until_revoked
from farhand.server.door import OpenHub
from farhand.server.http import error_response
from farhand.server.stream import frames

OPENING_SECONDS = 10.0
# What ends a socket, as its close frame says.
REFUSED, GONE = 1008, 1001


def socket_routes(hub: OpenHub, callers: Callers, views: ViewRegistry, clock: Clock, build: str) -> list[BaseRoute]:
    """`/api/hub/socket` for devices, and for whoever has the node's key."""

    async def follow(socket: WebSocket) -> None:
        try:
            caller = await _checked(socket, callers)
        except FarhandError as error:
            await socket.send_denial_response(await error_response(socket, error))
            return
        offered = stream.PROTOCOL in socket.scope.get("subprotocols", ())
        await socket.accept(subprotocol=stream.PROTOCOL if offered else None)
        try:
            opening = await _opening(socket)
            with views.connected(caller.device.id if caller.device else "") as looks:
                looks(opening.view)
                pieces = _pieces(hub, opening, clock, build)
                async with aclosing(until_revoked(callers.devices, caller, pieces)) as allowed:
                    await _serve(socket, allowed, looks)
        except WebSocketDisconnect:
            return
        except BadFrame as error:
            await socket.close(REFUSED, error.text[:100])

    return [WebSocketRoute("/api/hub/socket", follow)]


async def _checked(socket: WebSocket, callers: Callers) -> Caller:
    """Who opens the socket. A page of another site may not, whatever it brings along: browsers let it try."""
    if not is_same_site(socket.headers):
        raise NotAllowed("Another site's page cannot open this.")
    return await callers.check(socket)


async def _opening(socket: WebSocket) -> Opening:
    with anyio.move_on_after(OPENING_SECONDS):
        return stream.read_opening(await _received(socket))
    raise BadFrame("No opening came.")


async def _received(socket: WebSocket) -> bytes:
    """The next frame of the client, as text or as bytes."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", GONE))
    text: str | None = message.get("text")
    return text.encode() if text is not None else message.get("bytes") or b""


async def _pieces(hub: OpenHub, opening: Opening, clock: Clock, build: str) -> AsyncIterator[bytes]:
    async with aclosing(frames(hub, opening, clock, build)) as numbered:
        async for frame, _ in numbered:
            yield frame


async def _serve(socket: WebSocket, pieces: AsyncIterator[bytes], looks: Callable[[Looking | None], None]) -> None:
    """Sends frames and takes the client's, until one side ends."""
    problem: list[BadFrame] = []

    async def listen() -> None:
        try:
            while True:
                looks(stream.read_view(await _received(socket)))
        except WebSocketDisconnect:
            pass
        except BadFrame as error:
            problem.append(error)
        tasks.cancel_scope.cancel()

    ended = False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        async for frame in pieces:
            await socket.send_text(frame.decode())
        # Its device was revoked.
        ended = True
        tasks.cancel_scope.cancel()
    if problem:
        raise problem[0]
    if ended:
        await socket.close(REFUSED, "This device was revoked.")

"""The live wire `farhand.1` over a WebSocket: the same frames as the stream, and frames from the client as well."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from functools import partial

import anyio
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from farhand.model import stream
from farhand.model.devices import DeviceId
from farhand.model.errors import BadFrame, EventsGone, FarhandError, NotAllowed
from farhand.model.http_guard import is_same_site
from farhand.model.stream import Looking, Opening
from farhand.model.words import Seq
from farhand.server.callers import Caller, Callers
from farhand.server.http import error_response
from farhand.server.stream import LiveNode, frames

OPENING_SECONDS = 10.0
# What ends a socket, as its close frame says.
REFUSED, GONE = 1008, 1001
REVOKED = "This device was revoked."


def socket_routes(node: LiveNode, callers: Callers) -> list[BaseRoute]:
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
            device, name = (caller.device.id, caller.device.name) if caller.device else ("", "")
            with (
                node.views.connected(device, name, answers=caller.may_act) as looks,
                callers.admitted(caller) as revoked,
            ):
                looks(opening.view)
                async with aclosing(frames(node, opening, device)) as sent:
                    await _serve(socket, sent, looks, revoked, partial(_is_known, callers, device))
        except WebSocketDisconnect:
            return
        except BadFrame as error:
            await socket.close(REFUSED, error.text[:100])
        except EventsGone as error:
            # The client comes back and is told of the gap.
            await socket.close(GONE, error.text[:100])

    return [WebSocketRoute("/api/hub/socket", follow)]


async def _checked(socket: WebSocket, callers: Callers) -> Caller:
    """Who opens the socket. A page of another site may not, whatever it brings along: browsers let it try."""
    if not is_same_site(socket.headers):
        raise NotAllowed("Another site's page cannot open this.")
    return await callers.check(socket)


async def _is_known(callers: Callers, device: DeviceId) -> bool:
    return any(one.id == device for one in await callers.devices.all())


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


async def _serve(
    socket: WebSocket,
    pieces: AsyncIterator[tuple[bytes, Seq | None]],
    looks: Callable[[Looking | None], None],
    revoked: asyncio.Event,
    still_known: Callable[[], Awaitable[bool]],
) -> None:
    """Sends frames and takes the client's, until one side ends or the device is revoked."""
    problem: list[BadFrame | EventsGone] = []

    async def listen() -> None:
        try:
            while True:
                looks(stream.read_view(await _received(socket)))
        except WebSocketDisconnect:
            pass
        except BadFrame as error:
            problem.append(error)
        tasks.cancel_scope.cancel()

    async def end_with_device() -> None:
        await revoked.wait()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        tasks.start_soon(end_with_device)
        try:
            async for frame, _ in pieces:
                if revoked.is_set():
                    break
                await socket.send_text(frame.decode())
        except EventsGone as gone:
            problem.append(gone)
        tasks.cancel_scope.cancel()
    if problem:
        raise problem[0]
    if revoked.is_set():
        # Those that make room for newer ones may come back.
        known = await still_known()
        await socket.close(*((GONE, "Too many connections of this device.") if known else (REFUSED, REVOKED)))

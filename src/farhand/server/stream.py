"""The live wire `farhand.1` as server-sent events: over GET, and over POST where a tunnel holds back a GET."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from farhand.model import stream
from farhand.model.devices import ViewRegistry
from farhand.model.ports import Clock
from farhand.model.stream import Opening
from farhand.model.words import Seq
from farhand.server.callers import Caller, Callers, until_revoked
from farhand.server.door import OpenHub
from farhand.server.http import body
from farhand.server.session_frames import session_frames

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def stream_routes(hub: OpenHub, callers: Callers, views: ViewRegistry, clock: Clock, build: str) -> list[BaseRoute]:
    """`/api/hub/stream` for devices, and for whoever has the node's key; `/api/hub/view` for what is looked at."""

    async def follow(request: Request) -> Response:
        caller = await callers.check(request)
        if request.method == "POST":
            opening = stream.read_opening(await body(request))
        else:
            resume = stream.read_event_id(request.headers.get("last-event-id", ""))
            wanted = request.query_params.get("names")
            opening = Opening(resume=resume, names="session" if wanted == "session" else "facts")
        pieces = _viewed(views, _name(caller), opening, _sse(hub, opening, clock, build))
        events = until_revoked(callers.devices, caller, pieces)
        return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)

    async def look(request: Request) -> Response:
        await callers.check(request)
        view = stream.read_view(await body(request))
        views.tell(_name(await callers.check(request)), view)
        return Response(status_code=204)

    return [
        Route("/api/hub/stream", follow, methods=["GET", "POST"]),
        Route("/api/hub/view", look, methods=["POST"]),
    ]


def _name(caller: Caller) -> str:
    return caller.device.id if caller.device else ""


async def _viewed(
    views: ViewRegistry, device: str, opening: Opening, pieces: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """The pieces of a stream; while it is open, its device looks at what it last told."""
    with views.connected(device) as looks:
        looks(opening.view)
        async for piece in pieces:
            yield piece


async def _sse(hub: OpenHub, opening: Opening, clock: Clock, build: str) -> AsyncIterator[bytes]:
    journal = (await hub.hello(None)).journal.encode()
    async for frame, seq in frames(hub, opening, clock, build):
        name = b"id: %s:%d\n" % (journal, seq) if seq is not None else b""
        yield name + b"data: " + frame + b"\n\n"


async def frames(hub: OpenHub, opening: Opening, clock: Clock, build: str) -> AsyncGenerator[tuple[bytes, Seq | None]]:
    """Every frame that a client gets after its opening, with the number of the last event in it if it has events."""
    hello = await hub.hello(opening.resume)
    yield stream.hello_frame(hello, build), None
    whole = opening.resume if hello.resume == "whole" else None
    pieces = hub.bodies(whole.after if whole else hello.seq)
    coming: asyncio.Future[list[bytes]] = asyncio.ensure_future(anext(pieces))
    heartbeat: asyncio.Future[None] = asyncio.ensure_future(clock.sleep(stream.HEARTBEAT_SECONDS))
    waits: tuple[asyncio.Future[list[bytes]] | asyncio.Future[None], ...]
    try:
        while True:
            waits = (coming, heartbeat)
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if heartbeat.done():
                yield stream.now_frame(clock.now()), None
                heartbeat = asyncio.ensure_future(clock.sleep(stream.HEARTBEAT_SECONDS))
            if coming.done():
                if opening.names == "session":
                    async for frame, seq in session_frames(hub, coming.result()):
                        yield frame, seq
                else:
                    for frame, seq in stream.event_frames(coming.result()):
                        yield frame, seq
                # What comes meanwhile goes in one frame.
                await anyio.sleep(stream.BATCH_SECONDS)
                coming = asyncio.ensure_future(anext(pieces))
    finally:
        coming.cancel()
        heartbeat.cancel()

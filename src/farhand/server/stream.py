"""The live wire `farhand.1` as server-sent events: over GET, and over POST where a tunnel holds back a GET."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from farhand.model import stream
from farhand.model.devices import DeviceId, ViewRegistry
from farhand.model.errors import EventsGone
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.previews import Previews, TextPreview
from farhand.model.stream import Opening
from farhand.model.words import Seq
from farhand.server.callers import Caller, Callers, until_revoked
from farhand.server.door import OpenHub
from farhand.server.http import body
from farhand.server.session_frames import session_frames, session_preview

log = get_logger("stream")


@dataclass(frozen=True)
class LiveNode:
    """What the live wire tells of, on either transport."""

    hub: OpenHub
    clock: Clock
    previews: Previews
    views: ViewRegistry
    # The version that the node runs.
    build: str


_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def stream_routes(node: LiveNode, callers: Callers) -> list[BaseRoute]:
    """`/api/hub/stream` for devices, and for whoever has the node's key; `/api/hub/view` for what is looked at."""

    async def follow(request: Request) -> Response:
        caller = await callers.check(request)
        if request.method == "POST":
            opening = stream.read_opening(await body(request))
        else:
            resume = stream.read_event_id(request.headers.get("last-event-id", ""))
            wanted = request.query_params.get("names")
            opening = Opening(resume=resume, names="session" if wanted == "session" else "facts")
        pieces = _viewed(node.views, caller, opening, _sse(node, opening, _name(caller)))
        events = until_revoked(callers.devices, caller, pieces)
        return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)

    async def look(request: Request) -> Response:
        await callers.check(request)
        view = stream.read_view(await body(request))
        node.views.tell(_name(await callers.check(request)), view)
        return Response(status_code=204)

    return [
        Route("/api/hub/stream", follow, methods=["GET", "POST"]),
        Route("/api/hub/view", look, methods=["POST"]),
    ]


def _name(caller: Caller) -> str:
    return caller.device.id if caller.device else ""


async def _viewed(
    views: ViewRegistry, caller: Caller, opening: Opening, pieces: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """The pieces of a stream; while it is open, its device looks at what it last told."""
    name = caller.device.name if caller.device else ""
    with views.connected(_name(caller), name, answers=caller.may_act) as looks:
        looks(opening.view)
        async for piece in pieces:
            yield piece


async def _sse(node: LiveNode, opening: Opening, device: DeviceId) -> AsyncIterator[bytes]:
    journal = (await node.hub.hello(None)).journal.encode()
    try:
        async for frame, seq in frames(node, opening, device):
            name = b"id: %s:%d\n" % (journal, seq) if seq is not None else b""
            yield name + b"data: " + frame + b"\n\n"
    except EventsGone as gone:
        # The client comes back and is told of the gap.
        log.info("a reader fell behind what is kept", **gone.details)


async def frames(node: LiveNode, opening: Opening, device: DeviceId = "") -> AsyncGenerator[tuple[bytes, Seq | None]]:
    """Every frame that a client gets after its opening, with the number of the last event in it if it has events.

    Raises EventsGone when the client has fallen behind what is kept: the connection ends then."""
    hub, clock, previewed = node.hub, node.clock, 0
    others: tuple[stream.DevicePresence, ...] = ()
    looked = -1
    hello = await hub.hello(opening.resume)
    yield stream.hello_frame(hello, node.build), None
    position = opening.resume.after if opening.resume and hello.resume == "whole" else hello.seq
    await hub.check_after(position)
    # One event for all reasons to send: a fact that was written is on the wire one turn of the loop later.
    woken, beats = asyncio.Event(), Heartbeats()
    heartbeat = asyncio.ensure_future(beats.run(clock, woken.set))
    try:
        with hub.calling(woken.set), node.previews.calling(woken.set), node.views.calling(woken.set):
            while True:
                woken.clear()
                beat = beats.take()
                if beat:
                    yield stream.now_frame(clock.now()), None
                if opening.names == "facts" and (beat or looked != node.views.version):
                    looked, before_others, others = node.views.version, others, node.views.others(device)
                    if others != before_others:
                        yield stream.presence_frame(clock.now(), others), None
                before = position
                bodies, position = await hub.bodies_after(position)
                previews, previewed = node.previews.since(previewed)
                for preview in previews:
                    yield _preview(opening, clock.now(), preview, before), None
                if not bodies:
                    await woken.wait()
                    continue
                if opening.names == "session":
                    async for frame, seq in session_frames(hub, bodies):
                        yield frame, seq
                else:
                    for frame, seq in stream.event_frames(bodies):
                        yield frame, seq
                # What comes meanwhile goes in one frame.
                await anyio.sleep(stream.BATCH_SECONDS)
    finally:
        heartbeat.cancel()


def _preview(opening: Opening, at: float, preview: TextPreview, before: Seq) -> bytes:
    if opening.names == "session":
        return session_preview(at, preview, before)
    return stream.preview_frame(at, preview)


class Heartbeats:
    """Says when the next heartbeat is due, on the node's clock."""

    def __init__(self) -> None:
        self._due = False

    async def run(self, clock: Clock, wake: Callable[[], None]) -> None:
        """Calls `wake` whenever one is, until it is cancelled."""
        while True:
            await clock.sleep(stream.HEARTBEAT_SECONDS)
            self._due = True
            wake()

    def take(self) -> bool:
        """Whether one is due; it is taken then."""
        due, self._due = self._due, False
        return due

"""A worker's terminal for devices: its bytes as a stream beside the journal, and what is typed into it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TypeAlias

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from farhand.model import stream
from farhand.model.body_limits import read_bounded
from farhand.model.errors import BadInput, CannotDo, FarhandError, UnknownWorker
from farhand.model.logger import get_logger
from farhand.model.panes import PaneInput, PanePiece, Panes, checked_input
from farhand.model.ports import Clock, Hub
from farhand.model.present import Worker
from farhand.server.callers import Callers, until_revoked

log = get_logger("http")
LONGEST_REQUEST = 64 * 1024
# Pieces on their way to a watcher; behind them the terminal is shown as it is then.
MOST_WAITING = 8
# Pieces and whole frames; an error or nothing at the end.
PanePieces: TypeAlias = "asyncio.Queue[PanePiece | bytes | FarhandError | None]"
_inputs = msgspec.json.Decoder(PaneInput)


def pane_routes(hub: Hub, callers: Callers, panes_by_kind: Mapping[str, Panes], clock: Clock) -> list[BaseRoute]:
    """`/api/workers/{worker}/pane`, by GET and by POST, for some tunnels hold a GET stream back; and
    `POST /api/workers/{worker}/keys` for devices that may write."""

    async def find(request: Request) -> tuple[Worker, Panes]:
        name, team = request.path_params["worker"], (await hub.look()).workers
        if name not in team:
            raise UnknownWorker(name, known=team)
        panes = panes_by_kind.get(team[name].kind)
        if panes is None:
            raise CannotDo(f"{name} works without a terminal.", worker=name)
        return team[name], panes

    async def watch(request: Request) -> Response:
        caller = await callers.check(request)
        worker, panes = await find(request)
        frames = until_revoked(callers.devices, caller, _frames(panes, worker, clock))
        # Its first piece is here before the answer begins: who cannot watch is told so.
        first = await anext(frames, None)
        if first is None:
            raise CannotDo(f"{worker.name} has no terminal right now.", worker=worker.name)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_after(first, frames), media_type="text/event-stream", headers=headers)

    async def type_keys(request: Request) -> Response:
        await callers.check(request, writes=True)
        given = _read(await read_bounded(request.stream(), LONGEST_REQUEST))
        caller = await callers.check(request, writes=True)
        worker, panes = await find(request)
        await panes.type(worker, given)
        device = caller.device.id if caller.device else ""
        log.info("typed", worker=worker.name, device=device, characters=len(given.text), keys=len(given.keys))
        return Response(status_code=204)

    return [
        Route("/api/workers/{worker}/pane", watch, methods=["GET", "POST"]),
        Route("/api/workers/{worker}/keys", type_keys, methods=["POST"]),
    ]


async def _frames(panes: Panes, worker: Worker, clock: Clock) -> AsyncIterator[bytes]:
    """The pieces of a terminal. One task watches it; whoever reads these may be another one each time."""
    pieces: PanePieces = asyncio.Queue(MOST_WAITING)
    tasks = [asyncio.ensure_future(_watch(panes, worker, pieces))]
    try:
        while (piece := await pieces.get()) is not None:
            if isinstance(piece, FarhandError):
                raise piece
            frame = stream.pane_frame(clock.now(), piece) if isinstance(piece, PanePiece) else piece
            yield b"data: " + frame + b"\n\n"
            if len(tasks) == 1:
                tasks.append(asyncio.ensure_future(_beat(clock, pieces)))
    finally:
        for task in tasks:
            task.cancel()


async def _beat(clock: Clock, pieces: PanePieces) -> None:
    """Says now and then that the node is there; where something waits to be sent, that says it as well."""
    while True:
        await clock.sleep(stream.HEARTBEAT_SECONDS)
        if pieces.empty():
            pieces.put_nowait(stream.now_frame(clock.now()))


async def _watch(panes: Panes, worker: Worker, pieces: PanePieces) -> None:
    problem: FarhandError | None = None
    try:
        async with panes.watched(worker) as written:
            async for piece in written:
                await pieces.put(piece)
    except FarhandError as error:
        problem = error
    await pieces.put(problem)


async def _after(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


def _read(data: bytes) -> PaneInput:
    try:
        return checked_input(_inputs.decode(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"That types nothing: {error}") from None

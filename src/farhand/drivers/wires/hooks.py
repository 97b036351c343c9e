"""Where hooks arrive: payloads handed to the worker that they are of, asks held open until they are answered."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

POST_PATH = "/hooks/of/"
# Whoever comes through a tunnel or a proxy is not a hook on this machine.
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "cf-connecting-ip", "via")


class Arrived(msgspec.Struct, frozen=True):
    """A payload, and which process of the agent it came from."""

    id: str
    event: str
    payload: bytes
    agent: int = 0
    # It had the key that only this worker's own session knows, or its session's id.
    keyed: bool = False
    spooled: Path | None = None


class Asked:
    """A hook that waits: it is told once, or it goes away."""

    def __init__(self, arrived: Arrived) -> None:
        self.arrived = arrived
        self._answered = anyio.Event()
        self._answer: dict[str, Any] | None = None
        self._taken = anyio.Event()
        self.gone = False

    def answer(self, answer: dict[str, Any] | None) -> None:
        """Releases the hook with this output; None lets it end without a word."""
        if not self._answered.is_set():
            self._answer = answer
            self._answered.set()

    async def taken(self, seconds: float) -> bool:
        """Whether the hook had the answer within that time."""
        with anyio.move_on_after(seconds):
            await self._taken.wait()
        return self._taken.is_set() and not self.gone

    async def closed(self) -> bool:
        """Waits until the hook is over; True when it had the answer, False when it went away before."""
        await self._taken.wait()
        return not self.gone

    @property
    def over(self) -> bool:
        """Whether the hook has the answer, or is gone."""
        return self._taken.is_set()

    async def wait(self) -> dict[str, Any] | None:
        """The answer, when there is one."""
        await self._answered.wait()
        return self._answer

    def close(self, *, told: bool) -> None:
        """The hook has the answer, or was gone before."""
        self.gone = not told
        self._taken.set()


Arrival = Arrived | Asked


class Desk:
    """The door at which hooks knock. Workers that are not here hear nothing, and neither does their hook."""

    def __init__(self) -> None:
        self._workers: dict[str, MemoryObjectSendStream[Arrival]] = {}
        self._keys: dict[str, str] = {}

    @contextmanager
    def attended(self, worker: str, key: str = "") -> Iterator[MemoryObjectReceiveStream[Arrival]]:
        """What arrives for a worker, while somebody listens."""
        send, receive = anyio.create_memory_object_stream[Arrival](1024)
        self._workers[worker] = send
        self._keys[worker] = key
        with send, receive:
            try:
                yield receive
            finally:
                if self._workers.get(worker) is send:
                    del self._workers[worker]

    def listener(self, worker: str) -> MemoryObjectSendStream[Arrival] | None:
        """Where a payload for that worker goes, while somebody listens."""
        return self._workers.get(worker)

    def routes(self) -> list[Route]:
        """For the node's own socket, never for the public side."""
        return [Route("/hooks/ask", self._ask, methods=["POST"])]

    def open_routes(self) -> list[Route]:
        """For the node's HTTP listener: a session's own hooks post here, each known by its key."""
        return [Route(POST_PATH + "{worker}", self._post, methods=["POST"])]

    async def _post(self, request: Request) -> Response:
        worker = request.path_params["worker"]
        key, given = self._keys.get(worker, ""), request.headers.get("x-farhand-key", "")
        forwarded = any(name in request.headers for name in FORWARDED)
        if forwarded or not key or not hmac.compare_digest(key.encode(), given.encode()):
            return Response(status_code=403)
        stream = self._workers.get(worker)
        if stream is not None:
            arrived = await _arrived(request)
            await stream.send(msgspec.structs.replace(arrived, keyed=True))
        return JSONResponse({})

    async def _ask(self, request: Request) -> Response:
        stream = self._workers.get(request.headers.get("x-farhand-worker", ""))
        if stream is None:
            return Response(status_code=503)
        asked = Asked(await _arrived(request))
        try:
            await stream.send(asked)
            answer = await answer_or_none(request, asked)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return Response(status_code=503)
        except anyio.get_cancelled_exc_class():
            asked.close(told=False)
            raise
        if answer is None:
            return Response(status_code=204)
        return JSONResponse(answer)


async def _arrived(request: Request) -> Arrived:
    headers = request.headers
    return Arrived(
        id=headers.get("x-farhand-id", ""),
        event=headers.get("x-farhand-event", ""),
        payload=await request.body(),
        agent=_number(headers.get("x-farhand-agent", "")),
    )


async def answer_or_none(request: Request, asked: Asked) -> dict[str, Any] | None:
    """The answer, unless the hook goes away first."""
    answer: dict[str, Any] | None = None
    told = False
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        answer = await asked.wait()
        told = True
        tasks.cancel_scope.cancel()
    asked.close(told=told)
    return answer


def spooled(folder: Path) -> list[Arrived]:
    """What hooks left in the spool, oldest first."""
    found = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return [_kept(path) for path in found]


def _kept(path: Path) -> Arrived:
    """Named `<id>.<process of the agent>.<event>.json`."""
    name, agent, event = [*path.name.split("."), "", "", ""][:3]
    try:
        payload = path.read_bytes()
    except OSError:
        payload = b""
    return Arrived(id=name, event=event, payload=payload, agent=_number(agent), spooled=path)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0

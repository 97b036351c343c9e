"""Where hooks arrive: reports passed to the link of their worker, asks held open until they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.model.body_limits import BodyBudget, read_bounded
from farhand.model.http_guard import forwarding_header, is_secret

# A hook's output, as it is sent.
HookAnswer: TypeAlias = Mapping[str, object]
# A tool's whole output may be in it.
LARGEST_REPORT_BYTES = 64 * 1024 * 1024
# Of all workers, and of one: what is held of reports until they are passed on, and of asks until they are over.
MOST_HELD_BYTES = 256 * 1024 * 1024
MOST_HELD_OF_ONE_BYTES = 96 * 1024 * 1024
POST_PATH = "/hooks/of/"


class HookReport(msgspec.Struct, frozen=True):
    """A payload, and which process of the agent it came from."""

    id: str
    event: str
    payload: bytes
    agent: int = 0
    # It had the key that only this worker's own session knows, or its session's id.
    keyed: bool = False
    spooled: Path | None = None


class HookAsk:
    """A hook that waits for an answer: it is answered once, or it goes away."""

    def __init__(self, report: HookReport) -> None:
        self.report = report
        self._answered = anyio.Event()
        self._answer: HookAnswer | None = None
        self._taken = anyio.Event()
        self.gone = False
        self.dropped = False

    def drop(self) -> None:
        """Whoever took it listens no more: unless it was answered, the hook asks again, and finds the next listener."""
        if not self._answered.is_set():
            self.dropped = True
            self._answered.set()

    def answer(self, answer: HookAnswer | None) -> None:
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
    def answered(self) -> bool:
        """Whether it was answered or dropped; the hook may not have heard of it yet."""
        return self._answered.is_set()

    @property
    def over(self) -> bool:
        """Whether the hook has the answer, or is gone."""
        return self._taken.is_set()

    @property
    def given(self) -> HookAnswer | None:
        """The answer, once there is one."""
        return self._answer

    async def wait(self) -> HookAnswer | None:
        """The answer, when there is one."""
        await self._answered.wait()
        return self._answer

    def close(self, *, delivered: bool) -> None:
        """The hook has the answer, or was gone before."""
        self.gone = not delivered
        self._taken.set()


HookArrival = HookReport | HookAsk


class HookListener:
    """The queue of what arrives for one worker, bounded: a hook waits while it is full."""

    def __init__(self, send: MemoryObjectSendStream[HookArrival]) -> None:
        self._send = send
        self._waiting: set[HookAsk] = set()

    async def receive(self, report: HookReport) -> bool:
        """Passes a report on; False when nobody listens any more."""
        try:
            await self._send.send(report)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def ask(self, request: Request, report: HookReport) -> HookAsk:
        """Waits with the hook until it is over: answered, gone, or dropped because nobody listens any more."""
        asked = HookAsk(report)
        self._waiting.add(asked)
        try:
            await self._send.send(asked)
            await wait_with(request, asked)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            asked.drop()
        finally:
            self._waiting.discard(asked)
            if not asked.over:
                asked.close(delivered=False)
        return asked

    def close(self) -> None:
        """Drops every hook that waits."""
        for asked in self._waiting:
            asked.drop()


class HookEndpoint:
    """All listeners by their worker. A hook of a worker that nobody listens to is told to ask again."""

    def __init__(self, held: BodyBudget | None = None) -> None:
        self._workers: dict[str, HookListener] = {}
        # Kept when nobody listens: a session that lives on is answered all the same.
        self._keys: dict[str, str] = {}
        self._held = held or BodyBudget(MOST_HELD_BYTES, MOST_HELD_OF_ONE_BYTES)

    @contextmanager
    def listening(self, worker: str, key: str = "") -> Iterator[MemoryObjectReceiveStream[HookArrival]]:
        """What arrives for a worker, while somebody listens."""
        send, receive = anyio.create_memory_object_stream[HookArrival](1024)
        listener = self._workers[worker] = HookListener(send)
        self._keys[worker] = key
        with send, receive:
            try:
                yield receive
            finally:
                listener.close()
                if self._workers.get(worker) is listener:
                    del self._workers[worker]

    def listener(self, worker: str) -> HookListener | None:
        """The listener of that worker."""
        return self._workers.get(worker)

    def routes(self) -> list[Route]:
        """For the node's own socket, never for the public side."""
        return [Route("/hooks/ask", self._ask, methods=["POST"])]

    def open_routes(self) -> list[Route]:
        """For the node's HTTP listener: a session's own hooks post here, each known by its key."""
        return [Route(POST_PATH + "{worker}", self._post, methods=["POST"])]

    async def _post(self, request: Request) -> Response:
        worker = request.path_params["worker"]
        given, key = request.headers.get("x-farhand-key", ""), self._keys.get(worker, "")
        # Whoever comes through a tunnel or a proxy is not a hook on this machine.
        if forwarding_header(request.headers) or not is_secret(given, key):
            return Response(status_code=403)
        if listener := self._workers.get(worker):
            with self._held.holding(worker) as take:
                await listener.receive(msgspec.structs.replace(await _read_report(request, take), keyed=True))
        return JSONResponse({})

    async def _ask(self, request: Request) -> Response:
        worker, asked = request.headers.get("x-farhand-worker", ""), None
        if listener := self._workers.get(worker):
            with self._held.holding(worker) as take:
                asked = await listener.ask(request, await _read_report(request, take))
        if asked is None or asked.dropped:
            # Nobody listens just now: the hook asks again.
            return Response(status_code=503)
        return Response(status_code=204) if asked.given is None else JSONResponse(asked.given)


async def _read_report(request: Request, take: Callable[[int], None]) -> HookReport:
    headers = request.headers
    return HookReport(
        id=headers.get("x-farhand-id", ""),
        event=headers.get("x-farhand-event", ""),
        payload=await read_bounded(request.stream(), LARGEST_REPORT_BYTES, "A hook's report", take),
        agent=process_id(headers.get("x-farhand-agent", "")),
    )


async def wait_with(request: Request, asked: HookAsk) -> None:
    """Waits until it is answered or dropped, unless the hook goes away first."""
    delivered = False
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        await asked.wait()
        delivered = not asked.dropped
        tasks.cancel_scope.cancel()
    asked.close(delivered=delivered)


def process_id(text: str) -> int:
    """The id of a process; 0 when the text is none."""
    return int(text) if text.isdecimal() else 0

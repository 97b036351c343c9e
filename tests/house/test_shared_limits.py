"""What one worker in a sandbox can take of the node's connections and memory is little, and all listeners share it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.abc
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from farhand.drivers.wires.hooks.endpoint import HookAsk, HookEndpoint
from farhand.model.body_limits import BodyBudget
from farhand.model.present import Worker
from farhand.server import http
from farhand.server.connections import MOST_OF_ONE_WORKER, ConnectionLimits
from farhand.server.worker_sockets import WorkerSockets
from farhand.testing.clock import SAFETY_SECONDS
from farhand.testing.http import local_client
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


class Served:
    """A node's listener, and the sockets of two workers in sandboxes."""

    def __init__(self, folder: Path, port: int, limits: ConnectionLimits) -> None:
        self.folder, self.port, self.limits = folder, port, limits

    async def held(self, worker: str, count: int, stack: AsyncExitStack) -> None:
        """Connections of a worker that send no more than the beginning of a request."""
        for _ in range(count):
            link = await anyio.connect_unix(self.folder / worker)
            stack.push_async_callback(link.aclose)
            await link.send(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")

    async def answers(self) -> str:
        """What a caller of the node's listener is told."""
        async with local_client(base_url=f"http://127.0.0.1:{self.port}") as client:
            return (await client.get("/")).text


@asynccontextmanager
async def served(folder: Path, limits: ConnectionLimits) -> AsyncIterator[Served]:
    app = Starlette(routes=[Route("/", hello)])
    listener = http.bind("127.0.0.1", 0)
    workers = {name: Worker(name=name, since=1, backend="demo", directory="/x") for name in ("ann", "bob")}

    async def ended(_: Worker) -> None:
        return None

    sockets = WorkerSockets(app, lambda worker: folder / worker.name, lambda _: "key", ended, limits)
    async with anyio.create_task_group() as tasks:
        await tasks.start(sockets.run, lambda: workers)
        await tasks.start(partial(http.serve, limits=limits), app, listener)
        yield Served(folder, listener.getsockname()[1], limits)
        tasks.cancel_scope.cancel()


async def test_one_worker_has_few_places(short_folder: Path) -> None:
    limits = ConnectionLimits()
    async with served(short_folder, limits) as node, AsyncExitStack() as stack:
        await node.held("ann", MOST_OF_ONE_WORKER + 20, stack)
        await until(lambda: limits.count == MOST_OF_ONE_WORKER)
        await node.held("bob", 5, stack)
        await until(lambda: limits.count == MOST_OF_ONE_WORKER + 5)
        assert await node.answers() == "hello"
    assert limits.count == 0


async def test_all_listeners_share_one_count(short_folder: Path) -> None:
    limits = ConnectionLimits(most=10)
    async with served(short_folder, limits) as node, AsyncExitStack() as stack:
        await node.held("ann", 8, stack)
        await node.held("bob", 8, stack)
        await until(lambda: limits.count == 10)
        # It gets the place of one that lets us wait.
        assert await node.answers() == "hello"
        assert limits.count <= 10


@asynccontextmanager
async def hooks(budget: BodyBudget) -> AsyncIterator[tuple[HookEndpoint, httpx2.AsyncClient]]:
    endpoint = HookEndpoint(budget)
    listener = http.bind("127.0.0.1", 0)
    async with anyio.create_task_group() as tasks:
        await tasks.start(http.serve, http.application([*endpoint.routes()]), listener)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with local_client(base_url=address, timeout=None) as client:
            yield endpoint, client
        tasks.cancel_scope.cancel()


async def test_what_is_held_of_questions_has_a_limit_for_one_worker_and_for_all() -> None:
    async with hooks(BodyBudget(250, 150)) as (endpoint, client), anyio.create_task_group() as tasks:
        answers: list[int] = []

        async def ask(worker: str, size: int) -> None:
            reply = await client.post("/hooks/ask", content=b"x" * size, headers={"x-farhand-worker": worker})
            answers.append(reply.status_code)

        safety = anyio.fail_after(SAFETY_SECONDS)
        with safety, endpoint.listening("ann") as for_ann, endpoint.listening("bob") as for_bob:
            tasks.start_soon(ask, "ann", 100)
            first = await for_ann.receive()
            await ask("ann", 100)
            assert answers == [503]
            tasks.start_soon(ask, "bob", 150)
            second = await for_bob.receive()
            await ask("ann", 1)
            assert answers == [503, 503]
            for one in (first, second):
                assert isinstance(one, HookAsk)
                one.answer(None)
                await one.closed()
            await until(lambda: sorted(answers) == [204, 204, 503, 503])
            tasks.start_soon(ask, "ann", 150)
            last = await for_ann.receive()
            assert isinstance(last, HookAsk)
            last.answer(None)

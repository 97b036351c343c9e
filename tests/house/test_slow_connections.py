"""Connections that send slowly, or nothing, or come by the hundred: each is cut off, and nobody else notices."""

import asyncio
import gc
import logging
import os
import resource
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from structlog.testing import capture_logs
from tests.house.telegram_house import telegram_house

from farhand.client.door import SocketHub
from farhand.server import acceptor, http
from farhand.server.connections import ConnectionLimits, GuardedProtocol, RequestDeadlines, most_connections
from farhand.testing.house import open_house
from farhand.testing.http import local_client
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
QUICK = RequestDeadlines(header_seconds=0.2, body_seconds=0.2)
# Where others shall get their requests through: long enough for them on a machine that has much else to do.
CALM = RequestDeadlines(header_seconds=3, body_seconds=3)


@asynccontextmanager
async def served(limits: ConnectionLimits) -> AsyncIterator[int]:
    """An application behind the node's listener."""
    release = anyio.Event()

    async def body(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    async def stream(_: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"first\n"
            await release.wait()
            yield b"last\n"

        return StreamingResponse(pieces())

    async def let_go(_: Request) -> Response:
        release.set()
        return PlainTextResponse("ok")

    over = anyio.Event()

    async def flood(_: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x" * 65536
                    await anyio.lowlevel.checkpoint()
            finally:
                over.set()

        return StreamingResponse(pieces())

    async def flood_over(_: Request) -> Response:
        await over.wait()
        return PlainTextResponse("over")

    routes = [Route("/flood", flood), Route("/flood-over", flood_over)]
    routes += [Route("/body", body, methods=["POST"]), Route("/stream", stream), Route("/release", let_go)]
    listener, app = http.bind("127.0.0.1", 0), http.application(list(routes))

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await http.serve(app, listener, limits=limits, task_status=task_status)

    async with anyio.create_task_group() as tasks:
        await tasks.start(serve)
        yield listener.getsockname()[1]
        tasks.cancel_scope.cancel()


async def closed(stream: anyio.abc.SocketStream) -> bool:
    """Waits until the other end has closed the connection."""
    try:
        while await stream.receive():
            pass
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return True
    return False


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET /body HTTP/1.1\r\nHost: x\r\nX-A: ",
        b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
        b"GET /release HTTP/1.1\r\nHost: x\r\n\r\nGET /body HTTP/1.1\r\nX",
    ],
    ids=["nothing", "half a header", "half a body", "half a second request"],
)
async def test_a_request_that_does_not_come_is_cut_off(start: bytes) -> None:
    async with served(ConnectionLimits(deadlines=QUICK)) as port, await anyio.connect_tcp("127.0.0.1", port) as link:
        await link.send(start) if start else None
        assert await closed(link)


async def test_a_connection_that_was_reset_is_nobodys_and_never_the_unix_sockets() -> None:
    seen: list[object] = []

    async def who(request: Request) -> Response:
        seen.append(request.scope["client"])
        return PlainTextResponse("")

    listener, app = http.bind("127.0.0.1", 0), http.application([Route("/who", who)])
    port = listener.getsockname()[1]

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await http.serve(app, listener, limits=ConnectionLimits(), task_status=task_status)

    async with anyio.create_task_group() as tasks:
        await tasks.start(serve)
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port)) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.sendall(b"GET /who HTTP/1.1\r\nHost: x\r\n\r\n")
        async with local_client(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.get("/who")).status_code == 200
        tasks.cancel_scope.cancel()
    assert seen
    assert None not in seen


async def test_what_trickles_in_moves_no_deadline() -> None:
    async with served(ConnectionLimits(deadlines=QUICK)) as port, await anyio.connect_tcp("127.0.0.1", port) as link:
        await link.send(b"GET /body HTTP/1.1\r\n")
        async with anyio.create_task_group() as tasks:

            async def trickle() -> None:
                while True:
                    await link.send(b"X-A: b\r\n")
                    await anyio.lowlevel.checkpoint()

            tasks.start_soon(trickle)
            try:
                assert await closed(link)
            finally:
                tasks.cancel_scope.cancel()


async def test_an_answer_that_nobody_reads_is_cut_off() -> None:
    quick = ConnectionLimits(deadlines=RequestDeadlines(unread_seconds=0.2))
    async with served(quick) as port, await anyio.connect_tcp("127.0.0.1", port) as link:
        await link.send(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
        async with local_client(base_url=f"http://127.0.0.1:{port}", timeout=None) as client:
            # It answers when the flood was cut off.
            assert (await client.get("/flood-over")).text == "over"


async def test_a_long_answer_has_no_deadline() -> None:
    async with served(ConnectionLimits(deadlines=CALM)) as port, await anyio.connect_tcp("127.0.0.1", port) as slow:
        base = f"http://127.0.0.1:{port}"
        async with local_client(base_url=base) as client, client.stream("GET", "/stream") as answer:
            lines = answer.aiter_lines()
            assert await anext(lines) == "first"
            # As long as a connection that sends nothing lasts.
            assert await closed(slow)
            await client.get("/release")
            assert await anext(lines) == "last"


async def test_what_has_not_sent_a_head_costs_no_parser() -> None:
    def parsers() -> int:
        gc.collect()
        return sum(isinstance(one, GuardedProtocol) for one in gc.get_objects())

    before = parsers()
    async with served(ConnectionLimits()) as port, AsyncExitStack() as slow:
        for _ in range(50):
            link = await anyio.connect_tcp("127.0.0.1", port)
            slow.push_async_callback(link.aclose)
            await link.send(b"GET /body HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        async with local_client(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.post("/body", content=b"abc")).text == "3"
            assert parsers() == before + 1


async def test_a_head_may_come_byte_by_byte() -> None:
    async with served(ConnectionLimits()) as port, await anyio.connect_tcp("127.0.0.1", port) as link:
        for byte in b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc":
            await link.send(bytes([byte]))
        assert (await link.receive()).startswith(b"HTTP/1.1 200")


async def test_a_head_that_has_no_end_is_refused() -> None:
    async with served(ConnectionLimits()) as port, await anyio.connect_tcp("127.0.0.1", port) as link:
        with suppress(anyio.BrokenResourceError):
            await link.send(b"GET /body HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000)
        answer = b""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                answer += await link.receive()
        # The refusal itself may be lost when the node closes before all is read.
        assert answer[:12] in (b"", b"HTTP/1.1 400")


async def test_when_no_descriptor_is_left_the_next_ones_are_accepted_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor, "PAUSE_SECONDS", 0.05)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with served(ConnectionLimits()) as port:
        with socket.socket() as link, capture_logs() as logged:
            link.setblocking(False)
            descriptors = max(int(one.name) for one in Path("/proc/self/fd").iterdir())
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
            try:
                taken = _take_all()
                link.connect_ex(("127.0.0.1", port))
                with anyio.fail_after(240):
                    while not [line for line in logged if line["event"] == "cannot accept"]:
                        await anyio.lowlevel.checkpoint()
            finally:
                for one in taken:
                    os.close(one)
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(link, b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
            assert (await loop.sock_recv(link, 100)).startswith(b"HTTP/1.1 200")


def _take_all() -> list[int]:
    """Every descriptor that is left."""
    taken: list[int] = []
    with suppress(OSError):
        while True:
            taken.append(os.dup(0))
    return taken


async def test_one_too_many_is_closed_and_a_place_comes_back() -> None:
    limits = ConnectionLimits(most=2)
    async with served(limits) as port:
        first = await anyio.connect_tcp("127.0.0.1", port)
        async with await anyio.connect_tcp("127.0.0.1", port), await anyio.connect_tcp("127.0.0.1", port):
            assert await closed(first)
        await first.aclose()
        async with local_client(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.post("/body", content=b"abc")).text == "3"


def test_one_address_out_there_has_a_cap_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    limits = ConnectionLimits(most=100, most_of_one=3)
    assert [limits.admit("10.0.0.7") for _ in range(5)] == [True, True, True, False, False]
    assert limits.admit("10.0.0.8")
    # A tunnel brings everybody from this machine.
    assert all(limits.admit("127.0.0.1") for _ in range(50))
    limits.release("10.0.0.7")
    assert limits.admit("10.0.0.7")
    with caplog.at_level(logging.WARNING):
        assert not any(limits.admit("10.0.0.7") for _ in range(1000))
    assert len(caplog.records) <= 1


async def test_whoever_sends_its_request_at_once_is_served_while_slow_ones_take_every_place() -> None:
    limits = ConnectionLimits(most=20, most_of_one=1000)
    async with served(limits) as port:
        slow = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(30)]
        for link in slow[10:]:
            await link.send(b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx")
        # The ten that were there first have given way to the ten that came last.
        assert all([await closed(link) for link in slow[:10]])
        async with local_client(base_url=f"http://127.0.0.1:{port}") as client:
            for _ in range(5):
                answer = await client.post("/body", content=b"abc", headers={"Connection": "close"})
                assert (answer.status_code, answer.text) == (200, "3")
        for link in slow:
            await link.aclose()


async def test_each_address_of_this_machine_but_the_usual_one_has_its_cap() -> None:
    limits = ConnectionLimits(most=100, most_of_one=3)
    async with served(limits) as port:
        links = [await anyio.connect_tcp("127.0.0.1", port, local_host="127.1.0.7") for _ in range(4)]
        assert await closed(links[3])
        async with local_client(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.post("/body", content=b"abc")).text == "3"
        for link in links:
            await link.aclose()


async def test_the_door_is_open_while_half_requests_take_all_that_http_has(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        async with open_house(tmp_path) as house:
            taken = []
            for _ in range(most_connections() // 2):
                link = await anyio.connect_tcp("127.0.0.1", house.node.port)
                await link.send(b"GET / HTTP/1.1\r\nX: ")
                taken.append(link)
            async with SocketHub(house.node.settings.door) as hub:
                assert (await hub.look()).seq >= 0
            for link in taken:
                await link.aclose()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_telegram_and_the_door_go_on_while_hundreds_are_slow(tmp_path: Path, bot: FakeBot) -> None:
    # Over the webhook, which is a request among all the others.
    async with telegram_house(tmp_path, bot, public=True) as telegram, AsyncExitStack() as slow:
        await telegram.house.hire()
        for number in range(500):
            address = f"127.1.0.{number % 10 + 1}"
            with suppress(OSError):
                link = await anyio.connect_tcp("127.0.0.1", telegram.house.node.port, local_host=address)
                await link.send(b"POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                slow.push_async_callback(link.aclose)
        await telegram.manager.says("hello")
        await telegram.manager.reads("answer to hello")
        async with SocketHub(telegram.house.node.settings.door) as hub:
            assert set((await hub.look()).workers) == {"ann"}


async def test_a_body_that_follows_another_request_at_once_has_a_deadline_too() -> None:
    async with served(ConnectionLimits(deadlines=CALM)) as port, await anyio.connect_tcp("127.0.0.1", port) as link:
        first = b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
        await link.send(first + first.replace(b"Length: 1", b"Length: 9"))
        answers = b""
        with anyio.fail_after(240):
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    answers += await link.receive()
        assert answers.count(b"HTTP/1.1 200") == 1

"""The live wire over a WebSocket: the same frames, the same doors, and what each device looks at."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import pytest
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus

from farhand.client.door import SocketHub
from farhand.devices.views import HEARD_SECONDS
from farhand.model.facts import Draft, Noted
from farhand.model.stream import HEARTBEAT_SECONDS
from farhand.server import http
from farhand.server.connections import ConnectionLimits, RequestDeadlines
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def _socket(house: House, opening: Any = None, **headers: str) -> AsyncIterator[ClientConnection]:
    given = {"Authorization": f"Bearer {house.node.settings.key.read_text()}", **headers}
    async with connect(
        f"ws://127.0.0.1:{house.node.port}/api/hub/socket",
        additional_headers={name.replace("_", "-"): value for name, value in given.items() if value},
        proxy=None,
        open_timeout=SAFETY_SECONDS,
        ping_interval=None,
        subprotocols=["farhand.1"],  # type: ignore[list-item]
    ) as socket:
        if opening is not None:
            await socket.send(json.dumps(opening))
        yield socket


async def _frame(socket: ClientConnection) -> Any:
    with anyio.fail_after(SAFETY_SECONDS):
        return json.loads(await socket.recv())


async def _paired(house: House, *, read_only: bool = False) -> tuple[str, str]:
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair(read_only=read_only)).code
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
        paired = (await client.post("/api/pair", json={"code": code, "bearer": True, "name": "Phone"})).json()
    return paired["device"]["id"], paired["key"]


async def _cookie(house: House) -> str:
    """The cookie of a browser that was paired."""
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair()).code
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
        paired = await client.post("/api/pair", json={"code": code, "name": "Browser"})
    return str(paired.headers["set-cookie"].partition(";")[0])


async def _revoke(house: House, device: str) -> None:
    async with SocketHub(house.node.settings.door) as hub:
        await hub.revoke(device)


async def _note(house: House, count: int = 1) -> None:
    drafts = [Draft(worker="ann", fact=Noted(text=str(number))) for number in range(count)]
    await house.hub.record("ann", lambda _: drafts)


async def test_a_client_that_comes_back_gets_what_it_missed(house: House) -> None:
    await house.hire("ann")
    async with _socket(house, {}) as socket:
        hello = await _frame(socket)
        assert (hello["hello"], hello["resume"], socket.subprotocol) == (1, "gap", "farhand.1")
        await _note(house)
        (event,) = (await _frame(socket))["events"]
        assert event["seq"] == hello["seq"] + 1
    await _note(house, 3)
    async with _socket(house, {"resume": {"journal": hello["journal"], "after": event["seq"]}}) as socket:
        assert (await _frame(socket))["resume"] == "whole"
        assert [one["seq"] for one in (await _frame(socket))["events"]] == [event["seq"] + n for n in (1, 2, 3)]


async def test_a_quiet_socket_has_heartbeats(house: House) -> None:
    assert isinstance(house.clock, ManualClock)
    await house.clock.until_asleep(1)  # the retention
    before = house.clock.sleepers
    async with _socket(house, {}) as socket:
        await _frame(socket)
        await house.clock.until_asleep(before + 1)
        house.clock.advance(HEARTBEAT_SECONDS)
        assert (await _frame(socket)) == {"now": {"at": house.clock.now()}}


async def test_who_may_open_a_socket(house: House) -> None:
    _, whole = await _paired(house)
    _, looks = await _paired(house, read_only=True)
    gone, revoked = await _paired(house)
    await _revoke(house, gone)
    own, evil = f"http://127.0.0.1:{house.node.port}", "https://evil.example"
    cookie = await _cookie(house)
    key = house.node.settings.key.read_text()
    callers: list[tuple[dict[str, str], bool]] = [
        ({"Authorization": ""}, False),
        ({"Authorization": "Bearer x"}, False),
        ({"Authorization": f"Bearer {revoked}"}, False),
        ({"Authorization": f"Bearer {key}"}, True),
        ({"Authorization": f"Bearer {key}", "Origin": evil}, False),
        ({"Authorization": f"Bearer {whole}"}, True),
        ({"Authorization": f"Bearer {looks}"}, True),
        ({"Authorization": "", "Cookie": cookie, "Origin": own}, True),
        ({"Authorization": "", "Cookie": cookie, "Origin": evil}, False),
        ({"Authorization": "", "Cookie": cookie, "Origin": "null"}, False),
        ({"Authorization": "", "Cookie": cookie, "Sec_Fetch_Site": "cross-site"}, False),
        ({"Authorization": f"Bearer {whole}", "X_Forwarded_For": "203.0.113.9"}, True),
        ({"Authorization": "", "X_Forwarded_For": "127.0.0.1"}, False),
    ]
    for headers, allowed in callers:
        if allowed:
            async with _socket(house, {}, **headers) as socket:
                assert "hello" in await _frame(socket), headers
        else:
            with pytest.raises(InvalidStatus) as refused:
                async with _socket(house, **headers):
                    pass
            assert refused.value.response.status_code == 403, headers
            assert json.loads(refused.value.response.body or b"")["error"]["code"] == "not_allowed"


async def test_a_revoked_device_is_cut_off_at_once(house: House) -> None:
    device, key = await _paired(house)
    async with _socket(house, {}, Authorization=f"Bearer {key}") as socket:
        await _frame(socket)
        await _revoke(house, device)
        with anyio.fail_after(SAFETY_SECONDS), pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


@pytest.mark.parametrize("frame", ["[", '{"resume": 7}', "\0", "7"])
async def test_what_is_no_frame_ends_the_socket_and_nothing_else(house: House, frame: str) -> None:
    openings: tuple[Any, ...] = (None, {})
    for opening in openings:
        async with _socket(house, opening) as socket:
            if opening is not None:
                await _frame(socket)
            await socket.send(frame)
            with anyio.fail_after(SAFETY_SECONDS), pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
    async with _socket(house, {}) as socket:
        assert "hello" in await _frame(socket)


async def test_a_client_that_sends_too_much_is_cut_off(house: House) -> None:
    async with _socket(house) as socket:
        with suppress(ConnectionClosed):
            await socket.send("x" * (1 << 20))
        with anyio.fail_after(SAFETY_SECONDS), pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


async def test_the_node_knows_who_looks_at_whom(house: House) -> None:
    assert isinstance(house.clock, ManualClock)
    device, key = await _paired(house)
    views = house.node.views
    async with _socket(house, {"view": {"worker": "ann", "visible": True}}, Authorization=f"Bearer {key}") as socket:
        await _frame(socket)
        assert views.looking_at("ann") == {device}
        assert views.looking_at("bob") == set()
        house.clock.advance(HEARD_SECONDS + 1)
        # It has not been heard of for too long: it may be in a pocket.
        assert views.looking_at("ann") == set()
        await socket.send(json.dumps({"view": {"worker": "bob"}}))
        with anyio.fail_after(SAFETY_SECONDS):
            while views.looking_at("bob") != {device}:
                await anyio.lowlevel.checkpoint()
        await socket.send(json.dumps({"view": {"worker": "bob", "visible": False}}))
        with anyio.fail_after(SAFETY_SECONDS):
            while views.looking_at("bob"):
                await anyio.lowlevel.checkpoint()
        await socket.send(json.dumps({"view": {"worker": "ann"}}))
    with anyio.fail_after(SAFETY_SECONDS):
        while views.looking_at("ann"):
            await anyio.lowlevel.checkpoint()


async def test_a_device_hears_who_else_is_there(house: House) -> None:
    (first, key), (second, other) = await _paired(house), await _paired(house)
    mine = {"view": {"worker": "ann", "visible": True}}
    async with _socket(house, mine, Authorization=f"Bearer {key}") as socket:
        assert (await _frame(socket))["hello"] == 1
        async with _socket(house, {"view": {"worker": "bob"}}, Authorization=f"Bearer {other}") as theirs:
            assert (await _frame(socket))["now"]["presence"] == [{"device": second, "name": "Phone", "worker": "bob"}]
            await _frame(theirs)
            assert (await _frame(theirs))["now"]["presence"] == [{"device": first, "name": "Phone", "worker": "ann"}]
            await theirs.send(json.dumps({"view": {"worker": "ann"}}))
            assert (await _frame(socket))["now"]["presence"] == [{"device": second, "name": "Phone", "worker": "ann"}]
        assert (await _frame(socket))["now"]["presence"] == []


@asynccontextmanager
async def _served(limits: ConnectionLimits, *, floods: bool, ended: anyio.Event) -> AsyncIterator[str]:
    """An application behind the node's listener: it sends on and on, or waits for its client."""

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while floods:
                await socket.send_text("x" * 65536)
            await socket.receive_text()
        except WebSocketDisconnect:
            pass
        finally:
            ended.set()

    listener, app = http.bind("127.0.0.1", 0), http.application([WebSocketRoute("/", talk)])

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await http.serve(app, listener, limits=limits, task_status=task_status)

    async with anyio.create_task_group() as tasks:
        await tasks.start(serve)
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}/"
        tasks.cancel_scope.cancel()
    listener.close()


async def test_sockets_count_among_the_connections_and_give_their_places_back() -> None:
    ended = anyio.Event()
    async with _served(ConnectionLimits(most=1), floods=False, ended=ended) as address:
        async with connect(address, proxy=None, open_timeout=SAFETY_SECONDS):
            with pytest.raises((OSError, InvalidMessage, ConnectionClosed)):
                async with connect(address, proxy=None, open_timeout=SAFETY_SECONDS):
                    pass
        with anyio.fail_after(SAFETY_SECONDS):
            await ended.wait()
        async with connect(address, proxy=None, open_timeout=SAFETY_SECONDS):
            pass


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    ended = anyio.Event()
    limits = ConnectionLimits(deadlines=RequestDeadlines(unread_seconds=0.1))
    async with _served(limits, floods=True, ended=ended) as address:
        port = int(address.rsplit(":", 1)[1].rstrip("/"))
        async with await anyio.connect_tcp("127.0.0.1", port) as link:
            await link.send(
                b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            with anyio.fail_after(SAFETY_SECONDS):
                await ended.wait()

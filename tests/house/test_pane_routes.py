"""A worker's terminal over HTTP: pieces as they come, an end when the device is revoked, keys from who may write."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import anyio.lowlevel
import httpx2
import pytest

from farhand.devices.registry import Devices
from farhand.model import stream
from farhand.model.errors import CannotDo
from farhand.model.panes import PaneInput, PanePiece, as_piece
from farhand.model.present import Worker
from farhand.server import http
from farhand.server.callers import Callers
from farhand.server.pane_routes import pane_routes
from farhand.store.devices import SqliteDevices
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


class ScriptedPanes:
    """A terminal that writes what it is given, and has a task group of its own as a real one has."""

    def __init__(self) -> None:
        self.typed: list[PaneInput] = []
        self.watchers = 0
        self.changed = anyio.Event()
        self.gone = False

    @asynccontextmanager
    async def watched(self, worker: Worker) -> AsyncIterator[AsyncIterator[PanePiece]]:
        if self.gone:
            raise CannotDo(f"{worker.name} has no terminal right now.")
        async with anyio.create_task_group() as tasks:
            self.watchers += 1
            try:
                yield self._pieces()
            finally:
                self.watchers -= 1
                tasks.cancel_scope.cancel()

    async def _pieces(self) -> AsyncIterator[PanePiece]:
        yield as_piece(b"screen", 80, 24, reset=True)
        while True:
            await self.changed.wait()
            self.changed = anyio.Event()
            yield as_piece(b"\x1b[1mmore")

    async def type(self, worker: Worker, given: PaneInput) -> None:
        self.typed.append(given)
        self.changed.set()


@asynccontextmanager
async def _served(
    house: House, panes: ScriptedPanes, clock: ManualClock | None = None
) -> AsyncIterator[tuple[httpx2.AsyncClient, Devices]]:
    await house.hire("ann")
    devices = Devices(SqliteDevices(house.node.journal._database), house.clock)
    routes = pane_routes(house.hub, Callers("the-key", devices), {"scripted": panes}, clock or house.clock)
    listener = http.bind("127.0.0.1", 0)

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await http.serve(http.application(routes), listener, task_status=task_status)

    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with anyio.create_task_group() as tasks:
        await tasks.start(serve)
        async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
            yield client, devices
        tasks.cancel_scope.cancel()
    listener.close()


async def _piece(lines: AsyncIterator[str]) -> tuple[bytes, bool]:
    with anyio.fail_after(SAFETY_SECONDS):
        async for line in lines:
            if line.startswith("data: "):
                pane = json.loads(line.removeprefix("data: "))["now"]["pane"]
                return base64.b64decode(pane["data"]), pane.get("reset", False)
    raise AssertionError("the stream ended")


async def test_a_terminal_is_watched_and_typed_into_until_its_device_is_revoked(house: House) -> None:
    panes = ScriptedPanes()
    async with _served(house, panes) as (client, devices):
        device, key = await devices.pair(devices.invite().code, "phone")
        headers = {"Authorization": f"Bearer {key}"}
        async with client.stream("GET", "/api/workers/ann/pane", headers=headers) as answer:
            lines = answer.aiter_lines()
            assert await _piece(lines) == (b"screen", True)
            typed = await client.post("/api/workers/ann/keys", json={"text": "ls", "keys": ["Enter"]}, headers=headers)
            assert typed.status_code == 204
            assert await _piece(lines) == (b"\x1b[1mmore", False)
            await devices.revoke(device.id)
            with anyio.fail_after(SAFETY_SECONDS):
                assert [line async for line in lines if line] == []
        assert panes.typed == [PaneInput(text="ls", keys=("Enter",))]
        with anyio.fail_after(SAFETY_SECONDS):
            while panes.watchers:
                await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_terminal_that_writes_nothing_is_still_heard_of_every_20_seconds(house: House, method: str) -> None:
    # A clock that nobody else sleeps by.
    panes, clock = ScriptedPanes(), ManualClock()
    async with _served(house, panes, clock) as (client, _):
        headers = {"Authorization": "Bearer the-key"}
        async with client.stream(method, "/api/workers/ann/pane", headers=headers) as answer:
            assert answer.status_code == 200
            lines = answer.aiter_lines()
            assert await _piece(lines) == (b"screen", True)
            for _ in range(2):
                await clock.until_asleep(1)
                clock.advance(stream.HEARTBEAT_SECONDS)
                with anyio.fail_after(SAFETY_SECONDS):
                    heard = await anext(line async for line in lines if line.startswith("data: "))
                assert json.loads(heard.removeprefix("data: ")) == {"now": {"at": clock.now()}}


async def test_who_looks_away_is_no_longer_streamed_to(house: House) -> None:
    panes = ScriptedPanes()
    async with _served(house, panes) as (client, _):
        async with client.stream("GET", "/api/workers/ann/pane", headers={"Authorization": "Bearer the-key"}) as answer:
            await _piece(answer.aiter_lines())
            assert panes.watchers == 1
        with anyio.fail_after(SAFETY_SECONDS):
            while panes.watchers:
                await anyio.lowlevel.checkpoint()


async def test_what_cannot_be_watched_or_typed_is_told(house: House) -> None:
    panes = ScriptedPanes()
    panes.gone = True
    async with _served(house, panes) as (client, devices):
        headers = {"Authorization": "Bearer the-key"}
        gone = await client.get("/api/workers/ann/pane", headers=headers)
        assert (gone.status_code, gone.json()["error"]["code"]) == (400, "cannot_do")
        assert (await client.get("/api/workers/bob/pane", headers=headers)).json()["error"]["code"] == "unknown_worker"
        for wrong in (
            {},
            {"keys": ["Enter", "rm -rf"]},
            {"keys": ["C-"]},
            {"text": "x" * 10_001},
            {"keys": ["Up"] * 51},
        ):
            refused = await client.post("/api/workers/ann/keys", json=wrong, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_input"), wrong
        _, looks = await devices.pair(devices.invite(read_only=True).code, "wall")
        only = {"Authorization": f"Bearer {looks}"}
        assert (await client.post("/api/workers/ann/keys", json={"text": "x"}, headers=only)).status_code == 403
    assert panes.typed == []

"""What a device cannot do with its commands and connections: read any file, answer as a worker, crowd the node."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from tests.house.paired_devices import paired

from farhand.devices.registry import MOST_CONNECTIONS
from farhand.devices.views import DeviceViews
from farhand.model.commands import Respond, Say
from farhand.model.facts import Queued, Responded
from farhand.model.stream import Looking
from farhand.model.wire import encode
from farhand.model.words import Attachment
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House

pytestmark = pytest.mark.anyio


@pytest.fixture
async def phone(house: House) -> AsyncIterator[httpx2.AsyncClient]:
    address = f"http://127.0.0.1:{house.node.port}"
    async with httpx2.AsyncClient(base_url=address, timeout=SAFETY_SECONDS, trust_env=False) as client:
        await house.hire("ann")
        _, key = await paired(house, client)
        client.headers["Authorization"] = f"Bearer {key}"
        yield client


async def test_a_device_attaches_no_file_that_it_has_not_sent(
    house: House, phone: httpx2.AsyncClient, tmp_path: Path
) -> None:
    private = tmp_path / "private.txt"
    private.write_text("nobody showed this")
    inbox = house.node.inbox("ann")
    for path in (str(private), f"{inbox}/../private.txt", str(inbox), "private.txt"):
        say = Say(id=house.id(), worker="ann", text="look", attachments=(Attachment(path=path, name="x"),))
        refused = await phone.post("/api/hub/commands", content=encode(say))
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_allowed"), path
    assert (await phone.get("/api/workers/ann/shown", params={"path": str(private)})).status_code == 403
    (inbox / "sent.txt").write_text("sent")
    sent = Attachment(path=str(inbox / "sent.txt"), name="sent.txt")
    say = Say(id=house.id(), worker="ann", text="look", attachments=(sent,))
    assert (await phone.post("/api/hub/commands", content=encode(say))).status_code == 200
    assert (await house.fact(Queued)).attachments == (sent,)


async def test_a_device_answers_in_no_workers_name(house: House, phone: httpx2.AsyncClient) -> None:
    said = Respond(id="r", worker="ann", text="All tests pass. [[file:/etc/hosts.txt]]", html=False)
    assert (await phone.post("/api/hub/commands", content=encode(said))).status_code == 403
    phone.headers["Authorization"] = f"Bearer {house.node.settings.key.read_text()}"
    assert (await phone.post("/api/hub/commands", content=encode(said))).status_code == 200
    assert (await house.fact(Responded)).text == said.text


async def test_of_too_many_streams_of_one_device_the_oldest_ends(phone: httpx2.AsyncClient) -> None:
    async with AsyncExitStack() as open_ones:
        streams = []
        for _ in range(MOST_CONNECTIONS + 1):
            response = await open_ones.enter_async_context(phone.stream("GET", "/api/hub/stream"))
            lines = response.aiter_lines()
            assert (await anext(lines)).startswith("data: ")
            streams.append(lines)
        assert [line async for line in streams[0] if line] == []
        assert (await phone.get("/api/hub/present")).status_code == 200


async def test_nobody_is_told_a_name_that_no_worker_can_have() -> None:
    views = DeviceViews(ManualClock())
    with views.connected("a", "Eve") as looks:
        for odd in ("x" * 60_000, "Ann", "a\nb", "../x"):
            looks(Looking(worker=odd))
            assert [one.worker for one in views.others("b")] == [""]
        looks(Looking(worker="ann"))
        assert [one.worker for one in views.others("b")] == ["ann"]


async def test_a_connection_that_looks_at_nothing_wakes_nobody() -> None:
    views, woken = DeviceViews(ManualClock()), 0

    def wake() -> None:
        nonlocal woken
        woken += 1

    with views.calling(wake):
        for _ in range(100):
            with views.connected("a", "Eve") as looks:
                looks(None)
    assert woken == 0

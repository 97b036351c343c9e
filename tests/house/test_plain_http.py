"""A browser on another machine gets no key over plain http, where whoever reads along in the network would have it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.house.paired_devices import code_of, cookie_of

from farhand.app import node
from farhand.client.door import SocketHub
from farhand.server import http
from farhand.testing.clock import ManualClock
from farhand.testing.house import House, open_house, settings_in
from farhand.testing.http import local_client
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
HERE = "http://127.0.0.1:8081"
LAN = "http://192.168.1.5:8081"
WAYS_IN = ("/api/pair", "/api/sign-in", "/api/passkeys/sign-in")
REFUSED = (403, "plain_http")


@asynccontextmanager
async def caller(house: House, address: str, url: str = LAN, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody at that address. The node of a test listens on this machine alone: the address is told as its listener
    would tell it."""
    transport = httpx2.ASGITransport(app=http.application(house.node.routes), client=(address, 4000))
    async with local_client(transport=transport, base_url=url, headers=headers) as client:
        yield client


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("bearer", [True, False])
@pytest.mark.parametrize(
    ("address", "url", "headers"),
    [
        ("192.168.1.7", LAN, {}),
        ("fd00::7", "http://[fd00::5]:8081", {}),
        ("192.168.1.7", HERE, {}),
        ("192.168.1.7", LAN, {"X-Forwarded-Proto": "http"}),
        # A proxy on this machine that serves plain http, or does not say what it serves.
        ("127.0.0.1", LAN, {"X-Forwarded-For": "192.168.1.7", "X-Forwarded-Proto": "http"}),
        ("127.0.0.1", HERE, {"X-Forwarded-For": "192.168.1.7"}),
        ("127.0.0.1", "http://team.example", {}),
    ],
)
async def test_nobody_is_paired_where_others_read_along(
    house: House, address: str, url: str, headers: dict[str, str], bearer: bool
) -> None:
    code = await code_of(house)
    async with caller(house, address, url, **headers) as client:
        answer = await client.post("/api/pair", json={"code": code, "name": "my phone", "bearer": bearer})
    assert refusal(answer) == REFUSED
    assert "set-cookie" not in answer.headers
    # What to do instead is said, and the code, which others have read, is worth nothing any more.
    assert all(word in answer.json()["error"]["text"] for word in ("https", "--reach", "farhand pair"))
    async with local_client(base_url=f"http://127.0.0.1:{house.node.port}") as here:
        assert (await here.post("/api/pair", json={"code": code})).json()["error"]["code"] == "wrong_code"
    async with SocketHub(house.node.settings.door) as hub:
        assert await hub.devices() == []


async def test_nor_by_any_other_way_in(house: House) -> None:
    async with caller(house, "192.168.1.7") as client:
        for path in WAYS_IN:
            body = {"code": "x", "channel": "telegram", "proof": "x", "credential": {}}
            assert refusal(await client.post(path, json=body)) == REFUSED, path


@pytest.mark.parametrize(
    ("address", "url", "headers"),
    [
        ("127.0.0.1", "https://team.example", {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}),
        ("192.168.1.2", "https://team.example", {"X-Forwarded-Proto": "https"}),
        ("192.168.1.7", "https://192.168.1.5", {}),
    ],
)
async def test_over_tls_a_browser_is_paired_and_known(
    house: House, address: str, url: str, headers: dict[str, str]
) -> None:
    code = await code_of(house)
    async with caller(house, address, url, **headers) as client:
        answer = await client.post("/api/pair", json={"code": code})
        assert answer.headers["set-cookie"].startswith("__Host-farhand=")
        client.cookies.clear()
        cookie = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
        assert (await client.get("/api/devices", headers=cookie)).status_code == 200


async def test_a_word_of_the_manager_allows_it_and_its_end_ends_the_cookie(tmp_path: Path) -> None:
    agent, clock = ScriptedDriver(), ManualClock()
    settings = replace(settings_in(tmp_path), plain_http=True)
    async with node(settings, {agent.backend: agent}, lambda _: [], clock) as running:
        house = House(running, agent, clock)
        code = await code_of(house)
        async with caller(house, "192.168.1.7") as lan:
            answer = await lan.post("/api/pair", json={"code": code})
            lan.cookies.clear()
            cookie = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
            assert (await lan.get("/api/devices", headers=cookie)).status_code == 200
        # A browser brings it to every port of the node's machine: whoever listens there gets nothing with it.
        for address in ("192.168.1.5", "192.168.1.8", "127.0.0.1"):
            async with caller(house, address) as other:
                assert (await other.get("/api/devices", headers=cookie)).status_code == 403, address
    async with open_house(tmp_path) as house, caller(house, "192.168.1.8") as lan:
        # Whoever has read it along the way gets nothing with it.
        assert (await lan.get("/api/devices", headers=cookie)).status_code == 403


async def test_on_this_machine_nothing_changes(house: House) -> None:
    async with local_client(base_url=f"http://127.0.0.1:{house.node.port}") as client:
        cookie = await cookie_of(house, client)
        assert (await client.get("/api/devices", headers=cookie)).status_code == 200

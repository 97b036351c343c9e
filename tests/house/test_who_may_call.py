"""Every route that a node serves × everybody who may call it: no device, no data; who only looks changes nothing.

A route that is served and has no row here fails, and so does a row of a route that is gone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx2
import pytest
from starlette.routing import Route, WebSocketRoute
from tests.house.paired_devices import cookie_of, paired

from farhand.client.door import SocketHub
from farhand.model.facts import Said, TurnEnded
from farhand.model.ports import SessionFound
from farhand.model.words import HowEnded
from farhand.server import http
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


class Row(NamedTuple):
    """One route: what is called, who may, and whether whoever may gets what was asked for."""

    call: str = ""
    writes: bool = False
    # Otherwise the house has nothing to give, and says so.
    gives: bool = True
    streams: bool = False
    body: Any = None


READ, LOOK, WRITE = Row(), Row(gives=False), Row(writes=True, gives=False)
HUB, WORKER, REMOTE = "/api/hub", "/api/workers/{worker}", "/workers/{worker}"
# For anybody, and with nothing of the team in it; to sign in needs a proof. `tests/spec/test_closed.py` tries them.
FOR_ANYBODY = {
    *("GET /", "GET /healthz", "GET /app", "GET /app/", "GET /app/{path:path}"),
    *("POST /api/pair", "POST /api/sign-in", "POST /api/passkeys/sign-in", "POST /api/passkeys/sign-in/options"),
}
ROWS = {
    f"POST {HUB}/commands": Row(writes=True, body={"type": "focus", "id": "one", "worker": "ann"}),
    f"GET {HUB}/present": READ,
    f"GET {HUB}/status": READ,
    f"GET {HUB}/sessions": READ,
    f"GET {HUB}/sessions/{{backend}}/{{session}}": Row(f"{HUB}/sessions/scripted/a-session"),
    f"GET {HUB}/history": Row(f"{HUB}/history?worker=ann"),
    f"GET {HUB}/search": Row(f"{HUB}/search?query=x"),
    f"GET {HUB}/events": Row(f"{HUB}/events?after=0", streams=True),
    f"GET {HUB}/stream": Row(streams=True),
    f"POST {HUB}/stream": Row(streams=True),
    f"GET {HUB}/socket": Row(streams=True),
    f"POST {HUB}/view": Row(body={"view": {"worker": "ann"}}),
    "GET /api/usage": READ,
    "GET /api/digest": READ,
    "GET /api/voice": READ,
    "POST /api/voice": WRITE,
    "GET /api/push": LOOK,
    # A device that only looks is told what happens, too.
    "POST /api/push": LOOK,
    "DELETE /api/push": LOOK,
    "POST /api/push/test": LOOK,
    "POST /api/push/answer": WRITE,
    "GET /api/devices": READ,
    "DELETE /api/devices/{device}": Row("/api/devices/nobody", writes=True, gives=False),
    "GET /api/passkeys": READ,
    "POST /api/passkeys": WRITE,
    "POST /api/passkeys/options": WRITE,
    "DELETE /api/passkeys/{passkey}": WRITE,
    "GET /api/hire": READ,
    "GET /api/workers": READ,
    f"GET {WORKER}": READ,
    f"GET {WORKER}/tree": READ,
    f"GET {WORKER}/file": Row("/api/workers/ann/file?path=seen.txt"),
    f"GET {WORKER}/git": READ,
    f"GET {WORKER}/commits": READ,
    f"GET {WORKER}/diff": READ,
    f"GET {WORKER}/shown": Row("/api/workers/ann/shown?path={folder}/seen.txt"),
    f"GET {WORKER}/reviews": READ,
    f"POST {WORKER}/merge": WRITE,
    f"GET {WORKER}/pane": LOOK,
    f"POST {WORKER}/pane": LOOK,
    f"POST {WORKER}/keys": WRITE,
    "POST /api/uploads": WRITE,
    "GET /api/uploads/{upload}": LOOK,
    "PUT /api/uploads/{upload}": WRITE,
    f"GET {REMOTE}/history": READ,
    f"GET {REMOTE}/messages": READ,
    f"GET {REMOTE}/status": READ,
    f"GET {REMOTE}/events": Row(streams=True),
    f"GET {REMOTE}/asks": READ,
    f"GET {REMOTE}/openapi.json": READ,
    f"GET {REMOTE}/docs": READ,
    f"POST {REMOTE}/message": WRITE,
    f"DELETE {REMOTE}/messages/{{message}}": WRITE,
    f"POST {REMOTE}/interrupt": WRITE,
    f"POST {REMOTE}/asks/{{ask:path}}": WRITE,
    f"POST {REMOTE}/upload": WRITE,
}
PARTS = {"{worker}": "ann", "{passkey}": "nobody", "{upload}": "12345678", "{message}": "m", "{ask:path}": "a"}
# How a caller is refused, whatever the route.
REFUSALS = ("needs the node's key or a paired device", "may look, and change nothing", "Another site's page cannot")
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.fixture
async def client(house: House) -> AsyncIterator[httpx2.AsyncClient]:
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as opened:
        yield opened


def _called(name: str, row: Row, house: House) -> tuple[str, str]:
    method, _, path = name.partition(" ")
    for part, value in PARTS.items():
        path = path.replace(part, value)
    return method, (row.call or path).format(folder=house.node.settings.working_directory)


async def _answer(
    client: httpx2.AsyncClient, called: tuple[str, str], row: Row, headers: dict[str, str]
) -> tuple[int, str]:
    """The status of the answer and why it is no, without reading a stream to its end."""
    method, path = called
    content = json.dumps(row.body) if row.body else None
    given = {**SOCKET, **headers} if path.endswith("/socket") else headers
    async with client.stream(method, path, headers=given, content=content) as response:
        return response.status_code, (await response.aread()).decode() if response.status_code == 403 else ""


async def _prepare(house: House) -> None:
    """A worker in a repository, with a file that it showed."""
    await house.hire("ann")
    house.agent.conversations = [SessionFound(id="a-session", directory="/srv/shop")]
    folder = house.node.settings.working_directory
    (folder / "seen.txt").write_text("for whoever may")
    house.agent.plays(Said(text=f"[[file:{folder}/seen.txt]]"), TurnEnded(how=HowEnded.COMPLETED))
    await house.say("show it")
    await house.fact(TurnEnded)
    subprocess.run(["git", "init", "-q", folder], check=True)


def _check(answer: tuple[int, str], row: Row, *, may: bool, who: tuple[str, str]) -> None:
    status, why = answer
    if not may:
        assert status == 403, (who, answer)
        assert any(reason in why for reason in REFUSALS), (who, answer)
    elif row.gives:
        assert status in (101, 200, 204), (who, answer)
    else:
        # Passkeys are refused for reasons of their own: to the node's key, and under an address in numbers.
        assert not any(reason in why for reason in REFUSALS), (who, answer)
        assert status < 500, (who, answer)


async def test_every_route_that_is_served_has_a_row(house: House) -> None:
    served = {
        f"{method} {route.path}"
        for route in house.node.routes
        if isinstance(route, Route | WebSocketRoute)
        for method in ((route.methods or set()) - {"HEAD"} if isinstance(route, Route) else {"GET"})
    }
    assert all(isinstance(route, Route | WebSocketRoute) for route in house.node.routes)
    assert served == {*ROWS, *FOR_ANYBODY}


async def test_who_may_call_what(house: House, client: httpx2.AsyncClient) -> None:
    await _prepare(house)
    _, whole = await paired(house, client)
    _, looks = await paired(house, client, read_only=True)
    gone, revoked = await paired(house, client)
    async with SocketHub(house.node.settings.door) as hub:
        await hub.revoke(gone.id)
    own = f"http://127.0.0.1:{house.node.port}"
    bearer = "Authorization"
    cookie = await cookie_of(house, client)
    tunnel = {"X-Forwarded-For": "203.0.113.9", "Host": "team.example"}
    callers: dict[str, tuple[dict[str, str], bool, bool]] = {
        "nobody": ({}, False, False),
        "an empty key": ({bearer: "Bearer"}, False, False),
        "a wrong key": ({bearer: "Bearer x" * 4}, False, False),
        "a revoked device": ({bearer: f"Bearer {revoked}"}, False, False),
        "the node's key": ({bearer: f"Bearer {house.node.settings.key.read_text()}"}, True, True),
        "a device": ({bearer: f"Bearer {whole}"}, True, True),
        "a read-only device": ({bearer: f"Bearer {looks}"}, True, False),
        "a device's cookie": (cookie, True, True),
        "its cookie on our own page": ({**cookie, "Origin": own, "Sec-Fetch-Site": "same-origin"}, True, True),
        "its cookie on a foreign page": ({**cookie, "Origin": "https://evil.example"}, False, False),
        "its cookie on another port": ({**cookie, "Origin": "http://127.0.0.1:1"}, False, False),
        "its cookie from another site": ({**cookie, "Sec-Fetch-Site": "cross-site"}, False, False),
        "its cookie through a tunnel": ({**cookie, "X-Forwarded-For": "203.0.113.9"}, False, False),
        "its cookie under another name": ({**cookie, "Host": "team.example"}, False, False),
        "a device behind a tunnel": ({bearer: f"Bearer {whole}", **tunnel}, True, True),
        "a read-only device behind a tunnel": ({bearer: f"Bearer {looks}", **tunnel}, True, False),
        "a stranger behind a tunnel": ({"X-Forwarded-For": "127.0.0.1", "Host": "team.example"}, False, False),
    }
    for name, (headers, reads, writes) in callers.items():
        for route, row in ROWS.items():
            answer = await _answer(client, _called(route, row, house), row, headers)
            _check(answer, row, may=writes if row.writes else reads, who=(name, route))


async def test_who_may_call_what_from_the_lan(house: House, client: httpx2.AsyncClient) -> None:
    """Who comes from another address of the network needs a key like everybody; a cookie of this machine is none."""
    await _prepare(house)
    _, whole = await paired(house, client)
    _, looks = await paired(house, client, read_only=True)
    cookie = await cookie_of(house, client)
    host = {"Host": "192.168.1.5:8081"}
    callers: dict[str, tuple[dict[str, str], bool, bool]] = {
        "nobody": (host, False, False),
        "nobody who says that it is here": ({"Host": "localhost:8081"}, False, False),
        "a cookie of this machine": ({**host, **cookie}, False, False),
        "a device": ({**host, "Authorization": f"Bearer {whole}"}, True, True),
        "a read-only device": ({**host, "Authorization": f"Bearer {looks}"}, True, False),
    }
    # The node of a test listens on this machine alone: the address is told as the listener would tell it.
    transport = httpx2.ASGITransport(app=http.application(house.node.routes), client=("192.168.1.7", 4000))
    async with local_client(transport=transport, base_url="http://192.168.1.5:8081") as lan:
        for name, (headers, reads, writes) in callers.items():
            for route, row in ROWS.items():
                may, called = writes if row.writes else reads, _called(route, row, house)
                # What has no end is never answered without a connection; a socket is none there.
                if not (may and row.streams) and not called[1].endswith("/socket"):
                    _check(await _answer(lan, called, row, headers), row, may=may, who=(name, route))

"""Every kind of route with every kind of caller: who is answered, and who is not."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from tests.spec.team import Team

from farhand.client.door import SocketHub
from farhand.store import folder
from farhand.testing.http import local_client

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")]
NOBODY = 65534
# Passes bytes on, and adds nothing: what a bare proxy, a TCP tunnel or `ssh -R` does. It becomes its user first.
RELAY = """
import os, socket, sys, threading
user, port = int(sys.argv[1]), int(sys.argv[2])
if user:
    os.setgroups([]); os.setgid(user); os.setuid(user)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
def passed(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass
while True:
    client, _ = listener.accept()
    server = socket.socket()
    server.connect(("127.0.0.1", port))
    for pair in ((client, server), (server, client)):
        threading.Thread(target=passed, args=pair, daemon=True).start()
"""
ROUTES = [
    ("GET", "/"),
    ("GET", "/healthz"),
    ("GET", "/workers"),
    ("POST", "/response"),
    ("POST", "/notify"),
    ("GET", "/api/hub/present"),
    ("GET", "/api/hub/status"),
    ("POST", "/api/hub/commands"),
    ("POST", "/"),
]
# What anybody may see; what this machine's own user may do; what takes a key of its own.
PUBLIC, LOCAL, HUB = {"/", "/healthz"}, {"/workers", "/response", "/notify"}, "/api/hub/"
CALLERS = {
    # The transport, the headers, and whether routes of this machine and the hub answer.
    "unix socket": ("socket", {}, True, False),
    "own user": ("tcp", {}, True, False),
    "own user with the key": ("tcp", {"Authorization": "Bearer {key}"}, True, True),
    "another user": ("nobody", {}, False, False),
    "another user with the key": ("nobody", {"Authorization": "Bearer {key}"}, True, True),
    "another user who claims a proxy's address": ("nobody", {"X-Forwarded-For": "127.0.0.1"}, False, False),
    "the network through a relay of the own user": ("relay", {"Host": "team.example.com"}, False, False),
    "a proxy that says so": ("relay", {"X-Forwarded-For": "203.0.113.9"}, False, False),
    "a browser with its cookie": ("tcp", {"Cookie": "{cookie}"}, True, True),
    "another user with that cookie": ("nobody", {"Cookie": "{cookie}"}, False, False),
    "that cookie through a relay": ("relay", {"Cookie": "{cookie}", "Host": "team.example.com"}, False, False),
    "that cookie through a proxy": ("relay", {"Cookie": "{cookie}", "X-Forwarded-For": "203.0.113.9"}, False, False),
    "a web page": ("tcp", {"Origin": "https://evil.example"}, False, False),
}


@asynccontextmanager
async def way(team: Team, transport: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that comes to the node that way."""
    if transport == "socket":
        path = str(team.house.node.settings.http_socket)
        async with local_client(transport=httpx2.AsyncHTTPTransport(uds=path), base_url=team.url) as client:
            yield client
    elif transport == "tcp":
        async with local_client(base_url=team.url) as client:
            yield client
    else:
        user = NOBODY if transport == "nobody" else 0
        command = [sys.executable, "-I", "-S", "-c", RELAY, str(user), str(team.house.node.port)]
        async with await anyio.open_process(command) as process:
            assert process.stdout is not None
            port = int(await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 20))
            async with local_client(base_url=f"http://localhost:{port}") as client:
                yield client
            process.kill()


async def browser_cookie(team: Team) -> str:
    """The cookie of a browser on this machine that was paired without TLS."""
    async with SocketHub(team.settings.door) as hub, way(team, "tcp") as client:
        paired = await client.post("/api/pair", json={"code": (await hub.pair()).code, "name": "my browser"})
    return paired.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize("caller", CALLERS)
async def test_every_route_and_every_caller(team: Team, caller: str) -> None:
    await team.asks("/team")
    await team.hire("ann")
    transport, given, local, hub = CALLERS[caller]
    key, cookie = folder.key(team.settings.key), await browser_cookie(team)
    headers = {name: value.format(key=key, cookie=cookie) for name, value in given.items()}
    answered: dict[str, bool] = {}
    async with way(team, transport) as client:
        # How much happens here is for this machine's own user.
        assert ("seq" in (await client.get("/healthz", headers=headers)).json()) is local
        for method, path in ROUTES:
            body = {"session": "nobody-here", "text": "hello"} if method == "POST" else None
            answer = await client.request(method, path, json=body, headers=headers)
            answered[f"{method} {path}"] = answer.status_code != 403
    expected = {
        f"{method} {path}": (method == "GET" and path in PUBLIC)
        or (path in LOCAL and local)
        or (path.startswith(HUB) and hub)
        for method, path in ROUTES
    }
    assert answered == expected


async def test_a_relay_of_the_own_user_that_says_localhost_is_the_own_user(team: Team) -> None:
    # What `ssh -R` on this account publishes looks like a program of this account (docs/explanation/security.md).
    await team.asks("/team")
    async with way(team, "relay") as client:
        assert (await client.get("/workers")).status_code == 200

"""The public side can do nothing but knock: every route, with everything that a stranger may try."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from starlette.datastructures import Headers
from starlette.routing import BaseRoute, Route
from structlog.testing import capture_logs
from tests.spec.promises import promise
from tests.spec.team import Team, team_house

from farhand.channels.files.channel import FilesChannel
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.host import TmuxHost, TmuxHostOptions
from farhand.model import compat
from farhand.model.http_guard import why_refused
from farhand.server import http
from farhand.server.local import RouteGuard, closed
from farhand.store import folder
from farhand.testing.http import local_client
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
FOREIGN: dict[str, dict[str, str]] = {
    "host": {"Host": "team.example.com"},
    "rebound host": {"Host": "attacker.example:8081"},
    "address as host": {"Host": "192.168.1.7:8081"},
    "empty host": {"Host": ""},
    "forwarded for": {"X-Forwarded-For": "203.0.113.9"},
    "forwarded for itself": {"X-Forwarded-For": "127.0.0.1"},
    "forwarded host": {"X-Forwarded-Host": "localhost"},
    "forwarded proto": {"X-Forwarded-Proto": "https"},
    "forwarded": {"Forwarded": "for=127.0.0.1"},
    "cloudflare": {"Cf-Connecting-Ip": "127.0.0.1"},
    "cloudflare ray": {"CF-RAY": "1"},
    "real ip": {"X-Real-IP": "127.0.0.1"},
    "via": {"Via": "1.1 proxy"},
    "client ip": {"Client-Ip": "127.0.0.1"},
    "original forwarded for": {"X-Original-Forwarded-For": "127.0.0.1"},
    "azure": {"X-Azure-ClientIP": "127.0.0.1"},
    "vercel": {"X-Vercel-Id": "fra1::1"},
    "origin": {"Origin": "https://evil.example"},
    "null origin": {"Origin": "null"},
    "another port's origin": {"Origin": "http://localhost:3000"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "wrong key": {"Authorization": "Bearer wrong", "Host": "team.example.com"},
    "no key": {"Authorization": "Bearer", "Host": "team.example.com"},
}
LOCAL = [("POST", "/response"), ("POST", "/notify"), ("GET", "/workers")]
KEYED = [
    ("POST", "/api/hub/commands"),
    ("GET", "/api/hub/present"),
    ("GET", "/api/hub/status"),
    ("GET", "/api/hub/events"),
    ("GET", "/api/hub/sessions"),
    ("GET", "/api/hub/history"),
    ("GET", "/api/hub/search"),
    ("GET", "/api/usage"),
    ("GET", "/api/hub/stream"),
    ("POST", "/api/hub/stream"),
    ("GET", "/api/devices"),
    ("DELETE", "/api/devices/phone"),
]
# What anybody may see, and what it says is always the same.
PUBLIC = {("GET", "/"), ("HEAD", "/"), ("GET", "/healthz"), ("HEAD", "/healthz")}
# The app's own files are anybody's, and hold nothing of the team.
APP = "/app"
# To pair a device needs a code, wherever one comes from: a wrong one is refused, and soon not even looked at.
SIGN_IN = ("/api/sign-in", "/api/passkeys/sign-in")
PAIR, NOT_PAIRED = "/api/pair", {"wrong_code", "too_many_tries", "not_allowed", "plain_http"}
BODY = {"session": "ann", "text": "[[file:/etc/hosts.txt]] hello", "code": "WRONGCODE", "bearer": True}


async def ask(team: Team, method: str, path: str, headers: dict[str, str]) -> httpx2.Response:
    async with local_client() as client:
        return await client.request(
            method, f"{team.url}{path}", json=BODY if method == "POST" else None, headers=headers
        )


@pytest.mark.parametrize("trick", sorted(FOREIGN))
async def test_no_stranger_reaches_a_route_of_this_machine(team: Team, trick: str) -> None:
    await team.asks("/team")
    await team.hire("ann")
    with capture_logs() as logged:
        for method, path in LOCAL:
            answer = await ask(team, method, path, FOREIGN[trick])
            assert (answer.status_code, answer.text) == (403, "Forbidden"), path
    refused = [line for line in logged if line["event"] == "refused"]
    assert [line["path"] for line in refused] == [path for _, path in LOCAL]
    await team.asks("/team")
    assert not [one for one in await team.bot.messages(4242) if "hello" in one.text or "hosts.txt" in one.text]


@pytest.mark.parametrize("trick", [*sorted(FOREIGN), "nothing at all"])
async def test_the_hub_needs_its_key_and_the_webhook_its_secret(team: Team, trick: str) -> None:
    headers = FOREIGN.get(trick, {})
    for method, path in KEYED:
        assert (await ask(team, method, path, headers)).status_code == 403, path
    assert (await ask(team, "POST", "/", headers)).status_code == 403
    # What anybody may see says nothing.
    assert (await ask(team, "GET", "/", headers)).text == "Claude-Telegram Multi-Session Bridge"
    for method in ("PUT", "DELETE", "PATCH"):
        assert (await ask(team, method, "/response", headers)).status_code == 405


async def test_whoever_holds_the_key_may_come_from_anywhere(team: Team) -> None:
    key = folder.key(team.settings.key)
    headers = {"Authorization": f"Bearer {key}", "Host": "team.example.com", "X-Forwarded-For": "203.0.113.9"}
    assert (await ask(team, "GET", "/workers", headers)).json() == {"workers": []}
    assert (await ask(team, "GET", "/api/hub/present", headers)).status_code == 200


@pytest.mark.parametrize(
    "address", ["192.0.2.7", "10.0.0.5", "172.17.0.2", "2001:db8::1", "::ffff:192.0.2.7", "garbage"]
)
async def test_callers_from_another_address_are_refused(team: Team, address: str) -> None:
    files = next(one for one in team.house.node.channels if isinstance(one, FilesChannel))
    app = http.application(closed(files.local_routes(), RouteGuard("the key", own_user=lambda *_: True)))

    async def status(client: str) -> list[int]:
        transport = httpx2.ASGITransport(app=app, client=(client, 4000))
        async with local_client(transport=transport, base_url="http://localhost:8081") as http_client:
            return [
                (await http_client.request(method, path, json=BODY if method == "POST" else None)).status_code
                for method, path in LOCAL
            ]

    assert await status(address) == [403, 403, 403]
    assert 403 not in await status("127.0.0.1")
    assert 403 not in await status("::1")


# With nothing but bash, which anybody may run.
CALLER = """
exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET /workers HTTP/1.1\\r\\nHost: localhost:%s\\r\\nConnection: close\\r\\n\\r\\n' "$1" >&3
read -r _ status _ <&3 && echo "$status"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_another_user_of_this_machine_is_a_stranger(team: Team) -> None:
    words = ["/bin/bash", "-c", CALLER, "caller", str(team.house.node.port)]
    ours = await anyio.run_process(words, cwd="/")
    theirs = await anyio.run_process(words, cwd="/", user=65534, group=65534, extra_groups=[])
    assert (ours.stdout.split(), theirs.stdout.split()) == ([b"200"], [b"403"])


def test_who_is_a_stranger() -> None:
    def why(client: str | None = "127.0.0.1", **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in {"host": "localhost:1", **headers}.items()}
        return why_refused(Headers(named), client, "k" * 40)

    assert why() == why(host="127.0.0.1:8081") == why(host="[::1]:8081") == why(None, host="anything") == ""
    assert why(origin="http://localhost:1") == ""
    assert why(None, x_forwarded_for="1.2.3.4") == "forwarded (x-forwarded-for)"
    assert why(host="localhost.evil.example") == "foreign Host"
    assert why(host="[::1") == "foreign Host"
    assert why("203.0.113.1", authorization="Bearer " + "k" * 40) == ""
    assert why("203.0.113.1", authorization="k" * 40) == "another address"


@promise("security.2", "http.3")
async def test_a_webhook_always_has_a_secret(tmp_path: Path, bot: FakeBot) -> None:
    async with team_house(tmp_path, bot) as team:
        secret = (team.settings.folder / "webhook_secret").read_text()
        assert len(secret) >= 32
        update: dict[str, Any] = {"update_id": 1}
        assert (await team.post("/", update)).status_code == 403
        header = {"X-Telegram-Bot-Api-Secret-Token": secret}
        assert (await team.post("/", update, headers=header)).status_code == 200


async def test_a_body_without_end_is_cut_off(team: Team) -> None:
    assert (await team.post("/response", {"session": "ann", "text": "x" * 5_000_000})).status_code == 413
    assert (await team.post("/notify", {"text": "x" * 5_000_000})).status_code == 413


# What a stranger would write for each part of an address that varies.
PARTS = {"worker": "ann", "backend": "claude", "event": "Stop", "device": "phone"}


def filled_in(address: str) -> str:
    """An address to ask for: the parts that vary as a stranger would guess them."""
    return re.sub(r"{(\w+)(?::\w+)?}", lambda part: PARTS.get(part[1], "guessed"), address)


@promise("http.5", "security.2", "security.4")
async def test_there_is_no_other_route(
    tmp_path: Path, bot: FakeBot, tmux_server: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a node serves, hooks included, is closed to strangers; a route that is added later is tried, too."""
    served: list[list[BaseRoute]] = []

    def application(routes: list[BaseRoute]) -> Any:
        served.append(routes)
        return http_application(routes)

    http_application = http.application
    monkeypatch.setattr(http, "application", application)
    agent = ScriptedDriver(backend="claude")
    options = TmuxHostOptions(
        "test", "claude-test-", tmp_path, tmp_path / "hooks.sock", sys.executable, tmp_path / "hook.py"
    )
    agent.tmux_host = TmuxHost(options, Tmux(tmux_server, "farhand-test", {}))  # type: ignore[attr-defined]
    async with team_house(tmp_path, bot, claude=agent) as team, local_client(base_url=team.url) as client:
        await team.hire("ann")
        routes = [route for route in served[0] if isinstance(route, Route)]
        paths = {route.path.partition("{")[0] for route in routes}
        assert {"/response", "/notify", "/workers", "/hooks/of/", "/api/hub/commands", PAIR, "/api/devices/"} <= paths
        for route in routes:
            path = filled_in(route.path)
            for method in route.methods or ():
                for trick, headers in sorted(FOREIGN.items()):
                    answer = await client.request(method, path, json=BODY, headers=headers)
                    if (method, path) in PUBLIC:
                        assert answer.text in ("", compat.BANNER, '{"ok":true}'), (path, trick)
                    elif path.startswith(APP):
                        assert method in ("GET", "HEAD"), path
                        assert not re.search(r"\bann\b", answer.text), (path, trick)
                    elif path.startswith(SIGN_IN):
                        # A proof is needed, wherever one comes from; who has none gets a challenge at most.
                        assert answer.status_code in (400, 403) or path.endswith("/options"), (method, path, trick)
                        assert not re.search(r"\bann\b", answer.text), (path, trick)
                        assert "set-cookie" not in answer.headers, (path, trick)
                    elif path == PAIR:
                        assert answer.json()["error"]["code"] in NOT_PAIRED, trick
                    else:
                        assert answer.status_code == 403, (method, path, trick)
        headers = {"Authorization": f"Bearer {folder.key(team.settings.key)}"}
        assert (await client.get("/api/devices", headers=headers)).json()["devices"] == []

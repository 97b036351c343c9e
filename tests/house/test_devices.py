"""Devices: no device, no data; a code pairs once; what is revoked is out at once; nobody speaks as another."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from farhand.client.door import SocketHub
from farhand.devices.registry import ALPHABET, CODE_LENGTH
from farhand.model import errors
from farhand.model.devices import CODE_SECONDS, Device
from farhand.model.facts import Queued, Said, Showed, TurnEnded
from farhand.model.ports import SessionFound
from farhand.model.words import Attachment, HowEnded
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house

pytestmark = pytest.mark.anyio
READS = [
    ("GET", "/api/hub/present"),
    ("GET", "/api/hub/status"),
    ("GET", "/api/hub/sessions"),
    ("GET", "/api/hub/sessions/scripted/a-session"),
    ("GET", "/api/hub/history?worker=ann"),
    ("GET", "/api/hub/search?query=x"),
    ("GET", "/api/usage"),
    ("GET", "/api/digest"),
    ("GET", "/api/hub/events?after=0"),
    ("GET", "/api/hub/stream"),
    ("POST", "/api/hub/stream"),
    ("POST", "/api/hub/view"),
    ("GET", "/api/devices"),
    ("GET", "/api/passkeys"),
    ("GET", "/api/hire"),
    ("GET", "/api/workers"),
    ("GET", "/api/workers/ann"),
    ("GET", "/api/workers/ann/tree"),
    ("GET", "/api/workers/ann/file?path=seen.txt"),
    ("GET", "/api/workers/ann/file?path=seen.txt&raw=1"),
    ("GET", "/api/workers/ann/git"),
    ("GET", "/api/workers/ann/commits"),
    ("GET", "/api/workers/ann/diff"),
    ("GET", "/api/workers/ann/shown?path={folder}/seen.txt"),
]
WRITES = [
    ("POST", "/api/hub/commands"),
    ("DELETE", "/api/devices/nobody"),
    ("DELETE", "/api/passkeys/nobody"),
    ("POST", "/api/uploads"),
    ("PUT", "/api/uploads/12345678"),
    ("POST", "/api/workers/ann/keys"),
]


@pytest.fixture
async def client(house: House) -> AsyncIterator[httpx2.AsyncClient]:
    address = f"http://127.0.0.1:{house.node.port}"
    async with httpx2.AsyncClient(base_url=address, timeout=SAFETY_SECONDS, trust_env=False) as opened:
        yield opened


async def _paired(house: House, client: httpx2.AsyncClient, *, read_only: bool = False) -> tuple[Device, str]:
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair(read_only=read_only)).code
    reply = (await client.post("/api/pair", json={"code": code, "name": "my phone", "bearer": True})).json()
    async with SocketHub(house.node.settings.door) as hub:
        (device,) = [one for one in await hub.devices() if one.id == reply["device"]["id"]]
    return device, reply["key"]


async def _cookie(house: House, client: httpx2.AsyncClient) -> dict[str, str]:
    """The cookie of a browser that was paired."""
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair()).code
    paired = await client.post("/api/pair", json={"code": code, "name": "my browser"})
    client.cookies.clear()
    return {"Cookie": paired.headers["set-cookie"].partition(";")[0]}


async def _status(client: httpx2.AsyncClient, method: str, path: str, headers: dict[str, str]) -> int:
    """The status of the answer, without reading a stream to its end."""
    content = json.dumps({"type": "focus", "id": path, "worker": "ann"}) if path.endswith("commands") else None
    content = json.dumps({"view": {"worker": "ann"}}) if path.endswith("view") else content
    async with client.stream(method, path, headers=headers, content=content) as response:
        return response.status_code


async def test_who_may_call_what(house: House, client: httpx2.AsyncClient) -> None:
    await house.hire("ann")
    house.agent.conversations = [SessionFound(id="a-session", directory="/srv/shop")]
    folder = house.node.settings.working_directory
    (folder / "seen.txt").write_text("for whoever may")
    house.agent.plays(Said(text=f"[[file:{folder}/seen.txt]]"), TurnEnded(how=HowEnded.COMPLETED))
    await house.say("show it")
    await house.fact(TurnEnded)
    subprocess.run(["git", "init", "-q", folder], check=True)
    _, whole = await _paired(house, client)
    _, looks = await _paired(house, client, read_only=True)
    gone, revoked = await _paired(house, client)
    async with SocketHub(house.node.settings.door) as hub:
        await hub.revoke(gone.id)
    own = f"http://127.0.0.1:{house.node.port}"
    bearer = "Authorization"
    cookie = await _cookie(house, client)
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
        "a device behind a tunnel": (
            {bearer: f"Bearer {whole}", "X-Forwarded-For": "203.0.113.9", "Host": "team.example"},
            True,
            True,
        ),
        "a stranger behind a tunnel": ({"X-Forwarded-For": "127.0.0.1", "Host": "team.example"}, False, False),
    }
    for name, (headers, reads, writes) in callers.items():
        for method, path in READS:
            status = await _status(client, method, path.format(folder=folder), headers)
            assert (status in (200, 204)) is reads, (name, method, path, status)
        # Who may look is told that there is no terminal.
        assert (await _status(client, "GET", "/api/workers/ann/pane", headers) == 400) is reads, name
        for method, path in WRITES:
            # A device that does not exist is told to whoever may ask.
            assert (await _status(client, method, path, headers) != 403) is writes, (name, method, path)


async def test_a_device_gets_the_files_that_were_shown_and_no_others(house: House, client: httpx2.AsyncClient) -> None:
    await house.hire("ann")
    folder = house.node.settings.working_directory
    for name in ("shown.txt", "captioned.txt", "sent.txt", "other.txt", "plan.txt"):
        (folder / name).write_text(name)
    text = f"Here: [[file:{folder}/shown.txt]] [[file: {folder}/captioned.txt |a text]]"
    longer = (
        f'[[file:{folder}/plan.txt.old]] [[file:/x{folder}/plan.txt]] [[file:{folder}/plan.txt"x]] /x"{folder}/plan.txt'
    )
    sent = Showed(file=Attachment(path=f"{folder}/sent.txt"))
    house.agent.plays(Said(text=f"{text} {longer}"), sent, TurnEnded(how=HowEnded.COMPLETED))
    await house.say("show it")
    await house.fact(TurnEnded)
    _, key = await _paired(house, client, read_only=True)
    headers = {"Authorization": f"Bearer {key}"}
    # A path that is part of a longer one is not named.
    right = {"shown.txt": 200, "captioned.txt": 200, "sent.txt": 200, "other.txt": 403, "plan.txt": 403, "": 403}
    got = {
        name: (await client.get("/api/workers/ann/shown", params={"path": path}, headers=headers)).status_code
        for name in right
        for path in (f"{folder}/{name}" if name else "",)
    }
    assert got == right


async def test_a_code_pairs_one_device_and_in_time(house: House, client: httpx2.AsyncClient) -> None:
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair()).code
        late = (await hub.pair()).code
    assert len(code) == CODE_LENGTH
    typed = f"{code[:5].lower()} - {code[5:]}"
    first = await client.post("/api/pair", json={"code": typed, "name": "x\u202ey\n" * 100})
    assert first.status_code == 200
    assert "key" not in first.json()
    set_cookie = first.headers["set-cookie"]
    assert all(part in set_cookie for part in ("farhand-device=", "HttpOnly", "SameSite=strict", "Path=/"))
    name = first.json()["device"]["name"]
    assert "\u202e" not in name
    assert "\n" not in name
    assert len(name) <= 60
    assert (await client.post("/api/pair", json={"code": code})).json()["error"]["code"] == "wrong_code"
    assert isinstance(house.clock, ManualClock)
    house.clock.advance(CODE_SECONDS)
    assert (await client.post("/api/pair", json={"code": late})).json()["error"]["code"] == "wrong_code"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_a_cookie_that_a_browser_brought_to_another_server_of_this_machine_is_worth_nothing_there(
    house: House, client: httpx2.AsyncClient
) -> None:
    """Cookies know no port: a page of another user's server on 127.0.0.1 is brought the cookie of this node."""
    cookie = await _cookie(house, client)
    value = cookie["Cookie"].partition("=")[2]
    assert (await client.get("/api/devices", headers=cookie)).status_code == 200
    assert (await client.get("/api/devices", headers={"Authorization": f"Bearer {value}"})).status_code == 403
    assert (await client.get("/api/devices", headers={"Cookie": f"__Host-farhand={value}"})).status_code == 403
    thief = (
        "import encodings.idna, http.client, os, sys; os.setuid(int(sys.argv[3]));"
        " link = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]));"
        " link.request('GET', '/api/devices', headers={'Cookie': sys.argv[2]}); print(link.getresponse().status)"
    )
    words = [sys.executable, "-I", "-S", "-c", thief, str(house.node.port), cookie["Cookie"]]
    for user, status in (("0", "200"), ("65534", "403")):
        tried = await anyio.run_process([*words, user])
        assert tried.stdout.decode().strip() == status


async def test_over_tls_the_cookie_is_bound_to_the_host(house: House, client: httpx2.AsyncClient) -> None:
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair()).code
    paired = await client.post("/api/pair", json={"code": code}, headers={"X-Forwarded-Proto": "https"})
    assert paired.headers["set-cookie"].startswith("__Host-farhand=")
    assert "Secure" in paired.headers["set-cookie"]


async def test_ten_thousand_guesses_get_nobody_in_and_lock_nobody_out(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        from farhand.devices.registry import Devices
        from farhand.store.devices import SqliteDevices

        devices = Devices(SqliteDevices(house.node.journal._database), house.clock)
        right = devices.invite().code
        answers: dict[str, int] = {}
        for number in range(10_000):
            guess = "".join(ALPHABET[(number * 7 + place * 13 + number // 32) % len(ALPHABET)] for place in range(10))
            try:
                await devices.pair(guess, "stranger")
            except (errors.WrongCode, errors.TooManyTries) as error:
                answers[error.code] = answers.get(error.code, 0) + 1
        assert sum(answers.values()) == 10_000
        assert answers["too_many_tries"] > 9_000
        # Whoever has the right code does not wait behind those who guess.
        device, _ = await devices.pair(right, "mine")
        assert [one.id for one in await devices.all()] == [device.id]


async def test_a_device_speaks_as_itself_and_nobody_as_a_device(house: House, client: httpx2.AsyncClient) -> None:
    await house.hire("ann")
    device, key = await _paired(house, client)
    command = {"type": "say", "id": "one", "worker": "ann", "text": "hi"}
    headers = {"Authorization": f"Bearer {key}", "X-Farhand-Via": "telegram"}
    assert (await client.post("/api/hub/commands", json=command, headers=headers)).status_code == 200
    queued = await house.fact(Queued)
    assert (queued.by.via, queued.by.who) == (f"web-{device.id}", "my phone")
    # The node's key does not make one a device, and so does the door not.
    claims = {"Authorization": f"Bearer {house.node.settings.key.read_text()}", "X-Farhand-Via": device.via}
    assert (await client.post("/api/hub/commands", json=command, headers=claims)).status_code == 403


async def test_a_revoked_device_is_cut_off_at_once(house: House, client: httpx2.AsyncClient) -> None:
    device, key = await _paired(house, client)
    headers = {"Authorization": f"Bearer {key}"}
    ended = anyio.Event()

    async def read(path: str, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with client.stream("GET", path, headers=headers) as response:
            pieces = response.aiter_bytes()
            await anext(pieces)
            task_status.started()
            async for _ in pieces:
                continue

    with anyio.fail_after(SAFETY_SECONDS):
        async with anyio.create_task_group() as tasks:
            for path in ("/api/hub/stream", "/api/hub/events"):
                await tasks.start(read, path)
            async with SocketHub(house.node.settings.door) as hub:
                await hub.revoke(device.id)
        ended.set()
    assert (await client.get("/api/hub/present", headers=headers)).status_code == 403
    async with SocketHub(house.node.settings.door) as hub:
        with pytest.raises(errors.UnknownDevice):
            await hub.revoke(device.id)


SAYING = json.dumps({"type": "say", "id": "late", "worker": "ann", "text": "after the end"})
UPLOADED = json.dumps({"id": "upload-1", "worker": "ann", "name": "a.txt", "size": 1, "media_type": "text/plain"})
TAPPED = json.dumps({"ask": "a", "digest": "d", "choice": "yes", "token": "t"})


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/api/hub/commands", SAYING),
        ("/api/hub/stream", "{}"),
        ("/api/hub/view", '{"view": {"worker": "ann", "visible": true}}'),
        ("/api/passkeys", '{"credential": {}}'),
        ("/api/push", "{}"),
        ("/api/push/answer", TAPPED),
        ("/api/uploads", UPLOADED),
        ("/api/workers/ann/keys", '{"keys": ["Enter"]}'),
        ("/api/workers/ann/merge", '{"into": "main"}'),
    ],
)
async def test_a_device_that_is_revoked_while_it_sends_gets_nothing(
    house: House, client: httpx2.AsyncClient, path: str, content: str
) -> None:
    await house.hire("ann")
    device, key = await _paired(house, client)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    head += f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    async with await anyio.connect_tcp("127.0.0.1", house.node.port) as link:
        await link.send(f"{head}{content[:1]}".encode())
        # Whoever is served on another connection shows that the node has read the first one.
        assert (await client.get("/healthz")).status_code == 200
        async with SocketHub(house.node.settings.door) as hub:
            await hub.revoke(device.id)
        await link.send(content[1:].encode())
        answer = b""
        with anyio.fail_after(SAFETY_SECONDS):
            try:
                while True:
                    answer += await link.receive()
            except anyio.EndOfStream:
                pass
    # A stream has begun before it is cut, and says nothing.
    assert b"needs the node's key or a paired device" in answer or (
        path.endswith("stream") and b"hello" not in answer
    ), answer
    assert not any(isinstance(event.fact, Queued) for event in await house.history())


async def test_a_stranger_can_send_little_to_be_paired(client: httpx2.AsyncClient) -> None:
    sent = await client.post("/api/pair", json={"code": "A" * 5000})
    assert (sent.status_code, sent.json()["error"]["code"]) == (413, "too_large")


async def test_devices_outlive_the_node_and_their_keys_are_not_kept(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{house.node.port}", trust_env=False) as client:
            _, key = await _paired(house, client)
        folder = house.node.settings.folder
    assert not any(key.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    async with open_house(tmp_path) as house:
        address, headers = f"http://127.0.0.1:{house.node.port}", {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(base_url=address, headers=headers, trust_env=False) as client:
            listed: dict[str, Any] = (await client.get("/api/devices")).json()
            assert listed["me"] == listed["devices"][0]["id"]
            # It may end itself.
            assert (await client.delete(f"/api/devices/{listed['me']}")).status_code == 200
            assert (await client.get("/api/devices")).status_code == 403

"""Devices: no device, no data; a code pairs once; what is revoked is out at once; nobody speaks as another."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.house.paired_devices import cookie_of, paired

from farhand.client.door import SocketHub
from farhand.devices.registry import ALPHABET, CODE_LENGTH, MOST_WRONG, WRONG_SECONDS
from farhand.model import errors
from farhand.model.devices import CODE_SECONDS
from farhand.model.facts import Queued, Said, Showed, TurnEnded
from farhand.model.words import Attachment, HowEnded
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(house: House) -> AsyncIterator[httpx2.AsyncClient]:
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as opened:
        yield opened


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
    _, key = await paired(house, client, read_only=True)
    headers = {"Authorization": f"Bearer {key}"}
    # A path that is part of a longer one is not named.
    right = {"shown.txt": 200, "captioned.txt": 200, "sent.txt": 200, "other.txt": 403, "plan.txt": 403, "": 403}
    got = {
        name: (await client.get("/api/workers/ann/shown", params={"path": path}, headers=headers)).status_code
        for name in right
        for path in (f"{folder}/{name}" if name else "",)
    }
    assert got == right


async def test_a_device_cannot_name_a_file_itself_and_get_it(house: House, client: httpx2.AsyncClient) -> None:
    """What a person says, answers or attaches names no file that the node would then hand out."""
    await house.hire("ann")
    secret = house.node.settings.working_directory / "notes.txt"
    secret.write_text("not shown to anybody")
    _, key = await paired(house, client)
    headers = {"Authorization": f"Bearer {key}"}

    async def say(number: int, **fields: Any) -> int:
        command = {"type": "say", "id": f"s{number}", "worker": "ann", **fields}
        return (await client.post("/api/hub/commands", json=command, headers=headers)).status_code

    for number, text in enumerate((str(secret), f"[[file:{secret}]]")):
        house.agent.plays(Said(text="No."), TurnEnded(how=HowEnded.COMPLETED))
        assert await say(number, text=text) == 200
    assert await say(3, text="look", attachments=[{"path": str(secret), "name": "x"}]) == 403
    inbox = house.node.inbox("ann")
    for outside in (f"{inbox}/../notes.txt", f"{inbox}/sub/notes.txt", str(inbox), str(house.node.inbox("bob") / "x")):
        assert await say(4, text="look", attachments=[{"path": outside, "name": "x"}]) == 403
    # Nor does it answer in the worker's name.
    respond = {"type": "respond", "id": "r1", "worker": "ann", "text": f"[[file:{secret}]]"}
    assert (await client.post("/api/hub/commands", json=respond, headers=headers)).status_code == 403
    shown = await client.get("/api/workers/ann/shown", params={"path": str(secret)}, headers=headers)
    assert shown.status_code == 403


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
    cookie = await cookie_of(house, client)
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
    answer = await client.post("/api/pair", json={"code": code}, headers={"X-Forwarded-Proto": "https"})
    assert answer.headers["set-cookie"].startswith("__Host-farhand=")
    assert "Secure" in answer.headers["set-cookie"]


def _guess(number: int) -> bytes:
    guess = "".join(ALPHABET[(number * 7 + place * 13 + number // 32) % len(ALPHABET)] for place in range(CODE_LENGTH))
    body = json.dumps({"code": guess, "name": "stranger", "bearer": True}).encode()
    return b"POST /api/pair HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def test_ten_thousand_guesses_get_nobody_in_and_lock_nobody_out(house: House, client: httpx2.AsyncClient) -> None:
    """Over HTTP, on one connection as fast as it goes, for most of the time that a code is good for."""
    assert isinstance(house.clock, ManualClock)
    rounds, at_once = 200, 50
    async with SocketHub(house.node.settings.door) as hub:
        right = (await hub.pair()).code
    answers: Counter[str] = Counter()
    with anyio.fail_after(SAFETY_SECONDS):
        async with await anyio.connect_tcp("127.0.0.1", house.node.port) as link:
            for number in range(rounds):
                await link.send(b"".join(_guess(number * at_once + one) for one in range(at_once)))
                read = b""
                while read.count(b"HTTP/1.1 ") < at_once or not read.endswith(b"}"):
                    read += await link.receive()
                answers.update(re.findall(r'"code":"(\w+)"', read.decode()))
                house.clock.advance(0.8 * CODE_SECONDS / rounds)
    assert answers.keys() == {"wrong_code", "too_many_tries"}
    assert answers.total() == rounds * at_once
    # So many in a minute are looked at, in every minute.
    assert MOST_WRONG < answers["wrong_code"] <= MOST_WRONG * (1 + 0.8 * CODE_SECONDS / WRONG_SECONDS)
    # Whoever has the right code does not wait behind those who guess.
    mine = await client.post("/api/pair", json={"code": right, "name": "mine"})
    assert mine.status_code == 200
    async with SocketHub(house.node.settings.door) as hub:
        assert [one.id for one in await hub.devices()] == [mine.json()["device"]["id"]]


async def test_a_device_speaks_as_itself_and_nobody_as_a_device(house: House, client: httpx2.AsyncClient) -> None:
    await house.hire("ann")
    device, key = await paired(house, client)
    command = {"type": "say", "id": "one", "worker": "ann", "text": "hi"}
    headers = {"Authorization": f"Bearer {key}", "X-Farhand-Via": "telegram"}
    assert (await client.post("/api/hub/commands", json=command, headers=headers)).status_code == 200
    queued = await house.fact(Queued)
    assert (queued.by.via, queued.by.who) == (f"web-{device.id}", "my phone")
    # The node's key does not make one a device, and so does the door not.
    claims = {"Authorization": f"Bearer {house.node.settings.key.read_text()}", "X-Farhand-Via": device.via}
    assert (await client.post("/api/hub/commands", json=command, headers=claims)).status_code == 403


async def test_a_revoked_device_is_cut_off_at_once(house: House, client: httpx2.AsyncClient) -> None:
    device, key = await paired(house, client)
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
    device, key = await paired(house, client)
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
        async with local_client(base_url=f"http://127.0.0.1:{house.node.port}") as client:
            _, key = await paired(house, client)
        folder = house.node.settings.folder
    assert not any(key.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    async with open_house(tmp_path) as house:
        address, headers = f"http://127.0.0.1:{house.node.port}", {"Authorization": f"Bearer {key}"}
        async with local_client(base_url=address, headers=headers) as client:
            listed: dict[str, Any] = (await client.get("/api/devices")).json()
            assert listed["me"] == listed["devices"][0]["id"]
            # It may end itself.
            assert (await client.delete(f"/api/devices/{listed['me']}")).status_code == 200
            assert (await client.get("/api/devices")).status_code == 403

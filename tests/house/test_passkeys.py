"""A browser with a passkey is paired without a code; nothing else gets in by one, and it ends with its device."""

import base64
import hashlib
import json
import struct
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import anyio
import cbor2
import httpx2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from farhand.client.door import SocketHub
from farhand.devices.passkeys import CHALLENGE_SECONDS, Passkeys
from farhand.model.devices import Device
from farhand.model.errors import NotAllowed
from farhand.model.passkeys import Passkey, StoredPasskey
from farhand.store.database import Database
from farhand.store.passkeys import SqlitePasskeys
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
VERIFIED, UNVERIFIED = 0x05, 0x01


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Authenticator:
    """What a phone's own key store does, in software."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.id = b"a passkey of the test"
        self.count = 0

    def makes(self, options: dict[str, Any], origin: str) -> dict[str, Any]:
        numbers = self._key.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        about = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor2.dumps(public)
        data = self._data(options["rp"]["id"], VERIFIED | 0x40) + about
        attested = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", options["challenge"], origin)
        return self._credential(clientDataJSON=text(client), attestationObject=text(attested))

    def proves(
        self, challenge: str, origin: str, site: str = "localhost", *, flags: int = VERIFIED, count: int | None = None
    ) -> dict[str, Any]:
        self.count = self.count + 1 if count is None else count
        data, client = self._data(site, flags), self._client("webauthn.get", challenge, origin)
        signed = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._credential(clientDataJSON=text(client), authenticatorData=text(data), signature=text(signed))

    def _data(self, site: str, flags: int) -> bytes:
        return hashlib.sha256(site.encode()).digest() + struct.pack(">BI", flags, self.count)

    def _client(self, kind: str, challenge: str, origin: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode()

    def _credential(self, **response: str) -> dict[str, Any]:
        return {"id": text(self.id), "rawId": text(self.id), "type": "public-key", "response": response}


@pytest.fixture
async def client(house: House) -> AsyncIterator[httpx2.AsyncClient]:
    address = f"http://localhost:{house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as opened:
        yield opened


async def _paired(house: House, client: httpx2.AsyncClient) -> tuple[str, dict[str, str]]:
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair()).code
    reply = (await client.post("/api/pair", json={"code": code, "name": "phone", "bearer": True})).json()
    return reply["device"]["id"], {"Authorization": f"Bearer {reply['key']}"}


async def _made(client: httpx2.AsyncClient, key: dict[str, str]) -> Authenticator:
    authenticator = Authenticator()
    options = (await client.post("/api/passkeys/options", headers=key)).json()
    credential = authenticator.makes(options, str(client.base_url).rstrip("/"))
    made = await client.post("/api/passkeys", json={"credential": credential, "name": "my finger"}, headers=key)
    assert made.json()["passkey"]["name"] == "my finger", made.text
    return authenticator


async def _challenge(client: httpx2.AsyncClient) -> str:
    return str((await client.post("/api/passkeys/sign-in/options")).json()["challenge"])


async def test_a_browser_with_a_passkey_is_paired_as_a_new_device(house: House, client: httpx2.AsyncClient) -> None:
    first, key = await _paired(house, client)
    authenticator = await _made(client, key)
    origin = str(client.base_url).rstrip("/")
    proof = {"credential": authenticator.proves(await _challenge(client), origin), "name": "new browser"}
    entered = await client.post("/api/passkeys/sign-in", json=proof)
    assert entered.status_code == 200, entered.text
    assert entered.json()["device"]["name"] == "new browser"
    assert "HttpOnly" in entered.headers["set-cookie"]
    listed = (await client.get("/api/devices", headers=key)).json()["devices"]
    assert {one["id"] for one in listed} == {first, entered.json()["device"]["id"]}
    # The same proof is good once.
    assert (await client.post("/api/passkeys/sign-in", json=proof)).status_code == 403


async def test_whatever_is_wrong_with_a_proof_keeps_it_out(house: House, client: httpx2.AsyncClient) -> None:
    _, key = await _paired(house, client)
    authenticator = await _made(client, key)
    origin = str(client.base_url).rstrip("/")
    making = (await client.post("/api/passkeys/options", headers=key)).json()["challenge"]
    stranger = Authenticator()
    wrong: dict[str, dict[str, Any]] = {
        "another's key": stranger.proves(await _challenge(client), origin),
        "an unknown id": {
            **authenticator.proves(await _challenge(client), origin),
            "id": text(b"x"),
            "rawId": text(b"x"),
        },
        "another page": authenticator.proves(await _challenge(client), "https://evil.example"),
        "another port": authenticator.proves(await _challenge(client), "http://localhost:1"),
        "another site": authenticator.proves(await _challenge(client), origin, "evil.example"),
        "nobody's finger": authenticator.proves(await _challenge(client), origin, flags=UNVERIFIED),
        "a challenge of nobody": authenticator.proves(text(b"c" * 56), origin),
        "a challenge for something else": authenticator.proves(making, origin),
        "no proof": {},
        "nonsense": {"id": "x", "response": {"clientDataJSON": "!!"}},
    }
    for name, credential in wrong.items():
        answer = await client.post("/api/passkeys/sign-in", json={"credential": credential})
        assert answer.status_code == 403, (name, answer.text)
    late = authenticator.proves(await _challenge(client), origin, count=50)
    assert isinstance(house.clock, ManualClock)
    house.clock.advance(CHALLENGE_SECONDS + 1)
    assert (await client.post("/api/passkeys/sign-in", json={"credential": late})).status_code == 403
    good = {"credential": authenticator.proves(await _challenge(client), origin, count=51)}
    foreign = await client.post("/api/passkeys/sign-in", json=good, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert (await client.post("/api/passkeys/sign-in", json=good)).status_code == 200
    # An authenticator that counts backwards was copied.
    copied = {"credential": authenticator.proves(await _challenge(client), origin, count=7)}
    assert (await client.post("/api/passkeys/sign-in", json=copied)).status_code == 403


async def test_a_page_of_another_port_cannot_use_one_by_naming_that_port_to_the_node(
    house: House, client: httpx2.AsyncClient
) -> None:
    """Browsers offer a passkey of localhost to every server on this machine; such a server says any Host to us."""
    _, key = await _paired(house, client)
    authenticator = await _made(client, key)
    other = {"Host": "localhost:1"}
    challenge = (await client.post("/api/passkeys/sign-in/options", headers=other)).json()["challenge"]
    proof = {"credential": authenticator.proves(challenge, "http://localhost:1")}
    assert (await client.post("/api/passkeys/sign-in", json=proof, headers=other)).status_code == 403


async def test_a_passkey_ends_with_its_device_and_by_itself(house: House, client: httpx2.AsyncClient) -> None:
    origin = str(client.base_url).rstrip("/")
    device, key = await _paired(house, client)
    authenticator = await _made(client, key)
    (one,) = (await client.get("/api/passkeys", headers=key)).json()["passkeys"]
    assert (await client.delete(f"/api/passkeys/{one['id']}", headers=key)).status_code == 200
    credential = authenticator.proves(await _challenge(client), origin)
    assert (await client.post("/api/passkeys/sign-in", json={"credential": credential})).status_code == 403
    again = await _made(client, key)
    proof = {"credential": again.proves(await _challenge(client), origin), "name": "by it"}
    by_it = (await client.post("/api/passkeys/sign-in", json=proof)).json()["device"]["id"]
    other, others_key = await _paired(house, client)
    async with SocketHub(house.node.settings.door) as hub:
        await hub.revoke(device)
    credential = again.proves(await _challenge(client), origin)
    assert (await client.post("/api/passkeys/sign-in", json={"credential": credential})).status_code == 403
    # Whoever came in by it goes with it.
    left = [one["id"] for one in (await client.get("/api/devices", headers=others_key)).json()["devices"]]
    assert (left, by_it in left) == ([other], False)


class GatheringStore:
    """Passkeys in memory; whoever looks for one waits until so many do."""

    def __init__(self, looking: int) -> None:
        self._kept: dict[str, StoredPasskey] = {}
        self._missing = looking
        self._all_look = anyio.Event()

    async def add(self, passkey: StoredPasskey) -> bool:
        self._kept[passkey.passkey.id] = passkey
        return True

    async def find(self, passkey: str) -> StoredPasskey | None:
        self._missing -= 1
        if self._missing <= 0:
            self._all_look.set()
        await self._all_look.wait()
        return self._kept.get(passkey)

    async def all(self) -> list[Passkey]:
        return [one.passkey for one in self._kept.values()]

    async def used(self, passkey: str, sign_count: int, at: float) -> bool:
        return passkey in self._kept

    async def remove(self, passkey: str) -> bool:
        return self._kept.pop(passkey, None) is not None


async def test_of_one_proof_that_comes_many_times_at_once_one_is_good() -> None:
    passkeys, authenticator = Passkeys(GatheringStore(looking=5), ManualClock()), Authenticator()
    phone, host = Device(id="d1", name="phone", paired_at=0.0, last_seen=0.0), "team.example"
    made = authenticator.makes(json.loads(passkeys.creation_options(phone, host)), f"https://{host}")
    await passkeys.add(phone, host, json.dumps(made).encode(), "finger")
    challenge = json.loads(passkeys.request_options(host))["challenge"]
    proof = json.dumps(authenticator.proves(challenge, f"https://{host}", host)).encode()
    entered: list[Passkey] = []

    async def enter() -> None:
        with suppress(NotAllowed):
            entered.append(await passkeys.recognise(host, proof))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(enter)
    assert len(entered) == 1


async def test_nobody_s_passkey_is_replaced_and_none_is_made_for_a_device_that_is_gone(
    tmp_path: Path, house: House, client: httpx2.AsyncClient
) -> None:
    _, key = await _paired(house, client)
    _, other = await _paired(house, client)
    authenticator, origin = await _made(client, key), str(client.base_url).rstrip("/")
    options = (await client.post("/api/passkeys/options", headers=other)).json()
    same = {"credential": Authenticator().makes(options, origin)}
    assert (await client.post("/api/passkeys", json=same, headers=other)).status_code == 403
    proof = {"credential": authenticator.proves(await _challenge(client), origin)}
    assert (await client.post("/api/passkeys/sign-in", json=proof)).status_code == 200
    # Revoked between the check and the disk: the store itself says no.
    with closing(Database(tmp_path / "other.db")) as database:
        late = Passkey(id="late", name="late", site="localhost", device="gone", made_at=0.0)
        store = SqlitePasskeys(database)
        assert not await store.add(StoredPasskey(passkey=late, public_key=b"k", sign_count=0))
        assert await store.all() == []
        assert not await store.used("late", 1, 0.0)


async def test_only_a_device_that_may_write_makes_one_and_only_under_a_name(
    house: House, client: httpx2.AsyncClient
) -> None:
    _, key = await _paired(house, client)
    async with SocketHub(house.node.settings.door) as hub:
        code = (await hub.pair(read_only=True)).code
    looks = (await client.post("/api/pair", json={"code": code, "bearer": True})).json()["key"]
    for headers in ({}, {"Authorization": f"Bearer {looks}"}):
        assert (await client.post("/api/passkeys/options", headers=headers)).status_code == 403
    node = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    assert (await client.post("/api/passkeys/options", headers=node)).status_code == 403
    for host in ("127.0.0.1:8081", "[::1]", "10.1.2.3", "team", ""):
        numbers = {**key, "Host": host} if host else key
        status = (await client.post("/api/passkeys/options", headers=numbers)).status_code
        assert (status == 200) is (not host), host

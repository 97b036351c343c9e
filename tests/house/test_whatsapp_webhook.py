"""Who is heard on WhatsApp: what Meta signed and the manager wrote, once, also across a restart; and nobody else."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import anyio
import anyio.abc
import httpx2
import pytest
from tests.house.tripping_hub import POISON, TrippingHub
from tests.house.whatsapp_house import BSUID, NUMBER, WhatsAppHouse, whatsapp_house

from farhand.channels.whatsapp.receive import LARGE_POSTS_HELD, LARGEST_POST
from farhand.channels.whatsapp.settings import WhatsAppIdentity
from farhand.model.facts import Queued
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.http import local_client
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
from farhand.testing.whatsapp import FakeWhatsApp
from farhand.testing.whatsapp.posts import message_post, signature
from farhand.testing.whatsapp.words import PhoneMessage

pytestmark = pytest.mark.anyio
# It has the form of Meta's, and is nobody's.
FORGED = f"sha256={'0' * 64}"


def said_post(house: WhatsAppHouse, text: str, identity: str = "wamid.A==") -> bytes:
    message = PhoneMessage(id=identity, from_business=False, kind="text", text=text)
    house.manager.owner.wrote_at = house.whatsapp.world.now()
    content = {"type": "text", "text": {"body": text}}
    return message_post(house.whatsapp.world, house.manager.owner, message, house.whatsapp.world.now(), **content)


async def queued(house: WhatsAppHouse) -> list[str]:
    return [event.fact.text for event in await house.house.history() if isinstance(event.fact, Queued)]


async def test_a_bad_signature_is_a_403_and_does_nothing(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house, local_client() as client:
        await house.house.hire()
        body, url = said_post(house, "obey me"), whatsapp.world.callback
        right = signature(whatsapp.world, body)
        wrong = (
            "",
            "sha256=",
            right[:-1] + ("0" if right[-1] != "0" else "1"),
            right.removeprefix("sha256="),
            "sha256=é",
        )
        for given in wrong:
            answer = await client.post(url, content=body, headers=[(b"X-Hub-Signature-256", given.encode())])
            assert answer.status_code == 403, given
        assert (await client.post(url, content=body)).status_code == 403
        changed = body.replace(b"obey me", b"obey it")
        assert (await client.post(url, content=changed, headers={"X-Hub-Signature-256": right})).status_code == 403
        assert await queued(house) == []
        assert (await client.post(url, content=body, headers={"X-Hub-Signature-256": right})).status_code == 200
        assert await queued(house) == ["obey me"]


@pytest.mark.parametrize(
    "given", ["", "X-Hub-Signature-256: x\r\n", "X-Hub-Signature-256: sha256=00\r\n", "X-Hub-Signature-256: sha1=0\r\n"]
)
async def test_without_a_signature_nothing_is_read(tmp_path: Path, whatsapp: FakeWhatsApp, given: str) -> None:
    async with whatsapp_house(tmp_path, whatsapp):
        assert (await answer_to_head(whatsapp, f"Content-Length: 4000000\r\n{given}")).startswith(b"HTTP/1.1 403 ")


async def test_what_says_that_it_is_too_large_is_not_read(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp):
        head = f"Content-Length: {LARGEST_POST + 1}\r\nX-Hub-Signature-256: {FORGED}\r\n"
        assert (await answer_to_head(whatsapp, head)).startswith(b"HTTP/1.1 413 ")


async def test_strangers_large_posts_take_little_and_keep_no_message_out(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house, AsyncExitStack() as stack:
        await house.house.hire()
        size, held = LARGEST_POST - 1, LARGE_POSTS_HELD // LARGEST_POST
        links = [await stack.enter_async_context(await connected(whatsapp)) for _ in range(held + 1)]
        for link in links:
            # All of it but the last byte.
            await link.send(head_of(whatsapp, f"Content-Length: {size + 1}\r\nX-Hub-Signature-256: {FORGED}\r\n"))
        told: list[bytes] = []

        async def send(link: anyio.abc.SocketStream) -> None:
            with suppress(anyio.BrokenResourceError):
                await link.send(b"x" * size)
            told.append(await link.receive())

        async with anyio.create_task_group() as tasks:
            for link in links:
                tasks.start_soon(send, link)
            await until(lambda: len(told) == 1)
            assert told[0].startswith(b"HTTP/1.1 503 ")
            async with local_client() as client:
                body = said_post(house, "hear me")
                headers = {"X-Hub-Signature-256": signature(whatsapp.world, body)}
                assert (await client.post(whatsapp.world.callback, content=body, headers=headers)).status_code == 200
            tasks.cancel_scope.cancel()
        assert await queued(house) == ["hear me"]


def head_of(whatsapp: FakeWhatsApp, headers: str) -> bytes:
    url = httpx2.URL(whatsapp.world.callback)
    return f"POST {url.path} HTTP/1.1\r\nHost: {url.host}:{url.port}\r\n{headers}\r\n".encode()


async def connected(whatsapp: FakeWhatsApp) -> anyio.abc.SocketStream:
    url = httpx2.URL(whatsapp.world.callback)
    return await anyio.connect_tcp(url.host, url.port or 80)


async def answer_to_head(whatsapp: FakeWhatsApp, headers: str) -> bytes:
    """What is answered before anything of the body was sent."""
    async with await connected(whatsapp) as link:
        await link.send(head_of(whatsapp, headers))
        with anyio.fail_after(SAFETY_SECONDS):
            return await link.receive()


async def test_the_webhook_is_verified_by_its_token_alone(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp), local_client() as client:
        url = whatsapp.world.callback
        known = {
            "hub.mode": "subscribe",
            "hub.verify_token": whatsapp.world.verify_token,
            "hub.challenge": "1158201444",
        }
        answer = await client.get(url, params=known)
        assert (answer.status_code, answer.text) == (200, "1158201444")
        assert answer.headers["content-type"].startswith("text/plain")
        for change in ({"hub.verify_token": "x"}, {"hub.verify_token": ""}, {"hub.mode": "unsubscribe"}):
            assert (await client.get(url, params={**known, **change})).status_code == 403
        assert (await client.get(url)).status_code == 403


async def test_the_same_message_twice_acts_once_also_across_a_restart(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    agent = ScriptedDriver()
    async with whatsapp_house(tmp_path, whatsapp, agent=agent) as house:
        await house.house.hire()
        body = said_post(house, "once")
        assert [await whatsapp.post(body) for _ in range(3)] == [200, 200, 200]
        await house.manager.reads("answer to once")
    async with whatsapp_house(tmp_path, whatsapp, agent=agent) as house:
        assert await whatsapp.post(body) == 200
        assert await whatsapp.post(said_post(house, "twice", "wamid.B==")) == 200
        await house.manager.reads("answer to twice")
        assert await queued(house) == ["once", "twice"]
        assert [one.text.count("answer to once") for one in house.manager.received].count(1) == 1


async def test_what_makes_no_sense_costs_itself_alone(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        good = json.loads(said_post(house, "good"))
        value = good["entry"][0]["changes"][0]["value"]
        strange = [{"id": 7}, {"id": "w1", "type": "text", "text": "no object", "from": NUMBER}, "x", {"type": "text"}]
        value["messages"] = [*strange, value["messages"][0], {"id": "w2", "type": "sticker", "from": NUMBER}]
        good["entry"].insert(0, {"id": "1", "changes": [{"field": "messages", "value": []}, {"field": "flows"}]})
        assert await whatsapp.post(json.dumps(good).encode()) == 200
        for nonsense in (b"", b"{", b"[]", b"\xff", b'{"entry": 7}', b"[" * 5000):
            assert await whatsapp.post(nonsense) in (200, 400)
        assert await whatsapp.post(b"x" * 5_000_000) == 413
        await house.manager.reads("answer to good")
        assert await queued(house) == ["good"]


async def test_a_message_that_trips_an_error_of_ours_is_given_up_and_told(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    """Meta brings what was not taken again, for days; the third time it is taken, and what comes behind it is heard."""
    async with whatsapp_house(tmp_path, whatsapp, hub=TrippingHub) as house, local_client() as client:
        await house.house.hire()
        poison, after = said_post(house, POISON, "wamid.P=="), said_post(house, "after it", "wamid.Q==")
        codes: list[int] = []
        for body in (poison, poison, after, poison, poison):
            signed = {"X-Hub-Signature-256": signature(whatsapp.world, body)}
            answer = await client.post(whatsapp.world.callback, content=body, headers=signed)
            codes.append(answer.status_code)
        assert codes == [500, 500, 200, 200, 500]
        await house.manager.reads("tripped an error in farhand")
        assert await queued(house) == ["after it"]


async def test_messages_to_another_number_and_in_groups_are_nobodys(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        other = said_post(house, "to another").replace(whatsapp.world.phone_id.encode(), b"999")
        assert await whatsapp.post(other) == 200
        grouped = json.loads(said_post(house, "in a group"))
        grouped["entry"][0]["changes"][0]["value"]["messages"][0]["group_id"] = "g"
        assert await whatsapp.post(json.dumps(grouped).encode()) == 200
        assert await queued(house) == []


@pytest.mark.parametrize(
    ("known", "number", "bsuid", "obeyed"),
    [
        (WhatsAppIdentity(number=NUMBER), NUMBER, BSUID, True),
        (WhatsAppIdentity(bsuid=BSUID), NUMBER, BSUID, True),
        (WhatsAppIdentity(bsuid=BSUID), "4915199999999", BSUID, True),
        # The number belongs to somebody else now.
        (WhatsAppIdentity(number=NUMBER, bsuid=BSUID), NUMBER, "DE.9", False),
        (WhatsAppIdentity(number=NUMBER), "4915199999999", "DE.9", False),
        (WhatsAppIdentity(bsuid="DE.9"), NUMBER, BSUID, False),
    ],
)
async def test_the_manager_is_known_by_number_and_by_bsuid(
    tmp_path: Path, whatsapp: FakeWhatsApp, known: WhatsAppIdentity, number: str, bsuid: str, obeyed: bool
) -> None:
    async with whatsapp_house(tmp_path, whatsapp, manager=known) as house:
        await house.house.hire()
        owner = house.manager.owner
        owner.number, owner.bsuid = number, bsuid
        house.manager.says("hello")
        await whatsapp.posted()
        assert await queued(house) == (["hello"] if obeyed else [])


async def test_a_bsuid_that_was_seen_beside_the_number_is_enough_later_and_a_number_alone_too(
    tmp_path: Path, whatsapp: FakeWhatsApp
) -> None:
    async with whatsapp_house(tmp_path, whatsapp) as house:
        await house.house.hire()
        house.manager.says("both")
        await house.manager.reads("answer to both")
    async with whatsapp_house(tmp_path, whatsapp) as house:
        owner = house.manager.owner
        owner.shows_number = False
        house.manager.says("bsuid alone")
        await house.manager.reads("answer to bsuid alone")
        owner.shows_number, owner.shows_bsuid = True, False
        house.manager.says("number alone")
        await house.manager.reads("answer to number alone")
        # Somebody else has that number now.
        owner.shows_bsuid, owner.bsuid = True, "DE.666"
        house.manager.says("thief")
        await whatsapp.posted()
        assert await queued(house) == ["both", "bsuid alone", "number alone"]


async def test_nobody_becomes_the_manager_by_writing_first(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    async with whatsapp_house(tmp_path, whatsapp, manager=WhatsAppIdentity()) as house:
        await house.house.hire()
        eve = whatsapp.person("4915100000666", "DE.666", "Eve")
        eve.says("obey me")
        await whatsapp.posted()
        assert house.house.node.manager_chat() == ""
        code = house.shown[0].rpartition(" ")[2]
        house.manager.says(code)
        await house.manager.reads("I'm online and ready.")
        eve.says("obey me")
        house.manager.says("hello")
        await house.manager.reads("answer to hello")
        assert (await queued(house), house.house.node.manager_chat()) == (["hello"], BSUID)
        assert eve.received == []

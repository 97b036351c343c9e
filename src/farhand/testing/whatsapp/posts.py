"""What WhatsApp posts to a business: read by pywa as a second opinion, signed, and posted until it is taken."""

from __future__ import annotations

import hashlib
import hmac
import json
from functools import cache
from typing import Any

import anyio
import httpx
import httpx2
from pywa.types.base_update import RawUpdate
from pywa_async.client import WhatsApp

from farhand.testing.http import local_client
from farhand.testing.whatsapp.words import PhoneMessage
from farhand.testing.whatsapp.world import PhoneOwner, WhatsAppWorld

RETRY_SECONDS = 0.05


@cache
def reader(phone_id: str, waba_id: str) -> WhatsApp:
    """pywa, which knows what WhatsApp posts. It calls nobody, and so needs no certificates."""
    session = httpx.AsyncClient(verify=False)
    return WhatsApp(phone_id=phone_id, token="none", session=session, waba_id=waba_id, validate_updates=False)


def second_opinion(body: bytes, phone_id: str, waba_id: str) -> str:
    """What pywa takes the post for; raises what it raises for one that it cannot read."""
    client = reader(phone_id, waba_id)
    update = RawUpdate(body, hmac_header=None, update_hash="")
    handler = client._get_handler_type(update)
    if handler is None:
        raise AssertionError(f"pywa would pass this over: {body[:2000]!r}")
    made = client._handlers_to_updates[handler].from_update(client=client, update=update)
    return type(made).__name__


def post(world: WhatsAppWorld, owner: PhoneOwner, **brings: Any) -> bytes:
    """A post about that person."""
    contact: dict[str, Any] = {"profile": {"name": owner.name}}
    if owner.shows_number:
        contact["wa_id"] = owner.number
    if owner.shows_bsuid:
        contact["user_id"] = owner.bsuid
    metadata = {"display_phone_number": world.display_number, "phone_number_id": world.phone_id}
    value = {"messaging_product": "whatsapp", "metadata": metadata, "contacts": [contact], **brings}
    entry = {"id": world.waba_id, "changes": [{"field": "messages", "value": value}]}
    body = json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()
    if owner.shows_bsuid:
        second_opinion(body, world.phone_id, world.waba_id)
    return body


def message_post(world: WhatsAppWorld, owner: PhoneOwner, message: PhoneMessage, at: float, **content: Any) -> bytes:
    """A message of that person."""
    told: dict[str, Any] = {"id": message.id, "timestamp": str(int(at)), **content}
    if owner.shows_number:
        told["from"] = owner.number
    if owner.shows_bsuid:
        told["from_user_id"] = owner.bsuid
    return post(world, owner, messages=[told])


def status_post(
    world: WhatsAppWorld, owner: PhoneOwner, message: PhoneMessage, status: str, code: int = 0, title: str = ""
) -> bytes:
    """What became of a message to that person."""
    told: dict[str, Any] = {"id": message.id, "status": status, "timestamp": str(int(world.now()))}
    told["recipient_id"] = owner.number
    if code:
        details = {"code": code, "title": title, "message": title, "error_data": {"details": title}}
        told["errors"] = [details]
    return post(world, owner, statuses=[told])


def signature(world: WhatsAppWorld, body: bytes) -> str:
    """What proves that WhatsApp sent it."""
    return f"sha256={hmac.new(world.app_secret.encode(), body, hashlib.sha256).hexdigest()}"


async def post_for_ever(world: WhatsAppWorld) -> None:
    """Posts what is to be told, one after the other, each until it is answered with a 200: WhatsApp does for days."""
    async with local_client(timeout=60) as client:
        while True:
            seen = world.bell.count
            while world.callback and world.outgoing:
                body = world.outgoing[0]
                status = await post_once(world, client, body)
                world.answers.append(status)
                if status == 200:
                    world.outgoing.pop(0)
                    world.bell.ring()
                else:
                    await anyio.sleep(RETRY_SECONDS)
            await world.bell.wait(seen, 3600)


async def post_once(world: WhatsAppWorld, client: httpx2.AsyncClient, body: bytes) -> int:
    """One try; 0 when nobody is there."""
    headers = {"X-Hub-Signature-256": signature(world, body), "Content-Type": "application/json"}
    try:
        return (await client.post(world.callback, content=body, headers=headers)).status_code
    except httpx2.HTTPError:
        return 0

"""The fake Graph API over HTTP: what a business may ask of it, checked, and everything that can go wrong with it."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.testing.http import local_client
from farhand.testing.telegram.cuttable_server import listening
from farhand.testing.whatsapp.limits import IMAGES, KINDS, LARGEST, check_interactive, part, text_within, wrong
from farhand.testing.whatsapp.posts import post_for_ever, status_post
from farhand.testing.whatsapp.words import GraphCall, GraphFault, GraphRefusal, PhoneMessage
from farhand.testing.whatsapp.world import PhoneOwner, StoredMedia, WhatsAppWorld, new_message_id

WINDOW_CLOSED = 131047
REENGAGE = "Re-engagement message"


class FakeGraphApi:
    """The API of one world."""

    def __init__(self, world: WhatsAppWorld) -> None:
        self._world = world
        self.address = ""

    def app(self) -> Starlette:
        """Everything that is asked of it, below its version."""
        return Starlette(
            routes=[
                Route("/media/{media}", self.download),
                Route("/v{version}/{path:path}", self.call, methods=["GET", "POST"]),
            ]
        )

    async def call(self, request: Request) -> Response:
        """One call, with whatever fault was ordered for it."""
        path = str(request.path_params["path"]).strip("/")
        body = await _body(request)
        shown = {key: value for key, value in body.items() if not isinstance(value, bytes)}
        fault = self._world.fault_for(f"{path} {json.dumps(shown, ensure_ascii=False)}")
        if fault and not fault.after:
            self._note(request, path, shown, fault.kind)
            return self._suffer(request, fault)
        try:
            answer = await self._answer(request, path, body)
            outcome = "200"
        except GraphRefusal as refusal:
            self._note(request, path, shown, f"{refusal.code} {refusal.details}")
            return JSONResponse(refusal.as_json(), refusal.status)
        self._note(request, path, shown, fault.kind if fault else outcome)
        return self._suffer(request, fault) if fault else JSONResponse(answer)

    def _note(self, request: Request, path: str, body: dict[str, Any], outcome: str) -> None:
        self._world.calls.append(GraphCall(request.method, path, body, outcome))
        self._world.bell.ring()

    def _suffer(self, request: Request, fault: GraphFault) -> Response:
        if fault.kind == "status":
            refusal = GraphRefusal(fault.code, fault.message, fault.status, fault.message)
            return JSONResponse(refusal.as_json(), fault.status)
        if fault.kind == "garbage":
            return Response(b"<html>Sorry, something went wrong.</html>", fault.status, media_type="text/html")
        request.state.transport.abort()
        return Response()

    async def _answer(self, request: Request, path: str, body: dict[str, Any]) -> dict[str, Any]:
        world = self._world
        if request.headers.get("authorization") != f"Bearer {world.token}":
            raise GraphRefusal(190, "Invalid OAuth access token", 401, "Invalid OAuth access token.")
        match (request.method, path):
            case ("POST", where) if where == f"{world.phone_id}/messages":
                return self._read_mark(body) if body.get("status") else self._send(body)
            case ("POST", where) if where == f"{world.phone_id}/media":
                return self._upload(body)
            case ("POST", where) if where == world.phone_id:
                return await self._register(part(body.get("webhook_configuration"), "webhook_configuration"))
            case ("GET", where) if where == world.phone_id:
                webhook = {"phone_number": world.callback} if world.callback else {}
                number = {"id": world.phone_id, "display_phone_number": world.display_number}
                return {**number, "verified_name": "Team", "webhook_configuration": webhook}
            case ("POST", where) if where == f"{world.waba_id}/message_templates":
                return self._new_template(body)
            case ("GET", where) if where == f"{world.waba_id}/message_templates":
                return {"data": world.templates}
            case ("POST", where) if where == f"{world.waba_id}/subscribed_apps":
                return {"success": True}
            case ("GET", media) if media in world.media:
                found = world.media[media]
                return {
                    "id": media,
                    "url": f"{self.address}/media/{media}",
                    "mime_type": found.media_type,
                    "sha256": "0" * 64,
                    "file_size": len(found.content),
                    "messaging_product": "whatsapp",
                }
            case _:
                raise GraphRefusal(100, f"Unsupported {request.method} request: {path}", title="Unsupported request")

    # --- messages

    def _read_mark(self, body: Mapping[str, Any]) -> dict[str, Any]:
        message = self._world.message(str(body.get("message_id")))
        if body.get("status") != "read" or message.from_business:
            raise wrong("only what a person sent can be marked as read")
        message.read = True
        if "typing_indicator" in body:
            owner = next(one for one in self._world.people if message in one.chat)
            owner.typing += 1
        return {"success": True}

    def _send(self, body: Mapping[str, Any]) -> dict[str, Any]:
        kind = str(body.get("type"))
        if body.get("messaging_product") != "whatsapp" or kind not in KINDS:
            raise wrong(f"type {kind}")
        recipient = str(body.get("to") or body.get("recipient"))
        owner = self._world.owner(recipient)
        if ("recipient" in body) != (recipient == owner.bsuid):
            raise wrong("a BSUID goes into recipient, a number into to")
        message = PhoneMessage(id=new_message_id(), from_business=True, kind=kind)
        self._fill(message, kind, part(body.get(kind), kind), owner)
        if context := body.get("context"):
            message.reply_to = self._world.message(str(context["message_id"])).id
        self._deliver(owner, message, kind)
        contact = {"input": recipient, **({"wa_id": owner.number} if "to" in body else {"user_id": owner.bsuid})}
        return {"messaging_product": "whatsapp", "contacts": [contact], "messages": [{"id": message.id}]}

    def _deliver(self, owner: PhoneOwner, message: PhoneMessage, kind: str) -> None:
        world = self._world
        closed = kind != "template" and not world.is_open(owner)
        if closed and world.refuses_at_once:
            raise GraphRefusal(WINDOW_CLOSED, REENGAGE, title=REENGAGE)
        message.failed = closed
        if kind != "reaction":
            owner.chat.append(message)
            code, title = (WINDOW_CLOSED, REENGAGE) if closed else (0, "")
            world.outgoing.append(status_post(world, owner, message, "failed" if closed else "delivered", code, title))
        world.bell.ring()

    def _fill(self, message: PhoneMessage, kind: str, content: Mapping[str, Any], owner: PhoneOwner) -> None:
        match kind:
            case "text":
                message.text = text_within(content.get("body"), 4096, "Text")
            case "interactive":
                keys = check_interactive(content)
                message.text = str(content["body"]["text"])
                message.buttons = {title: data for title, (data, _) in keys.items()}
                message.descriptions = {title: more for title, (_, more) in keys.items() if more}
            case "reaction":
                target = self._world.message(str(content.get("message_id")))
                if target.from_business or target not in owner.chat:
                    raise wrong("only what this person sent can be reacted to")
                target.reaction = str(content.get("emoji", ""))
            case "template":
                self._fill_template(message, content)
            case _:
                self._fill_media(message, kind, content)

    def _fill_template(self, message: PhoneMessage, content: Mapping[str, Any]) -> None:
        name, language = content.get("name"), part(content.get("language"), "language").get("code")
        found = [one for one in self._world.templates if (one["name"], one["language"]) == (name, language)]
        if not found or found[0]["status"] != "APPROVED":
            text = f"template name ({name}) does not exist in {language}"
            raise GraphRefusal(132001, text, 404, "Template name does not exist in the translation")
        body, buttons = found[0]["components"]
        payloads = [one["parameters"][0]["payload"] for one in content.get("components", ())]
        message.text = str(body["text"])
        message.buttons = {one["text"]: payload for one, payload in zip(buttons["buttons"], payloads, strict=True)}

    def _fill_media(self, message: PhoneMessage, kind: str, content: Mapping[str, Any]) -> None:
        media = self._world.media.get(str(content.get("id")))
        if media is None:
            raise GraphRefusal(131053, "Media upload error", title="Media upload error")
        if len(media.content) > LARGEST[kind] * 1024 * 1024 or (kind == "image" and media.media_type not in IMAGES):
            raise GraphRefusal(131053, f"{media.media_type} of {len(media.content)} bytes is no {kind}")
        message.text = text_within(content.get("caption", ""), 1024, "Caption", 0)
        message.file_name, message.content = str(content.get("filename", "")), media.content
        message.media_type = media.media_type

    # --- media, templates, the webhook

    def _upload(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if body.get("messaging_product") != "whatsapp" or not isinstance(body.get("file"), bytes):
            raise wrong("file")
        media = f"{secrets.randbelow(10**15):015d}"
        self._world.media[media] = StoredMedia(body["file"], str(body["type"]), str(body["file_name"]))
        return {"id": media}

    async def download(self, request: Request) -> Response:
        """A file, for whoever has the token."""
        found = self._world.media.get(str(request.path_params["media"]))
        fault = self._world.fault_for("download")
        if fault:
            return self._suffer(request, fault)
        if request.headers.get("authorization") != f"Bearer {self._world.token}" or found is None:
            return Response("Not found", 404)
        return Response(found.content, media_type=found.media_type)

    def _new_template(self, body: Mapping[str, Any]) -> dict[str, Any]:
        for name, most in (("name", 512), ("language", 20), ("category", 20)):
            text_within(body.get(name), most, name)
        if any(one["name"] == body["name"] and one["language"] == body["language"] for one in self._world.templates):
            raise GraphRefusal(100, "Content in this language already exists", title="Invalid parameter")
        made = {**body, "id": f"{len(self._world.templates) + 1}", "status": "PENDING"}
        self._world.templates.append(made)
        return {"id": made["id"], "status": "PENDING", "category": str(body["category"])}

    async def _register(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Verifies the address as WhatsApp does, and posts there from now on."""
        url, token = str(wanted.get("override_callback_uri")), str(wanted.get("verify_token"))
        challenge = secrets.token_hex(8)
        query = {"hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": challenge}
        try:
            async with local_client(timeout=30) as client:
                answer = await client.get(url, params=query)
        except httpx2.HTTPError:
            raise GraphRefusal(2200, "The URL couldn't be validated.", title="Callback verification failed") from None
        if (answer.status_code, answer.text) != (200, challenge):
            raise GraphRefusal(2200, "The URL couldn't be validated.", title="Callback verification failed")
        self._world.callback, self._world.verify_token = url, token
        self._world.bell.ring()
        return {"success": True}


async def _body(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").startswith("multipart/"):
        async with request.form() as form:
            found: dict[str, Any] = {}
            for name, value in form.items():
                found[name] = await value.read() if isinstance(value, UploadFile) else value
                if isinstance(value, UploadFile):
                    found["file_name"] = value.filename or ""
            return found
    raw = await request.body()
    return dict(json.loads(raw)) if raw else {}


@contextlib.asynccontextmanager
async def serving(world: WhatsAppWorld) -> AsyncIterator[str]:
    """The fake on loopback for as long as the block lasts; yields its address."""
    api = FakeGraphApi(world)
    async with listening(api.app()) as address, anyio.create_task_group() as tasks:
        api.address = address
        tasks.start_soon(post_for_ever, world)
        try:
            yield address
        finally:
            tasks.cancel_scope.cancel()

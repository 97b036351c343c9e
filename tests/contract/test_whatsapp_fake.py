"""The fake WhatsApp is right by others' word: a bot made with pywa alone hears every kind and answers it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx
import pytest
from pywa.types.callback import Button, Section, SectionList, SectionRow
from pywa_async.client import WhatsApp
from pywa_async.types.callback import CallbackButton, CallbackSelection
from pywa_async.types.message import EditedMessage, Message
from pywa_async.types.message_status import MessageStatus
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from farhand.testing.telegram.cuttable_server import listening
from farhand.testing.whatsapp import FakeWhatsApp

pytestmark = pytest.mark.anyio


class PywaBot:
    """A bot as pywa's users write it, on its own webhook."""

    def __init__(self, whatsapp: FakeWhatsApp) -> None:
        world = whatsapp.world
        self.session = session = httpx.AsyncClient(timeout=60)
        self.heard: list[object] = []
        self.client = WhatsApp(
            phone_id=world.phone_id,
            token=world.token,
            session=session,
            verify_token="xyz",
            app_secret=world.app_secret,
            waba_id=world.waba_id,
        )
        session.base_url = httpx.URL(f"{whatsapp.address}/v26.0")
        for listen in ("message", "callback_button", "callback_selection", "message_status", "edited_message"):
            getattr(self.client, f"on_{listen}")(self._hear)

    async def _hear(self, _: WhatsApp, update: object) -> None:
        self.heard.append(update)

    async def receive(self, request: Request) -> Response:
        if request.method == "GET":
            query = request.query_params
            text, status = await self.client.webhook_challenge_handler(
                query["hub.verify_token"], query["hub.challenge"]
            )
            return Response(text, status)
        body = await request.body()
        if refused := await self.client.webhook_update_validator(body, request.headers.get("X-Hub-Signature-256")):
            return Response(*refused)
        return Response(*await self.client.webhook_update_handler(body))


@pytest.fixture
async def bot(whatsapp: FakeWhatsApp) -> AsyncIterator[PywaBot]:
    made = PywaBot(whatsapp)
    app = Starlette(routes=[Route("/", made.receive, methods=["GET", "POST"])])
    async with listening(app) as address:
        world = whatsapp.world
        async with made.session:
            await made.client.api.set_phone_alternate_callback_url(f"{address}/", "xyz", world.phone_id)
            yield made


async def test_pywa_hears_texts_files_taps_edits_and_what_became_of_its_messages(
    whatsapp: FakeWhatsApp, bot: PywaBot
) -> None:
    mo = whatsapp.person()
    said = mo.says("hello")
    mo.sends("image", b"\xff\xd8\xff", "image/jpeg", caption="look")
    mo.sends("document", b"words", "text/plain", name="notes.txt")
    mo.sends("audio", b"OggS", "audio/ogg; codecs=opus")
    mo.edits(said, "hello there")
    await whatsapp.posted()
    hello, image, document, voice, edited = bot.heard
    assert isinstance(hello, Message)
    assert (hello.text, hello.from_user.bsuid, hello.from_user.wa_id) == ("hello", "DE.8001", "4915100000001")
    assert isinstance(image, Message)
    assert image.image is not None
    media = await bot.client.get_media_url(image.image.id)
    assert await bot.client.get_media_bytes(media.url) == b"\xff\xd8\xff"
    assert isinstance(document, Message)
    assert document.document is not None
    assert document.document.filename == "notes.txt"
    assert isinstance(voice, Message)
    assert voice.audio is not None
    assert voice.audio.voice
    assert isinstance(edited, EditedMessage)
    assert edited.original_message_id == said.id
    await bot.client.send_message(mo.owner.number, "Shall I?", buttons=[Button("Yes", "y"), Button("No", "n")])
    rows = [SectionRow(f"row {place}", f"r{place}", "more") for place in range(10)]
    await bot.client.send_message(mo.owner.bsuid, "Which?", buttons=SectionList("Choose", [Section("All", rows)]))
    ask, which = await mo.reads("Shall I?"), await mo.reads("Which?")
    mo.taps(ask, "No")
    mo.taps(which, "row 7")
    await whatsapp.posted()
    taps = [one for one in bot.heard if isinstance(one, CallbackButton | CallbackSelection)]
    assert [(type(one).__name__, one.data) for one in taps] == [("CallbackButton", "n"), ("CallbackSelection", "r7")]
    statuses = [one for one in bot.heard if isinstance(one, MessageStatus)]
    assert {one.id for one in statuses} == {ask.id, which.id}


async def test_pywa_reacts_reads_types_and_sends_files(whatsapp: FakeWhatsApp, bot: PywaBot) -> None:
    mo = whatsapp.person()
    said = mo.says("hello")
    await bot.client.send_reaction(mo.owner.number, "👀", said.id)
    await bot.client.indicate_typing(said.id)
    await bot.client.send_document(mo.owner.number, b"all of it", filename="a.txt", mime_type="text/plain", caption="x")
    assert (said.reaction, said.read, mo.owner.typing) == ("👀", True, 1)
    assert (mo.received[0].content, mo.received[0].file_name) == (b"all of it", "a.txt")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "text", "text": {"body": "x" * 4097}},
        {"type": "text", "text": {"body": ""}},
        {"type": "interactive", "interactive": {"type": "button", "body": {"text": "x" * 1025}, "action": {}}},
        {
            "type": "interactive",
            "interactive": {
                "type": "button",
                "body": {"text": "x"},
                "action": {"buttons": [{"type": "reply", "reply": {"id": str(n), "title": str(n)}} for n in range(4)]},
            },
        },
        {
            "type": "interactive",
            "interactive": {
                "type": "list",
                "body": {"text": "x"},
                "action": {"button": "b", "sections": [{"title": "s", "rows": [{"id": "1", "title": "x" * 25}]}]},
            },
        },
        {"type": "reaction", "reaction": {"message_id": "wamid.none", "emoji": "x"}},
        {"type": "document", "document": {"id": "404"}},
        {"type": "template", "template": {"name": "none", "language": {"code": "en"}}},
    ],
)
async def test_what_the_cloud_api_would_refuse_is_refused(whatsapp: FakeWhatsApp, message: dict[str, object]) -> None:
    mo, world = whatsapp.person(), whatsapp.world
    mo.says("hello")
    whole = {"messaging_product": "whatsapp", "to": mo.owner.number, **message}
    async with httpx.AsyncClient(base_url=whatsapp.address) as client:
        address, key = f"/v26.0/{world.phone_id}/messages", {"Authorization": f"Bearer {world.token}"}
        answer = await client.post(address, content=json.dumps(whole), headers=key)
        assert answer.status_code in (400, 404)
        assert (await client.post(address, content=json.dumps(whole))).status_code == 401
    assert mo.received == []

"""The test's hand on the fake WhatsApp: people who write, send, tap and read, and a look at everything."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from farhand.testing.http import local_client
from farhand.testing.whatsapp.graph import serving
from farhand.testing.whatsapp.posts import message_post, post_once, status_post
from farhand.testing.whatsapp.words import GraphFault, PhoneMessage
from farhand.testing.whatsapp.world import PhoneOwner, StoredMedia, WhatsAppWorld, new_message_id

T = TypeVar("T")
# Only a net for a test that hangs; a busy machine is no failure.
WAIT_SECONDS = 240.0


class NeverCame(AssertionError):
    """What a test waited for did not come; says what was there instead."""


class FakeWhatsApp:
    """The fake as a test holds it."""

    def __init__(self, world: WhatsAppWorld, address: str) -> None:
        self.world = world
        self.address = address

    def person(self, number: str = "4915100000001", bsuid: str = "DE.8001", name: str = "Mo") -> PhonePerson:
        """Somebody with a phone."""
        owner = PhoneOwner(number=number, bsuid=bsuid, name=name)
        self.world.people.append(owner)
        return PhonePerson(self, owner)

    def approve_templates(self) -> None:
        """Meta approves what was handed in."""
        for template in self.world.templates:
            template["status"] = "APPROVED"

    def fault(self, contains: str = "", kind: str = "status", **options: Any) -> GraphFault:
        """Orders a fault for the next requests with these words."""
        made = GraphFault(contains=contains, kind=kind, **options)
        self.world.faults.append(made)
        return made

    async def until(self, look: Callable[[], T], *, seconds: float = WAIT_SECONDS) -> T:
        """What is seen, as soon as it is anything."""
        while True:
            seen = self.world.bell.count
            if found := look():
                return found
            if not await self.world.bell.wait(seen, seconds):
                raise NeverCame(f"waited {seconds} s; the chats:\n{drawn(self.world)}")

    async def posted(self) -> None:
        """Returns when the business has taken everything."""
        await self.until(lambda: not self.world.outgoing)

    async def post(self, body: bytes) -> int:
        """Posts once, past the queue; how it was answered."""
        async with local_client(timeout=60) as client:
            return await post_once(self.world, client, body)

    def fail(self, owner: PhoneOwner, message: PhoneMessage, code: int, title: str) -> None:
        """Reports that a message was not delivered."""
        message.failed = True
        self.world.outgoing.append(status_post(self.world, owner, message, "failed", code, title))
        self.world.bell.ring()


class PhonePerson:
    """Somebody with a phone: the manager, or a stranger."""

    def __init__(self, whatsapp: FakeWhatsApp, owner: PhoneOwner) -> None:
        self.whatsapp = whatsapp
        self.owner = owner

    @property
    def chat(self) -> list[PhoneMessage]:
        """Everything that was said in the chat with the business, in order."""
        return self.owner.chat

    def says(self, text: str, *, reply_to: str = "", at: float = 0.0, **more: Any) -> PhoneMessage:
        """Writes; the business hears of it in its turn."""
        message = PhoneMessage(id=new_message_id(), from_business=False, kind="text", text=text)
        context = {"context": {"from": self.whatsapp.world.display_number, "id": reply_to}} if reply_to else {}
        return self._tell(message, at, type="text", text={"body": text}, **context, **more)

    def sends(
        self, kind: str, content: bytes, media_type: str, *, name: str = "", caption: str = "", at: float = 0.0
    ) -> PhoneMessage:
        """Sends a picture, a document or a recording."""
        media = f"9{len(self.whatsapp.world.media):014d}"
        self.whatsapp.world.media[media] = StoredMedia(content, media_type.partition(";")[0], name)
        about: dict[str, Any] = {"id": media, "mime_type": media_type, "sha256": "0" * 64}
        about |= {"caption": caption} if caption else {}
        about |= {"filename": name} if kind == "document" else {}
        about |= {"voice": True} if kind == "audio" else {}
        message = PhoneMessage(id=new_message_id(), from_business=False, kind=kind, text=caption, content=content)
        return self._tell(message, at, type=kind, **{kind: about})

    def taps(self, message: PhoneMessage, label: str) -> PhoneMessage:
        """Taps a button or a row of a list."""
        data = message.buttons[label]
        tapped = PhoneMessage(id=new_message_id(), from_business=False, kind="tap", text=label, reply_to=message.id)
        context = {"from": self.whatsapp.world.display_number, "id": message.id}
        if message.kind == "template":
            return self._tell(tapped, 0, type="button", button={"payload": data, "text": label}, context=context)
        kind = "list_reply" if message.descriptions or len(message.buttons) > 3 else "button_reply"
        chosen = {"id": data, "title": label}
        return self._tell(tapped, 0, type="interactive", interactive={"type": kind, kind: chosen}, context=context)

    def edits(self, message: PhoneMessage, text: str) -> PhoneMessage:
        """Writes other words for a message."""
        edited = PhoneMessage(id=new_message_id(), from_business=False, kind="edit", text=text)
        anew = {"type": "text", "text": {"body": text}, "id": message.id}
        return self._tell(edited, 0, type="edit", edit={"original_message_id": message.id, "message": anew})

    def _tell(self, message: PhoneMessage, at: float, **content: Any) -> PhoneMessage:
        world = self.whatsapp.world
        when = at or world.now()
        self.owner.wrote_at = max(self.owner.wrote_at, when)
        self.owner.chat.append(message)
        world.outgoing.append(message_post(world, self.owner, message, when, **content))
        world.bell.ring()
        return message

    async def sees(self, holds: Callable[[list[PhoneMessage]], object]) -> list[PhoneMessage]:
        """The chat, once it is as told."""
        await self.whatsapp.until(lambda: holds(self.chat))
        return self.chat

    async def reads(self, text: str) -> PhoneMessage:
        """The first message of the business that arrived with these words."""

        def found() -> PhoneMessage | None:
            return next((one for one in self.received if text in one.text), None)

        message = await self.whatsapp.until(found)
        assert message is not None
        return message

    @property
    def received(self) -> list[PhoneMessage]:
        """What the business sent, and what arrived of it."""
        return [one for one in self.chat if one.from_business and not one.failed]


def drawn(world: WhatsAppWorld) -> str:
    """All chats as lines of text."""
    lines: list[str] = []
    for owner in world.people:
        for one in owner.chat:
            who = "business" if one.from_business else owner.name
            marks = f"{one.reaction}{' read' if one.read else ''}{' FAILED' if one.failed else ''}"
            lines.append(f"{who} [{one.kind}] {marks}: {one.text[:300]} {list(one.buttons)} {one.file_name}")
    return "\n".join(lines)


@contextlib.asynccontextmanager
async def fake_whatsapp() -> AsyncIterator[FakeWhatsApp]:
    """A WhatsApp on loopback for as long as the block lasts."""
    world = WhatsAppWorld()
    async with serving(world) as address:
        yield FakeWhatsApp(world, address)

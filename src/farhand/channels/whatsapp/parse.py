"""Turns what WhatsApp posts into the messages and taps that every chat shares. Pure: no clock, no network."""

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from farhand.channels.kit.surface import ChatMessage, ChatTap, QuotedMessage, SentFile
from farhand.channels.whatsapp.settings import WhatsAppIdentity
from farhand.channels.whatsapp.words import (
    WhatsAppContact,
    WhatsAppMedia,
    WhatsAppMessage,
    WhatsAppPost,
    WhatsAppStatus,
    WhatsAppValue,
)
from farhand.model.errors import BadInput
from farhand.model.names import origin

_Known = TypeVar("_Known")
# What a file is called, and what it is, when nobody says.
_USUAL = {
    "image": ("photo.jpg", "image/jpeg"),
    "audio": ("recording", "audio/ogg"),
    "video": ("video.mp4", "video/mp4"),
}
# What the button of our template carries.
REOPENED = "farhand:reopen"


@dataclass(frozen=True)
class ReceivedMessage:
    """One message with the person behind it."""

    message: WhatsAppMessage
    who: WhatsAppIdentity
    name: str = ""

    @property
    def at(self) -> float:
        """When it was written, in seconds since 1970; 0 where that makes no sense."""
        text = self.message.timestamp
        return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0.0


@dataclass(frozen=True)
class ReceivedPost:
    """All that one post brings to one phone number, in its order, and how many pieces could not be read."""

    messages: tuple[ReceivedMessage, ...] = ()
    statuses: tuple[WhatsAppStatus, ...] = ()
    unread: int = 0


def read_post(body: bytes, phone_id: str) -> ReceivedPost:
    """What a post brings to this phone number; raises BadInput for what is no post at all."""
    try:
        post = msgspec.json.decode(body, type=WhatsAppPost)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise BadInput("That is no post of WhatsApp's.") from None
    messages: list[ReceivedMessage] = []
    statuses: list[WhatsAppStatus] = []
    unread = 0
    for change in (change for entry in post.entry for change in entry.changes if change.field == "messages"):
        value = _decoded(change.value, WhatsAppValue)
        if value is None:
            unread += 1
            continue
        if value.metadata.phone_number_id != phone_id:
            continue
        found = [_decoded(raw, WhatsAppMessage) for raw in value.messages]
        told = [_decoded(raw, WhatsAppStatus) for raw in value.statuses]
        unread += found.count(None) + told.count(None)
        messages += [_received(one, value.contacts) for one in found if one is not None and one.id]
        statuses += [one for one in told if one is not None]
    return ReceivedPost(tuple(messages), tuple(statuses), unread)


def _decoded(raw: msgspec.Raw, kind: type[_Known]) -> _Known | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _received(message: WhatsAppMessage, contacts: tuple[WhatsAppContact, ...]) -> ReceivedMessage:
    """The message with its sender's number and BSUID, as far as either is told."""
    for one in contacts:
        same_number = bool(message.sender) and one.wa_id == message.sender
        same_user = bool(message.from_user_id) and one.user_id == message.from_user_id
        nameless = not message.sender and not message.from_user_id and len(contacts) == 1
        if same_number or same_user or nameless:
            who = WhatsAppIdentity(message.sender or one.wa_id, message.from_user_id or one.user_id)
            return ReceivedMessage(message, who, one.profile.name)
    return ReceivedMessage(message, WhatsAppIdentity(message.sender, message.from_user_id))


def message_command_id(message: WhatsAppMessage, phone_id: str) -> str:
    """The id under which a message is known for ever: WhatsApp brings one again for days."""
    return f"e:{phone_id}:{message.id}" if message.edit else f"m:{phone_id}:{message.id}"


def message_of(message: str, via: str, phone_id: str) -> str:
    """What WhatsApp calls a message that came over this phone number; empty for any other."""
    begins = f"{via}:m:{phone_id}:"
    # What went to everybody has the worker's name behind it.
    return origin(message).removeprefix(begins).partition(":")[0] if origin(message).startswith(begins) else ""


def to_chat(received: ReceivedMessage, chat: str, person: str, via: str, phone_id: str) -> ChatMessage | ChatTap | None:
    """The message or tap as every chat has it; None for what says nothing to us: reactions, stickers, places, and the
    button of a template, which reopens the window like everything that somebody sends."""
    message = received.message
    if message.interactive is not None:
        return _to_tap(received, chat, person)
    edited = message.edit.message if message.edit else None
    content = edited or message
    text = content.text.body if content.text else ""
    media, voice = _media(content), bool(content.audio)
    if not text.strip() and media is None:
        return None
    context = message.context
    return ChatMessage(
        id=message_command_id(message, phone_id),
        chat=chat,
        reference=message.id,
        text=text,
        caption=media.caption if media else "",
        who=received.name,
        person=person,
        from_person=True,
        foreign=bool(context and (context.forwarded or context.frequently_forwarded)),
        private=not message.group_id,
        at=received.at,
        quoted=QuotedMessage(reference=context.id) if context and context.id else None,
        file=sent_file(content, media) if media else None,
        spoken=voice,
        edits=f"{via}:m:{phone_id}:{message.edit.original_message_id}" if message.edit else "",
    )


def _to_tap(received: ReceivedMessage, chat: str, person: str) -> ChatTap | None:
    message = received.message
    choice = message.interactive and (message.interactive.button_reply or message.interactive.list_reply)
    if not choice:
        return None
    return ChatTap(
        id=message.id,
        chat=chat,
        data=choice.id,
        reference=message.context.id if message.context else "",
        who=received.name,
        person=person,
        private=not message.group_id,
    )


def _media(message: WhatsAppMessage) -> WhatsAppMedia | None:
    return message.image or message.document or message.audio or message.video


def sent_file(message: WhatsAppMessage, media: WhatsAppMedia) -> SentFile:
    """The file that came with a message; its size is known when it is fetched."""
    name, media_type = _USUAL.get(message.type, ("file", "application/octet-stream"))
    return SentFile(
        reference=media.id,
        name=" ".join(media.filename.split()) or name,
        media_type=" ".join(media.mime_type.partition(";")[0].split()) or media_type,
    )

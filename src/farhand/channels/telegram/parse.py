"""Turns what Telegram brings into the messages and taps that every chat shares. Pure: no clock, no network."""

import msgspec

from farhand.channels.kit.surface import ChatMessage, ChatTap, QuotedMessage, SentFile
from farhand.channels.telegram.words import (
    CallbackQuery,
    Document,
    Quoted,
    TelegramMessage,
    TelegramPerson,
    Update,
    UpdateContent,
)
from farhand.model.names import origin

TELEGRAM_ITSELF = 777000


def decode_update(update: bytes | msgspec.Raw) -> tuple[int, UpdateContent]:
    """The update's number and what it brings: a message, a tap, or nothing that we know."""
    try:
        decoded = msgspec.json.decode(update, type=Update)
    except msgspec.MsgspecError:
        return update_number(update), None
    try:
        if bytes(decoded.callback_query):
            return decoded.update_id, msgspec.json.decode(decoded.callback_query, type=CallbackQuery)
        part = bytes(decoded.message) or bytes(decoded.edited_message)
        return decoded.update_id, msgspec.json.decode(part, type=TelegramMessage) if part else None
    except msgspec.MsgspecError:
        return decoded.update_id, None


class _Numbered(msgspec.Struct):
    update_id: int


def update_number(update: bytes | msgspec.Raw) -> int:
    """The update's number alone, whatever else is in it."""
    try:
        return msgspec.json.decode(update, type=_Numbered).update_id
    except msgspec.MsgspecError:
        return 0


def message_command_id(message: TelegramMessage, bot: str) -> str:
    """The id under which a message is known for ever. Update ids will not do, for they restart at random; and every
    bot counts its messages for itself."""
    place = f"{bot}:{message.chat.id}:{message.message_id}"
    return f"e:{place}:{message.edit_date}" if message.edit_date else f"m:{place}"


def message_place(message: str, via: str, bot: str) -> tuple[int, int] | None:
    """The chat and number of a message that came over this bot."""
    message = origin(message)
    parts = message.removeprefix(f"{via}:m:{bot}:").split(":")
    # What went to everybody has the worker's name behind it.
    if not message.startswith(f"{via}:m:{bot}:") or len(parts) not in {2, 3}:
        return None
    try:
        return int(parts[0]), int(parts[1])
    except ValueError:
        return None


def to_message(message: TelegramMessage, via: str, bot: str) -> ChatMessage:
    """The message as every chat has it."""
    quoted, sender = message.reply_to_message, message.sender
    return ChatMessage(
        id=message_command_id(message, bot),
        chat=str(message.chat.id),
        reference=str(message.message_id),
        text=message.text,
        caption=message.caption,
        who=sender.first_name if sender else "",
        person=str(sender.id) if sender else "",
        # 777000 is Telegram itself, which brings along what a linked channel says.
        from_person=_is_person(sender) and message.sender_chat is None and not message.is_automatic_forward,
        foreign=message.foreign,
        at=float(message.date),
        private=message.chat.type == "private",
        quoted=QuotedMessage(
            reference=str(quoted.message_id),
            text=quoted.text or quoted.caption,
            ours=quoted.sender is not None and str(quoted.sender.id) == bot,
            foreign=_is_foreign(quoted, sender, bot),
        )
        if quoted
        else None,
        file=recording(message) if message.spoken else sent_file(message),
        spoken=message.spoken,
        edits=f"{via}:m:{bot}:{message.chat.id}:{message.message_id}" if message.edit_date else "",
    )


def _is_foreign(quoted: Quoted, sender: TelegramPerson | None, bot: str) -> bool:
    """Whether neither we nor the person who replies wrote it."""
    by = str(quoted.sender.id) if quoted.sender else ""
    return quoted.foreign or by not in (bot, str(sender.id) if sender else "")


def _is_person(sender: TelegramPerson | None) -> bool:
    return sender is not None and not sender.is_bot and sender.id != TELEGRAM_ITSELF


def to_tap(query: CallbackQuery) -> ChatTap | None:
    """The tap as every chat has it; None for one on a message that Telegram no longer shows us."""
    if query.message is None:
        return None
    return ChatTap(
        id=query.id,
        chat=str(query.message.chat.id),
        data=query.data,
        reference=str(query.message.message_id),
        who=query.sender.first_name,
        person=str(query.sender.id),
        from_person=_is_person(query.sender),
        private=query.message.chat.type == "private",
    )


def recording(message: TelegramMessage) -> SentFile | None:
    """The recording of a voice that came with the message; None for one that makes no sense."""
    for part, usual in ((message.voice, "audio/ogg"), (message.audio, "audio/mpeg"), (message.video_note, "video/mp4")):
        if not bytes(part):
            continue
        try:
            found = msgspec.json.decode(part, type=Document)
        except msgspec.MsgspecError:
            continue
        media_type = " ".join(found.mime_type.split()) or usual
        return SentFile(reference=found.file_id, name="recording", media_type=media_type, size=found.file_size)
    return None


def sent_file(message: TelegramMessage) -> SentFile | None:
    """The file that came with the message; of a photo's sizes the largest."""
    if message.photo:
        largest = max(message.photo, key=lambda size: (size.file_size, size.width))
        return SentFile(reference=largest.file_id, name="photo.jpg", media_type="image/jpeg", size=largest.file_size)
    document = message.document
    if document is None:
        return None
    name = " ".join(document.file_name.split()) or "file"
    media_type = " ".join(document.mime_type.split()) or "application/octet-stream"
    return SentFile(reference=document.file_id, name=name, media_type=media_type, size=document.file_size)

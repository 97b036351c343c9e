"""What becomes of messages: sent, edited, taken away, reacted to, with the files that they carry."""

from __future__ import annotations

from typing import Any

from telegram.constants import ReactionEmoji

from farhand.testing.telegram import limits
from farhand.testing.telegram.errors import bad_request
from farhand.testing.telegram.requests import BotRequest, Upload
from farhand.testing.telegram.world import FakeChat, FakeMessage, StoredFile, World

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
PHOTO_BYTES = 10_000_000
UPLOAD_BYTES = 50_000_000
PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF", b"BM")


def chat_to_write_in(world: World, asked: BotRequest) -> FakeChat:
    chat = world.chat(asked.parameters.get("chat_id"))
    thread = asked.parameters.get("message_thread_id")
    if thread is not None and thread not in chat.topics:
        raise bad_request("message thread not found")
    limits.check_markup(asked.parameters.get("reply_markup"))
    return chat


def _reply(chat: FakeChat, asked: BotRequest) -> dict[str, Any]:
    given = asked.parameters.get("reply_parameters") or {}
    wanted = given.get("message_id", asked.parameters.get("reply_to_message_id"))
    if wanted is None:
        return {}
    found = chat.messages.get(int(wanted))
    if found is not None and not found.deleted:
        quoted = {key: value for key, value in found.payload.items() if key != "reply_to_message"}
        return {"reply_to_message": quoted}
    lenient = given.get("allow_sending_without_reply", asked.parameters.get("allow_sending_without_reply"))
    if lenient:
        return {}
    raise bad_request("message to be replied not found")


def _sent(world: World, chat: FakeChat, asked: BotRequest, content: dict[str, Any]) -> dict[str, Any]:
    payload = {"from": world.me(), **_reply(chat, asked), **content}
    if thread := asked.parameters.get("message_thread_id"):
        payload |= {"message_thread_id": thread, "is_topic_message": True}
    # Only an inline keyboard is part of the message; the others are told to the phone alone.
    if (markup := asked.parameters.get("reply_markup") or {}).get("inline_keyboard"):
        payload["reply_markup"] = markup
    world.spend(chat)
    return world.put(chat, payload, silent=bool(asked.parameters.get("disable_notification"))).payload


def send_message(world: World, asked: BotRequest) -> dict[str, Any]:
    chat = chat_to_write_in(world, asked)
    given = asked.parameters
    text, entities = limits.formatted(given["text"], given.get("parse_mode"), given.get("entities"))
    limits.check_text(text)
    return _sent(world, chat, asked, {"text": text, **({"entities": entities} if entities else {})})


def _caption(asked: BotRequest) -> dict[str, Any]:
    given = asked.parameters
    text, entities = limits.formatted(
        str(given.get("caption", "")), given.get("parse_mode"), given.get("caption_entities")
    )
    limits.check_caption(text)
    if not text:
        return {}
    return {"caption": text, **({"caption_entities": entities} if entities else {})}


def _upload(world: World, asked: BotRequest, field: str) -> tuple[str, Upload]:
    """The file that a field speaks of, brought along or already kept."""
    value = str(asked.parameters[field])
    if value.startswith("attach://"):
        upload = asked.uploads.get(value.removeprefix("attach://"))
        if upload is None:
            raise bad_request(f"there is no {field} in the request")
        if not upload.content:
            raise bad_request("file must be non-empty")
        return keep_file(world, upload, field), upload
    if value in world.files:
        kept = world.files[value]
        return value, Upload(kept.path.rsplit("/", 1)[-1], kept.content)
    if value.startswith(("http://", "https://")):
        raise bad_request("failed to get HTTP URL content")
    raise bad_request("wrong file identifier/HTTP URL specified")


def keep_file(world: World, upload: Upload, folder: str) -> str:
    """Stores a file and says its id."""
    number = len(world.files)
    suffix = upload.name.rsplit(".", 1)[-1] if "." in upload.name else "bin"
    file_id = f"{folder[:2].upper()}{world.bot_id}x{number:06d}"
    world.files[file_id] = StoredFile(upload.content, f"{folder}s/file_{number}.{suffix}", len(upload.content))
    return file_id


def described(world: World, file_id: str) -> dict[str, Any]:
    return {"file_id": file_id, "file_unique_id": f"u{file_id}", "file_size": world.files[file_id].size}


def photo_sizes(world: World, file_id: str) -> list[dict[str, Any]]:
    """A photo in the sizes that Telegram makes of it, the smallest first."""
    whole = {**described(world, file_id), "width": 1280, "height": 960}
    small = {**whole, "file_unique_id": f"s{file_id}", "width": 90, "height": 67, "file_size": 1}
    return [small, whole]


def send_photo(world: World, asked: BotRequest) -> dict[str, Any]:
    chat = chat_to_write_in(world, asked)
    caption = _caption(asked)
    file_id, upload = _upload(world, asked, "photo")
    if len(upload.content) > PHOTO_BYTES:
        raise bad_request("file is too big")
    if not upload.content.startswith(PICTURES):
        raise bad_request("IMAGE_PROCESS_FAILED")
    return _sent(world, chat, asked, {"photo": photo_sizes(world, file_id), **caption})


def send_document(world: World, asked: BotRequest) -> dict[str, Any]:
    chat = chat_to_write_in(world, asked)
    caption = _caption(asked)
    file_id, upload = _upload(world, asked, "document")
    if len(upload.content) > UPLOAD_BYTES:
        raise bad_request("file is too big")
    document = {**described(world, file_id), "file_name": upload.name}
    return _sent(world, chat, asked, {"document": document, **caption})


def _editable(world: World, asked: BotRequest) -> FakeMessage:
    chat = world.chat(asked.parameters.get("chat_id"))
    message = world.message(chat, asked.parameters.get("message_id"), "edit")
    if message.payload.get("from", {}).get("id") != world.bot_id:
        raise bad_request("message can't be edited")
    limits.check_markup(asked.parameters.get("reply_markup"))
    return message


def _edited(
    world: World, message: FakeMessage, asked: BotRequest, content: dict[str, Any], dropped: set[str]
) -> dict[str, Any]:
    kept = {key: value for key, value in message.payload.items() if key not in dropped | {"reply_markup", "edit_date"}}
    markup = asked.parameters.get("reply_markup")
    shown = markup if (markup or {}).get("inline_keyboard") else None
    changed = {**kept, **content, **({"reply_markup": shown} if shown else {})}
    before = {key: value for key, value in message.payload.items() if key != "edit_date"}
    if changed == before:
        raise bad_request(NOT_MODIFIED)
    message.versions.append(message.text)
    message.payload = {**changed, "edit_date": int(message.payload["date"])}
    world.bell.ring()
    return message.payload


def edit_text(world: World, asked: BotRequest) -> dict[str, Any]:
    message = _editable(world, asked)
    given = asked.parameters
    text, entities = limits.formatted(given["text"], given.get("parse_mode"), given.get("entities"))
    limits.check_text(text)
    if "text" not in message.payload:
        raise bad_request("there is no text in the message to edit")
    content = {"text": text, **({"entities": entities} if entities else {})}
    return _edited(world, message, asked, content, {"text", "entities"})


def edit_caption(world: World, asked: BotRequest) -> dict[str, Any]:
    message = _editable(world, asked)
    if "text" in message.payload:
        raise bad_request("there is no caption in the message to edit")
    return _edited(world, message, asked, _caption(asked), {"caption", "caption_entities"})


def edit_markup(world: World, asked: BotRequest) -> dict[str, Any]:
    return _edited(world, _editable(world, asked), asked, {}, set())


def delete_message(world: World, asked: BotRequest) -> bool:
    chat = world.chat(asked.parameters.get("chat_id"))
    world.message(chat, asked.parameters.get("message_id"), "delete").deleted = True
    world.bell.ring()
    return True


def delete_messages(world: World, asked: BotRequest) -> bool:
    chat = world.chat(asked.parameters.get("chat_id"))
    for message_id in asked.parameters["message_ids"]:
        if message_id in chat.messages:
            chat.messages[message_id].deleted = True
    world.bell.ring()
    return True


def react(world: World, asked: BotRequest) -> bool:
    chat = world.chat(asked.parameters.get("chat_id"))
    message = world.message(chat, asked.parameters.get("message_id"), "react")
    given = asked.parameters.get("reaction") or []
    if len(given) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    emoji = tuple(str(one.get("emoji", "")) for one in given)
    if any(one not in {str(known.value) for known in ReactionEmoji} for one in emoji):
        raise bad_request("REACTION_INVALID")
    message.reactions = emoji
    world.bell.ring()
    return True

"""What each method of the Bot API does to a bot's world, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from telegram.constants import ReactionEmoji

from farhand.testing.telegram import limits
from farhand.testing.telegram.errors import bad_request
from farhand.testing.telegram.reading import Asked, Upload
from farhand.testing.telegram.world import Chat, Message, StoredFile, Webhook, World

Effect = Callable[[World, Asked], Any]
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
STALE_QUERY = "query is too old and response timeout expired or query ID is invalid"
DOWNLOAD_BYTES = 20_000_000
PHOTO_BYTES = 10_000_000
UPLOAD_BYTES = 50_000_000
PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF", b"BM")
ACTIONS = {
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
}


def get_me(world: World, _: Asked) -> dict[str, Any]:
    return {
        **world.me(),
        "can_join_groups": True,
        "can_read_all_group_messages": False,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": False,
        "allows_users_to_create_topics": False,
        "can_manage_bots": False,
        "supports_guest_queries": False,
    }


def _chat_to_write_in(world: World, asked: Asked) -> Chat:
    chat = world.chat(asked.parameters.get("chat_id"))
    thread = asked.parameters.get("message_thread_id")
    if thread is not None and thread not in chat.topics:
        raise bad_request("message thread not found")
    limits.check_markup(asked.parameters.get("reply_markup"))
    return chat


def _reply(chat: Chat, asked: Asked) -> dict[str, Any]:
    given = asked.parameters.get("reply_parameters") or {}
    wanted = given.get("message_id", asked.parameters.get("reply_to_message_id"))
    if wanted is None:
        return {}
    found = chat.messages.get(int(wanted))
    if found is not None and not found.deleted:
        quoted = {key: value for key, value in found.told.items() if key != "reply_to_message"}
        return {"reply_to_message": quoted}
    lenient = given.get("allow_sending_without_reply", asked.parameters.get("allow_sending_without_reply"))
    if lenient:
        return {}
    raise bad_request("message to be replied not found")


def _sent(world: World, chat: Chat, asked: Asked, content: dict[str, Any]) -> dict[str, Any]:
    told = {"from": world.me(), **_reply(chat, asked), **content}
    if thread := asked.parameters.get("message_thread_id"):
        told |= {"message_thread_id": thread, "is_topic_message": True}
    # Only an inline keyboard is part of the message; the others are told to the phone alone.
    if (markup := asked.parameters.get("reply_markup") or {}).get("inline_keyboard"):
        told["reply_markup"] = markup
    world.spend(chat)
    return world.put(chat, told, silent=bool(asked.parameters.get("disable_notification"))).told


def send_message(world: World, asked: Asked) -> dict[str, Any]:
    chat = _chat_to_write_in(world, asked)
    given = asked.parameters
    text, entities = limits.formatted(given["text"], given.get("parse_mode"), given.get("entities"))
    limits.check_text(text)
    return _sent(world, chat, asked, {"text": text, **({"entities": entities} if entities else {})})


def _caption(asked: Asked) -> dict[str, Any]:
    given = asked.parameters
    text, entities = limits.formatted(
        str(given.get("caption", "")), given.get("parse_mode"), given.get("caption_entities")
    )
    limits.check_caption(text)
    if not text:
        return {}
    return {"caption": text, **({"caption_entities": entities} if entities else {})}


def _upload(world: World, asked: Asked, field: str) -> tuple[str, Upload]:
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


def send_photo(world: World, asked: Asked) -> dict[str, Any]:
    chat = _chat_to_write_in(world, asked)
    caption = _caption(asked)
    file_id, upload = _upload(world, asked, "photo")
    if len(upload.content) > PHOTO_BYTES:
        raise bad_request("file is too big")
    if not upload.content.startswith(PICTURES):
        raise bad_request("IMAGE_PROCESS_FAILED")
    return _sent(world, chat, asked, {"photo": photo_sizes(world, file_id), **caption})


def send_document(world: World, asked: Asked) -> dict[str, Any]:
    chat = _chat_to_write_in(world, asked)
    caption = _caption(asked)
    file_id, upload = _upload(world, asked, "document")
    if len(upload.content) > UPLOAD_BYTES:
        raise bad_request("file is too big")
    document = {**described(world, file_id), "file_name": upload.name}
    return _sent(world, chat, asked, {"document": document, **caption})


def _editable(world: World, asked: Asked) -> Message:
    chat = world.chat(asked.parameters.get("chat_id"))
    message = world.message(chat, asked.parameters.get("message_id"), "edit")
    if message.told.get("from", {}).get("id") != world.bot_id:
        raise bad_request("message can't be edited")
    limits.check_markup(asked.parameters.get("reply_markup"))
    return message


def _edited(world: World, message: Message, asked: Asked, content: dict[str, Any], dropped: set[str]) -> dict[str, Any]:
    kept = {key: value for key, value in message.told.items() if key not in dropped | {"reply_markup", "edit_date"}}
    markup = asked.parameters.get("reply_markup")
    shown = markup if (markup or {}).get("inline_keyboard") else None
    changed = {**kept, **content, **({"reply_markup": shown} if shown else {})}
    before = {key: value for key, value in message.told.items() if key != "edit_date"}
    if changed == before:
        raise bad_request(NOT_MODIFIED)
    message.versions.append(message.text)
    message.told = {**changed, "edit_date": int(message.told["date"])}
    world.bell.ring()
    return message.told


def edit_text(world: World, asked: Asked) -> dict[str, Any]:
    message = _editable(world, asked)
    given = asked.parameters
    text, entities = limits.formatted(given["text"], given.get("parse_mode"), given.get("entities"))
    limits.check_text(text)
    if "text" not in message.told:
        raise bad_request("there is no text in the message to edit")
    content = {"text": text, **({"entities": entities} if entities else {})}
    return _edited(world, message, asked, content, {"text", "entities"})


def edit_caption(world: World, asked: Asked) -> dict[str, Any]:
    message = _editable(world, asked)
    if "text" in message.told:
        raise bad_request("there is no caption in the message to edit")
    return _edited(world, message, asked, _caption(asked), {"caption", "caption_entities"})


def edit_markup(world: World, asked: Asked) -> dict[str, Any]:
    return _edited(world, _editable(world, asked), asked, {}, set())


def delete_message(world: World, asked: Asked) -> bool:
    chat = world.chat(asked.parameters.get("chat_id"))
    world.message(chat, asked.parameters.get("message_id"), "delete").deleted = True
    world.bell.ring()
    return True


def delete_messages(world: World, asked: Asked) -> bool:
    chat = world.chat(asked.parameters.get("chat_id"))
    for message_id in asked.parameters["message_ids"]:
        if message_id in chat.messages:
            chat.messages[message_id].deleted = True
    world.bell.ring()
    return True


def react(world: World, asked: Asked) -> bool:
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


def chat_action(world: World, asked: Asked) -> bool:
    _chat_to_write_in(world, asked)
    if asked.parameters["action"] not in ACTIONS:
        raise bad_request("wrong parameter action in request")
    return True


def _scope(asked: Asked) -> str:
    scope = asked.parameters.get("scope") or {"type": "default"}
    return ":".join(str(scope[key]) for key in ("type", "chat_id", "user_id") if key in scope)


def set_commands(world: World, asked: Asked) -> bool:
    limits.check_commands(asked.parameters["commands"])
    world.commands[_scope(asked)] = [
        {"command": str(one["command"]).removeprefix("/"), "description": one["description"]}
        for one in asked.parameters["commands"]
    ]
    world.bell.ring()
    return True


def get_commands(world: World, asked: Asked) -> list[dict[str, Any]]:
    return world.commands.get(_scope(asked), [])


def delete_commands(world: World, asked: Asked) -> bool:
    world.commands.pop(_scope(asked), None)
    world.bell.ring()
    return True


def get_file(world: World, asked: Asked) -> dict[str, Any]:
    file_id = str(asked.parameters["file_id"])
    if file_id not in world.files:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    if world.files[file_id].size > DOWNLOAD_BYTES:
        raise bad_request("file is too big")
    return {**described(world, file_id), "file_path": world.files[file_id].path}


def answer_query(world: World, asked: Asked) -> bool:
    query = world.queries.get(str(asked.parameters["callback_query_id"]))
    if query is None or query.stale:
        raise bad_request(STALE_QUERY)
    if len(str(asked.parameters.get("text", ""))) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    query.answer = str(asked.parameters.get("text", ""))
    world.bell.ring()
    return True


def get_chat(world: World, asked: Asked) -> dict[str, Any]:
    chat = world.chat(asked.parameters.get("chat_id"))
    gifts = dict.fromkeys(
        (
            "unlimited_gifts",
            "limited_gifts",
            "unique_gifts",
            "premium_subscription",
            "gifts_from_channels",
        ),
        False,
    )
    return {**chat.about, "accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}


def create_topic(world: World, asked: Asked) -> dict[str, Any]:
    chat = world.chat(asked.parameters.get("chat_id"))
    name = str(asked.parameters["name"])
    if not chat.about.get("is_forum"):
        raise bad_request("the chat is not a forum")
    if not 1 <= len(name) <= 128:
        raise bad_request("TOPIC_TITLE_INVALID")
    color = int(asked.parameters.get("icon_color", 7322096))
    created = {"name": name, "icon_color": color}
    message = world.put(chat, {"from": world.me(), "forum_topic_created": created})
    thread = int(message.told["message_id"])
    message.told |= {"message_thread_id": thread, "is_topic_message": True}
    chat.topics[thread] = name
    return {"message_thread_id": thread, **created}


def _topic(world: World, asked: Asked) -> tuple[Chat, int]:
    chat = world.chat(asked.parameters.get("chat_id"))
    thread = int(asked.parameters["message_thread_id"])
    if thread not in chat.topics:
        raise bad_request("message thread not found")
    return chat, thread


def edit_topic(world: World, asked: Asked) -> bool:
    chat, thread = _topic(world, asked)
    chat.topics[thread] = str(asked.parameters.get("name", chat.topics[thread]))
    world.bell.ring()
    return True


def delete_topic(world: World, asked: Asked) -> bool:
    chat, thread = _topic(world, asked)
    del chat.topics[thread]
    world.bell.ring()
    return True


def keep_topic(world: World, asked: Asked) -> bool:
    _topic(world, asked)
    return True


def pin(world: World, asked: Asked) -> bool:
    world.message(world.chat(asked.parameters.get("chat_id")), asked.parameters.get("message_id"), "pin")
    return True


def remember_allowed(world: World, asked: Asked) -> None:
    """Which updates the bot wants: named once, remembered until named anew; an empty list is the default."""
    wanted = asked.parameters.get("allowed_updates")
    if wanted is not None:
        world.allowed = tuple(wanted) or None


def set_webhook(world: World, asked: Asked) -> bool:
    given = asked.parameters
    url = str(given.get("url", ""))
    if not url:
        return delete_webhook(world, asked)
    if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    secret = str(given.get("secret_token", ""))
    if not all(character.isascii() and (character.isalnum() or character in "_-") for character in secret):
        raise bad_request("secret token contains unallowed characters")
    connections = int(given.get("max_connections", 40))
    if not 1 <= connections <= 100:
        raise bad_request("bad webhook: max_connections is out of range")
    remember_allowed(world, asked)
    if given.get("drop_pending_updates"):
        world.pending.clear()
    world.webhook = Webhook(url, secret, connections)
    world.bell.ring()
    return True


def delete_webhook(world: World, asked: Asked) -> bool:
    if asked.parameters.get("drop_pending_updates"):
        world.pending.clear()
    world.webhook = None
    world.bell.ring()
    return True


def webhook_info(world: World, _: Asked) -> dict[str, Any]:
    webhook = world.webhook
    told: dict[str, Any] = {
        "url": webhook.url if webhook else "",
        "has_custom_certificate": False,
        "pending_update_count": len(world.pending),
    }
    if webhook:
        told |= {"max_connections": webhook.max_connections, "ip_address": "127.0.0.1"}
        if webhook.last_error:
            told |= {"last_error_date": webhook.last_error_date, "last_error_message": webhook.last_error}
    if world.allowed:
        told["allowed_updates"] = list(world.allowed)
    return told


METHODS: dict[str, Effect] = {
    "getMe": get_me,
    "sendMessage": send_message,
    "sendPhoto": send_photo,
    "sendDocument": send_document,
    "editMessageText": edit_text,
    "editMessageCaption": edit_caption,
    "editMessageReplyMarkup": edit_markup,
    "deleteMessage": delete_message,
    "deleteMessages": delete_messages,
    "setMessageReaction": react,
    "sendChatAction": chat_action,
    "setMyCommands": set_commands,
    "getMyCommands": get_commands,
    "deleteMyCommands": delete_commands,
    "getFile": get_file,
    "answerCallbackQuery": answer_query,
    "getChat": get_chat,
    "createForumTopic": create_topic,
    "editForumTopic": edit_topic,
    "closeForumTopic": keep_topic,
    "reopenForumTopic": keep_topic,
    "deleteForumTopic": delete_topic,
    "pinChatMessage": pin,
    "unpinChatMessage": lambda world, asked: bool(world.chat(asked.parameters.get("chat_id"))),
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": webhook_info,
}
DESCRIPTIONS = {"setWebhook": "Webhook was set", "deleteWebhook": "Webhook was deleted"}

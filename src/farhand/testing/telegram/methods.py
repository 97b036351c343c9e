"""What each method of the Bot API does to a bot's world, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farhand.testing.telegram import limits, messages
from farhand.testing.telegram.errors import bad_request
from farhand.testing.telegram.requests import BotRequest
from farhand.testing.telegram.world import FakeChat, FakeWebhook, World

Effect = Callable[[World, BotRequest], Any]
STALE_QUERY = "query is too old and response timeout expired or query ID is invalid"
DOWNLOAD_BYTES = 20_000_000
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


def get_me(world: World, _: BotRequest) -> dict[str, Any]:
    return {
        **world.me(),
        "can_join_groups": True,
        "can_read_all_group_messages": False,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": world.private_topics,
        "allows_users_to_create_topics": False,
        "can_manage_bots": False,
        "supports_guest_queries": False,
    }


def chat_action(world: World, asked: BotRequest) -> bool:
    messages.chat_to_write_in(world, asked)
    if asked.parameters["action"] not in ACTIONS:
        raise bad_request("wrong parameter action in request")
    return True


def _scope(asked: BotRequest) -> str:
    scope = asked.parameters.get("scope") or {"type": "default"}
    return ":".join(str(scope[key]) for key in ("type", "chat_id", "user_id") if key in scope)


def set_commands(world: World, asked: BotRequest) -> bool:
    limits.check_commands(asked.parameters["commands"])
    world.commands[_scope(asked)] = [
        {"command": str(one["command"]).removeprefix("/"), "description": one["description"]}
        for one in asked.parameters["commands"]
    ]
    world.bell.ring()
    return True


def set_menu_button(world: World, asked: BotRequest) -> bool:
    world.menu_buttons[str(asked.parameters.get("chat_id", ""))] = asked.parameters.get("menu_button") or {}
    world.bell.ring()
    return True


def get_commands(world: World, asked: BotRequest) -> list[dict[str, Any]]:
    return world.commands.get(_scope(asked), [])


def delete_commands(world: World, asked: BotRequest) -> bool:
    world.commands.pop(_scope(asked), None)
    world.bell.ring()
    return True


def get_file(world: World, asked: BotRequest) -> dict[str, Any]:
    file_id = str(asked.parameters["file_id"])
    if file_id not in world.files:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    if world.files[file_id].size > DOWNLOAD_BYTES:
        raise bad_request("file is too big")
    return {**messages.described(world, file_id), "file_path": world.files[file_id].path}


def answer_query(world: World, asked: BotRequest) -> bool:
    query = world.queries.get(str(asked.parameters["callback_query_id"]))
    if query is None or query.stale:
        raise bad_request(STALE_QUERY)
    if len(str(asked.parameters.get("text", ""))) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    query.answer = str(asked.parameters.get("text", ""))
    world.bell.ring()
    return True


def get_chat(world: World, asked: BotRequest) -> dict[str, Any]:
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


def create_topic(world: World, asked: BotRequest) -> dict[str, Any]:
    chat = world.chat(asked.parameters.get("chat_id"))
    name = str(asked.parameters["name"])
    if not (chat.about.get("is_forum") or (world.private_topics and chat.about["type"] == "private")):
        raise bad_request("the chat is not a forum")
    if not chat.makes_topics:
        raise bad_request("not enough rights to create a topic")
    if not 1 <= len(name) <= 128:
        raise bad_request("TOPIC_TITLE_INVALID")
    color = int(asked.parameters.get("icon_color", 7322096))
    created = {"name": name, "icon_color": color}
    message = world.put(chat, {"from": world.me(), "forum_topic_created": created}, silent=True)
    thread = int(message.payload["message_id"])
    message.payload |= {"message_thread_id": thread, "is_topic_message": True}
    chat.topics[thread] = name
    return {"message_thread_id": thread, **created}


def _topic(world: World, asked: BotRequest) -> tuple[FakeChat, int]:
    chat = world.chat(asked.parameters.get("chat_id"))
    thread = int(asked.parameters["message_thread_id"])
    if thread not in chat.topics:
        raise bad_request("message thread not found")
    return chat, thread


def edit_topic(world: World, asked: BotRequest) -> bool:
    chat, thread = _topic(world, asked)
    chat.topics[thread] = str(asked.parameters.get("name", chat.topics[thread]))
    world.bell.ring()
    return True


def delete_topic(world: World, asked: BotRequest) -> bool:
    chat, thread = _topic(world, asked)
    del chat.topics[thread]
    world.bell.ring()
    return True


def close_topic(world: World, asked: BotRequest) -> bool:
    chat, thread = _topic(world, asked)
    if thread in chat.closed:
        raise bad_request("TOPIC_NOT_MODIFIED")
    chat.closed.add(thread)
    world.put(
        chat,
        {"from": world.me(), "message_thread_id": thread, "is_topic_message": True, "forum_topic_closed": {}},
        silent=True,
    )
    return True


def reopen_topic(world: World, asked: BotRequest) -> bool:
    chat, thread = _topic(world, asked)
    if thread not in chat.closed:
        raise bad_request("TOPIC_NOT_MODIFIED")
    chat.closed.discard(thread)
    world.bell.ring()
    return True


def pin(world: World, asked: BotRequest) -> bool:
    world.message(world.chat(asked.parameters.get("chat_id")), asked.parameters.get("message_id"), "pin")
    return True


def remember_allowed(world: World, asked: BotRequest) -> None:
    """Which updates the bot wants: named once, remembered until named anew; an empty list is the default."""
    wanted = asked.parameters.get("allowed_updates")
    if wanted is not None:
        world.allowed = tuple(wanted) or None


def set_webhook(world: World, asked: BotRequest) -> bool:
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
    world.webhook = FakeWebhook(url, secret, connections)
    world.bell.ring()
    return True


def delete_webhook(world: World, asked: BotRequest) -> bool:
    if asked.parameters.get("drop_pending_updates"):
        world.pending.clear()
    world.webhook = None
    world.bell.ring()
    return True


def webhook_info(world: World, _: BotRequest) -> dict[str, Any]:
    webhook = world.webhook
    payload: dict[str, Any] = {
        "url": webhook.url if webhook else "",
        "has_custom_certificate": False,
        "pending_update_count": len(world.pending),
    }
    if webhook:
        payload |= {"max_connections": webhook.max_connections, "ip_address": "127.0.0.1"}
        if webhook.last_error:
            payload |= {"last_error_date": webhook.last_error_date, "last_error_message": webhook.last_error}
    if world.allowed:
        payload["allowed_updates"] = list(world.allowed)
    return payload


METHODS: dict[str, Effect] = {
    "getMe": get_me,
    "sendMessage": messages.send_message,
    "sendPhoto": messages.send_photo,
    "sendDocument": messages.send_document,
    "editMessageText": messages.edit_text,
    "editMessageCaption": messages.edit_caption,
    "editMessageReplyMarkup": messages.edit_markup,
    "deleteMessage": messages.delete_message,
    "deleteMessages": messages.delete_messages,
    "setMessageReaction": messages.react,
    "sendChatAction": chat_action,
    "setMyCommands": set_commands,
    "getMyCommands": get_commands,
    "setChatMenuButton": set_menu_button,
    "deleteMyCommands": delete_commands,
    "getFile": get_file,
    "answerCallbackQuery": answer_query,
    "getChat": get_chat,
    "createForumTopic": create_topic,
    "editForumTopic": edit_topic,
    "closeForumTopic": close_topic,
    "reopenForumTopic": reopen_topic,
    "deleteForumTopic": delete_topic,
    "pinChatMessage": pin,
    "unpinChatMessage": lambda world, asked: bool(world.chat(asked.parameters.get("chat_id"))),
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": webhook_info,
}
DESCRIPTIONS = {"setWebhook": "FakeWebhook was set", "deleteWebhook": "FakeWebhook was deleted"}

"""Telegram's limits that no schema knows: lengths, buttons, commands, and texts that say nothing."""

from __future__ import annotations

import re
from typing import Any

from farhand.testing.telegram.errors import bad_request
from farhand.testing.telegram.html import Entity, checked_link, read_html, trimmed, utf16_length

TEXT_UNITS = 4096
CAPTION_UNITS = 1024
CALLBACK_BYTES = 64
MOST_COMMANDS = 100
MOST_BUTTONS = 100
COMMAND = re.compile(r"[a-z0-9_]{1,32}\Z")
BUTTON_KINDS = {
    "callback_data",
    "url",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
}


def formatted(text: str, mode: object, entities: object) -> tuple[str, list[dict[str, Any]]]:
    """The text and entities that people will see."""
    if mode and str(mode).lower() == "html":
        shown, found = read_html(text)
    elif mode:
        # Only HTML is spoken here; the Markdown modes would need their own reading.
        raise bad_request(f"unsupported parse_mode {mode}: this Telegram reads HTML only")
    else:
        shown, found = trimmed(text.replace("\r", ""), [_given(one) for one in entities or []])  # type: ignore[attr-defined]
    return shown, [one.as_json() for one in found]


def _given(payload: dict[str, Any]) -> Entity:
    if payload["type"] == "text_link" and not checked_link(str(payload.get("url", ""))):
        raise bad_request(f"entity URL '{payload.get('url', '')}' is invalid: Wrong HTTP URL")
    argument = payload.get("url") or payload.get("language") or payload.get("custom_emoji_id") or ""
    return Entity(str(payload["type"]), int(payload["offset"]), int(payload["length"]), str(argument))


def check_text(shown: str) -> None:
    if not shown:
        raise bad_request("message text is empty")
    if utf16_length(shown) > TEXT_UNITS:
        raise bad_request("message is too long")


def check_caption(shown: str) -> None:
    if utf16_length(shown) > CAPTION_UNITS:
        raise bad_request("message caption is too long")


def check_markup(markup: dict[str, Any] | None) -> None:
    """Refuses a keyboard that Telegram would refuse."""
    buttons = [button for row in (markup or {}).get("inline_keyboard", []) for button in row]
    if len(buttons) > MOST_BUTTONS:
        raise bad_request("REPLY_MARKUP_TOO_LONG")
    for button in buttons:
        if not str(button.get("text", "")).strip():
            raise bad_request('can\'t parse inline keyboard button: field "text" must be non-empty')
        kinds = BUTTON_KINDS & button.keys()
        if not kinds:
            raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if len(kinds) > 1:
            raise bad_request("can't parse inline keyboard button: only one kind of button is allowed")
        if "callback_data" in kinds and not 1 <= len(str(button["callback_data"]).encode()) <= CALLBACK_BYTES:
            raise bad_request("BUTTON_DATA_INVALID")
        if "url" in kinds and not checked_link(str(button["url"])):
            raise bad_request(f"inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL")


def check_commands(commands: list[dict[str, Any]]) -> None:
    """Refuses a command menu that Telegram would refuse."""
    if len(commands) > MOST_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for one in commands:
        if not COMMAND.match(str(one["command"]).removeprefix("/")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= utf16_length(str(one["description"]).strip()) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")

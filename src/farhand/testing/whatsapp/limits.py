"""What the Cloud API takes: every request of the business is checked here before it has an effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from farhand.testing.whatsapp.words import GraphRefusal

KINDS = frozenset({"text", "interactive", "reaction", "image", "document", "audio", "video", "template"})
LARGEST = {"image": 5, "audio": 16, "video": 16, "document": 100}
IMAGES = frozenset({"image/jpeg", "image/png"})


def wrong(details: str) -> GraphRefusal:
    """A parameter that cannot be."""
    return GraphRefusal(131009, details)


def text_within(value: object, most: int, what: str, least: int = 1) -> str:
    """The text, of a length that is taken."""
    if not isinstance(value, str) or not least <= len(value) <= most:
        length = len(value) if isinstance(value, str) else type(value).__name__
        raise wrong(f"{what}: {length}; {least} to {most} characters are taken")
    return value


def part(value: object, what: str) -> Mapping[str, Any]:
    """An object of a request."""
    if not isinstance(value, dict):
        raise GraphRefusal(131008, f"{what} is missing", title="Required parameter is missing")
    return value


def check_interactive(message: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The buttons or rows of a message: each label with what it carries and its description."""
    text_within(part(message.get("body"), "body").get("text"), 1024, "Body text")
    for name in ("header", "footer"):
        if name in message:
            text_within(part(message[name], name).get("text"), 60, name)
    action = part(message.get("action"), "action")
    match message.get("type"):
        case "button":
            return _buttons(action.get("buttons"))
        case "list":
            text_within(action.get("button"), 20, "List button")
            return _rows(action.get("sections"))
        case kind:
            raise wrong(f"interactive type {kind}")


def _buttons(given: object) -> dict[str, tuple[str, str]]:
    if not isinstance(given, list) or not 1 <= len(given) <= 3:
        raise wrong("1 to 3 buttons are taken")
    replies = [part(part(one, "button").get("reply"), "reply") for one in given]
    found = [
        (text_within(one.get("title"), 20, "Button title"), text_within(one.get("id"), 256, "Button id"), "")
        for one in replies
    ]
    return _told_apart(found)


def _rows(given: object) -> dict[str, tuple[str, str]]:
    if not isinstance(given, list) or not 1 <= len(given) <= 10:
        raise wrong("1 to 10 sections are taken")
    found: list[tuple[str, str, str]] = []
    for section in given:
        text_within(section.get("title"), 24, "Section title", 1 if len(given) > 1 else 0)
        for row in section.get("rows", ()):
            title = text_within(row.get("title"), 24, "Row title")
            more = text_within(row.get("description", ""), 72, "Row description", 0)
            found.append((title, text_within(row.get("id"), 200, "Row id"), more))
    if not 1 <= len(found) <= 10:
        raise wrong("1 to 10 rows are taken")
    return _told_apart(found)


def _told_apart(found: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    keys = list(found)
    if len({title for title, _, _ in keys}) < len(keys) or len({data for _, data, _ in keys}) < len(keys):
        raise wrong("two of them are alike")
    return {title: (data, more) for title, data, more in keys}

"""The one template: it asks the manager to reopen the window. Pure."""

from collections.abc import Mapping
from typing import Any

from farhand.channels.whatsapp.parse import REOPENED

BODY = "A worker of your team has something for you. Tap the button to read it here."
BUTTON = "Show me"


def template(name: str, language: str) -> dict[str, Any]:
    """The template as it is handed in to be approved: a utility message with one button and nothing to fill in."""
    return {
        "name": name,
        "language": language,
        "category": "UTILITY",
        "components": [
            {"type": "BODY", "text": BODY},
            {"type": "BUTTONS", "buttons": [{"type": "QUICK_REPLY", "text": BUTTON}]},
        ],
    }


def sent_template(name: str, language: str) -> dict[str, Any]:
    """The template as it is sent."""
    button = {
        "type": "button",
        "sub_type": "quick_reply",
        "index": "0",
        "parameters": [{"type": "payload", "payload": REOPENED}],
    }
    return {"name": name, "language": {"code": language}, "components": [button]}


def standing(listed: Mapping[str, Any], name: str, language: str) -> str:
    """How the template stands at Meta, of those that it lists: APPROVED, PENDING, REJECTED, …; empty if it has none."""
    found = listed.get("data")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and one.get("name") == name and one.get("language") == language:
            return str(one.get("status", ""))
    return ""

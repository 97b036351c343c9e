"""Says whether a matcher means an event, as the CLI does. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farhand.sdk.hooks.words import MATCHED_FIELDS


def subject_of(event_name: str, fields: Mapping[str, Any]) -> str | None:
    """What a matcher is held against, or None when the event has no such thing."""
    value = fields.get(MATCHED_FIELDS.get(event_name, ""))
    return value if isinstance(value, str) else None


def matches(event_name: str, matcher: str | None, subject: str | None) -> bool:
    """Whether a hook with this matcher hears of the event."""
    wanted = (matcher or "").strip()
    if wanted in ("", "*") or subject is None or event_name not in MATCHED_FIELDS:
        return True
    if MATCHED_FIELDS[event_name] != "tool_name":
        return wanted == subject
    import re

    try:
        return re.search(wanted, subject) is not None
    except re.error:
        return wanted == subject

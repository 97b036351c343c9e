"""Claude Code's usage limits: whether an error is one, and when it ends. Pure; the time is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.clock_time import next_clock_time
from farhand.model.facts import Limited

RATE_LIMIT: Final = "rate_limit"
TOO_MANY: Final = 429
# A time in milliseconds is far beyond any in seconds.
MILLISECONDS_FROM: Final = 100_000_000_000
STAMPED = re.compile(r"limit reached\|(\d{9,13})")
SAID = re.compile(
    r"resets?\b(?:\s+(?:at|on))?\s+"
    r"(?:(?P<month>[A-Z][a-z]{2})[a-z]*\.?\s+(?P<day>\d{1,2})(?:\s+at|,(?:\s+at)?)?\s+)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)"
    r"(?:\s*\((?P<zone>[A-Za-z0-9_+\-/]+)\))?",
    re.IGNORECASE,
)
LIMIT_WORDS = re.compile(
    r"usage limit reached|hit your (?:\w+ ){0,3}limit|(?:session|weekly) limit reached", re.IGNORECASE
)


def limit(record: Fields, text: str, at: float) -> Limited | None:
    """The limit that an error tells of, if it is one: by its kind, by its status, or by its words."""
    kind, status = record.text("error"), record.whole("api_error_status") or record.whole("apiErrorStatus")
    if kind != RATE_LIMIT and status != TOO_MANY and not LIMIT_WORDS.search(text):
        return None
    return Limited(until=reset(text, at), text=text)


def event_reset(record: Fields) -> float | None:
    """When a `rate_limit_event` says that the limit ends, if it says that the limit is reached."""
    info = record.fields("rate_limit_info")
    found = info.number("resetsAt")
    return _seconds(found) if info.text("status") == "rejected" and found else None


def written_at(record: Fields) -> float:
    """When a transcript line was written; 0 when it does not say."""
    try:
        return datetime.fromisoformat(record.text("timestamp")).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def reset(text: str, at: float) -> float | None:
    """When the limit of such a sentence ends: the stamp it carries, or the next time that the clock shows its hour."""
    stamped = STAMPED.search(text)
    if stamped:
        return _seconds(float(stamped[1]))
    said = SAID.search(text)
    zone = _zone(said["zone"]) if said else None
    if said is None or zone is None or not at or not 1 <= int(said["hour"]) <= 12:
        return None
    try:
        return next_clock_time(said, datetime.fromtimestamp(at, zone))
    except (ValueError, OverflowError):
        return None


def _zone(name: str | None) -> tzinfo | None:
    """The zone that is named; without a name nobody can tell whose clock it is, and the machine's is taken."""
    if not name:
        return datetime.now(UTC).astimezone().tzinfo
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return None


def _seconds(found: float) -> float:
    return found / 1000 if found >= MILLISECONDS_FROM else found

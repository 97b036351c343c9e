"""Claude Code's usage limits: whether an error is one, and when it ends. Pure; the time is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.text.clock_time import next_clock_time
from farhand.model.facts import Limited
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import UsageWindow

RATE_LIMIT: Final = "rate_limit"
TOO_MANY: Final = 429
# Its names of windows, and how long they are.
SPANS: Final = {"five_hour": "5h", "seven_day": "7d"}
# A time in milliseconds is far beyond any in seconds.
MILLISECONDS_FROM: Final = 100_000_000_000
STAMPED = lazy_pattern(r"limit reached\|(\d{9,13})")
SAID = lazy_pattern(
    r"resets?\b(?:\s+(?:at|on))?\s+"
    r"(?:(?P<month>[A-Z][a-z]{2})[a-z]*\.?\s+(?P<day>\d{1,2})(?:\s+at|,(?:\s+at)?)?\s+)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)"
    r"(?:\s*\((?P<zone>[A-Za-z0-9_+\-/]+)\))?",
    re.IGNORECASE,
)
LIMIT_WORDS = lazy_pattern(
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


def event_windows(record: Fields) -> tuple[UsageWindow, ...]:
    """How much of its window a `rate_limit_event` says is used: Claude Code tells it near the limit alone."""
    info = record.fields("rate_limit_info")
    share, resets = info.number("utilization"), info.number("resetsAt")
    if share is None:
        return ()
    name = info.text("rateLimitType")
    window = UsageWindow(name=SPANS.get(name, name), used_percent=share * 100, resets_at=resets and _seconds(resets))
    return (window,)


def status_windows(record: Fields) -> tuple[UsageWindow, ...]:
    """The same as Claude Code tells it to its status line, at any time and of each of its windows."""
    told = record.fields("rate_limits")
    found = ((span, told.fields(name)) for name, span in SPANS.items())
    return tuple(
        UsageWindow(name=span, used_percent=percent, resets_at=one.number("resets_at"))
        for span, one in found
        if (percent := one.number("used_percentage")) is not None
    )


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

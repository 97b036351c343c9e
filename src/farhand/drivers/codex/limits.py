"""Codex's usage limits: whether an error is one, and when it ends. Pure; the time is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.text.clock_time import next_clock_time
from farhand.drivers.wires.text.span import span_name
from farhand.model.facts import Limited
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import UsageWindow

KINDS: Final = frozenset("usagelimitexceeded ratelimitexceeded sessionbudgetexceeded".split())
FULL_PERCENT: Final = 100.0
WORDS = lazy_pattern(r"hit your usage limit|usage limit has been reached|usage_limit_reached", re.IGNORECASE)
# "try again at 3:26 AM", "try again at Nov 20th, 2026 3:26 AM"
CLOCK = lazy_pattern(
    r"try again at\s+(?:(?P<month>[A-Z][a-z]{2})[a-z]*\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})\s+)?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})\s*(?P<half>[AP]M)",
    re.IGNORECASE,
)
SPAN = lazy_pattern(r"try again in\s+((?:\d+\s*(?:day|hour|minute|second)s?[ ,and]*)+)", re.IGNORECASE)
PART = lazy_pattern(r"(\d+)\s*(day|hour|minute|second)", re.IGNORECASE)
SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}


def limit(text: str, kind: str, until: float | None, at: float) -> Limited | None:
    """The limit that an error tells of, if it is one: by its kind or by its words."""
    if kind.replace("_", "").lower() not in KINDS and not WORDS.search(text):
        return None
    return Limited(text=text, until=until if until and until > at else reset(text, at))


def window_reset(windows: tuple[UsageWindow, ...]) -> float | None:
    """When the latest of the windows that are used up begins anew."""
    resets = [one.resets_at for one in windows if one.used_percent >= FULL_PERCENT]
    return max((found for found in resets if found), default=None)


def usage_windows(limits: Fields) -> tuple[UsageWindow, ...]:
    """How much of each window is used; empty where Codex tells of none."""
    found = [limits.fields(name) for name in ("primary", "secondary")]
    return tuple(
        UsageWindow(
            name=span_name((one.number("windowDurationMins") or one.number("window_minutes") or 0.0) * 60),
            used_percent=percent,
            resets_at=one.number("resetsAt") or one.number("resets_at"),
        )
        for one in found
        if (percent := _percent(one)) is not None
    )


def _percent(window: Fields) -> float | None:
    found = window.number("usedPercent")
    return found if found is not None else window.number("used_percent")


def reset(text: str, at: float) -> float | None:
    """When the limit of such a sentence ends: after its span, or when this machine's clock next shows its hour."""
    span = SPAN.search(text)
    if span and at:
        return at + sum(int(count) * SECONDS[unit.lower()] for count, unit in PART.findall(span[1]))
    said = CLOCK.search(text)
    if said is None or not at or not 1 <= int(said["hour"]) <= 12:
        return None
    try:
        return next_clock_time(said, datetime.fromtimestamp(at, UTC).astimezone())
    except (ValueError, OverflowError):
        return None


def readable(message: str) -> str:
    """An error for a person: what the model's server said, where Codex passes its JSON on."""
    inner = parse(message) if message.startswith("{") else None
    return (inner.fields("error").text("message") if inner else "") or message


def error_kind(error: Fields) -> str:
    """Codex's name for what went wrong."""
    for name in ("codexErrorInfo", "codex_error_info"):
        found = error.any(name)
        if isinstance(found, str):
            return found
        if isinstance(found, dict):
            return next((key for key in found if isinstance(key, str)), "")
    return ""

"""Usage and its limits: what a step took, whether an error or a wait is a limit, and when that ends. Pure."""

from __future__ import annotations

import re

from farhand.drivers.opencode.schema import OpenCodeError, OpenCodeStatus, Part, sentence
from farhand.model.facts import Limited
from farhand.model.words import Usage

TOO_MANY = 429
# OpenCode tries again by itself after a short wait; a long one is a limit.
LONG_WAIT_SECONDS = 60.0
LIMIT_WORDS = re.compile(r"usage limit|quota|rate.?limit|too many requests|limit reached", re.IGNORECASE)


def limit(error: OpenCodeError, at: float) -> Limited | None:
    """The limit that an error tells of, if it is one."""
    text, status = sentence(error), error.data.get("statusCode")
    if status != TOO_MANY and not (error.name == "APIError" and LIMIT_WORDS.search(text)):
        return None
    return Limited(text=text, until=_until(error, at))


def waiting(status: OpenCodeStatus, at: float) -> Limited | None:
    """The limit that a session waits for, if it waits long."""
    until = status.next / 1000
    return Limited(text=status.message, until=until) if at and until - at >= LONG_WAIT_SECONDS else None


def _until(error: OpenCodeError, at: float) -> float | None:
    headers = error.data.get("responseHeaders")
    found = headers.get("retry-after") if isinstance(headers, dict) else None
    if not isinstance(found, str) or not found.isdecimal() or not at or len(found) > 9:
        return None
    return at + int(found)


def spent(before: Usage, part: Part) -> Usage:
    """What a turn has taken after a step."""
    tokens = part.tokens
    if tokens is None:
        return before
    return Usage(
        input_tokens=before.input_tokens + tokens.input + tokens.cache.read + tokens.cache.write,
        output_tokens=before.output_tokens + tokens.output + tokens.reasoning,
        cost_dollars=round((before.cost_dollars or 0) + part.cost, 10) if part.cost or before.cost_dollars else None,
    )

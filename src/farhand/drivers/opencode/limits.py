"""Usage and its limits: what a step used, whether an error or a retry is a limit, and when that ends. Pure."""

from __future__ import annotations

import re

from farhand.drivers.opencode.schema import OpenCodeError, OpenCodePart, OpenCodeStatus, sentence
from farhand.model.facts import Limited
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import Usage

TOO_MANY = 429
# OpenCode tries again by itself after a short wait; a long one is a limit.
LONG_WAIT_SECONDS = 60.0
LIMIT_WORDS = lazy_pattern(r"usage limit|quota|rate.?limit|too many requests|limit reached", re.IGNORECASE)


def limit(error: OpenCodeError, at: float) -> Limited | None:
    """The usage limit that an error reports, if it is one."""
    text, status = sentence(error), error.data.get("statusCode")
    if status != TOO_MANY and not (error.name == "APIError" and LIMIT_WORDS.search(text)):
        return None
    return Limited(text=text, until=_until(error, at))


def retry_limit(status: OpenCodeStatus, at: float) -> Limited | None:
    """The limit that a session waits out before it retries, if it waits long."""
    until = status.next / 1000
    return Limited(text=status.message, until=until) if at and until - at >= LONG_WAIT_SECONDS else None


def _until(error: OpenCodeError, at: float) -> float | None:
    headers = error.data.get("responseHeaders")
    seconds = headers.get("retry-after") if isinstance(headers, dict) else None
    if not isinstance(seconds, str) or not seconds.isdecimal() or not at or len(seconds) > 9:
        return None
    return at + int(seconds)


def usage_after(before: Usage, part: OpenCodePart) -> Usage:
    """What a turn has used after a step."""
    tokens = part.tokens
    if tokens is None:
        return before
    return Usage(
        input_tokens=before.input_tokens + tokens.input + tokens.cache.read + tokens.cache.write,
        output_tokens=before.output_tokens + tokens.output + tokens.reasoning,
        context_tokens=tokens.input + tokens.cache.read + tokens.cache.write + tokens.output + tokens.reasoning,
        cost_dollars=round((before.cost_dollars or 0) + part.cost, 10) if part.cost or before.cost_dollars else None,
    )

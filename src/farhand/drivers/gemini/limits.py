"""The Gemini CLI's usage limits: whether an error is one, and when it ends. Pure; the time is given."""

from __future__ import annotations

import re

from farhand.model.facts import Limited

_LIMIT = re.compile(
    r"RESOURCE_EXHAUSTED|quota exceeded|exceeded your (?:current )?quota|exhausted your (?:daily )?(?:quota|capacity)|"
    r"rate limit exceeded|usage limit reached|\"code\":\s*429|status: 429",
    re.IGNORECASE,
)
_DELAY = re.compile(r"\"retryDelay\":\s*\"(?P<given>\d+(?:\.\d+)?)s\"|retry (?:in|after)\s+(?P<said>\d+(?:\.\d+)?)\s*s")
_RESET = re.compile(
    r"reset(?:s)? (?:in|after)\s+(?:(?P<hours>\d+)h)?\s*(?:(?P<minutes>\d+)m)?\s*(?:(?P<seconds>\d+)s)?"
)


def limit(text: str, at: float) -> Limited | None:
    """The limit that an error tells of, if it is one."""
    return Limited(text=text, until=reset(text, at)) if _LIMIT.search(text) else None


def reset(text: str, at: float) -> float | None:
    """When it ends, as far as the error says and somebody knows what time it is."""
    plain = text.replace('\\"', '"')
    if not at:
        return None
    said = _RESET.search(plain)
    if said and any(said.groups()):
        hours, minutes, seconds = (int(part or 0) for part in said.groups())
        return at + hours * 3600 + minutes * 60 + seconds
    delay = _DELAY.search(plain)
    return at + float(delay["given"] or delay["said"]) if delay else None

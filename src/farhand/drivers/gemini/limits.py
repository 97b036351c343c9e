"""The Gemini CLI's usage limits: whether an error is one, and when it ends. Pure; the time is given."""

from __future__ import annotations

import re

from farhand.model.facts import Limited
from farhand.model.lazy_pattern import lazy_pattern

_LIMIT = lazy_pattern(
    r"RESOURCE_EXHAUSTED|quota exceeded|exceeded your (?:current )?quota|exhausted your (?:daily )?(?:quota|capacity)|"
    r"rate limit exceeded|usage limit reached|\"code\":\s*429|status: 429",
    re.IGNORECASE,
)
_NUMBER = r"\d+(?:\.\d+)?"
_SPAN = (
    r"(?:(?P<hours>\d+)h)?\s*(?:(?P<minutes>\d+)m(?!s))?\s*"
    rf"(?:(?P<seconds>{_NUMBER})s)?(?:(?P<thousandths>{_NUMBER})ms)?"
)
_WHEN = lazy_pattern(rf"(?:retry|resets?) (?:in|after)\s+{_SPAN}|\"retryDelay\":\s*\"(?P<given>{_NUMBER})s\"")
_IN_SECONDS = {"hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "thousandths": 0.001, "given": 1.0}


def limit(text: str, at: float) -> Limited | None:
    """The limit that an error tells of, if it is one."""
    return Limited(text=text, until=reset(text, at)) if _LIMIT.search(text) else None


def reset(text: str, at: float) -> float | None:
    """When it ends, as far as the error says and somebody knows what time it is."""
    spoken = (found.groupdict() for found in _WHEN.finditer(text.replace('\\"', '"')))
    spans = [sum(_IN_SECONDS[name] * float(value) for name, value in one.items() if value) for one in spoken]
    return at + max(spans) if at and any(spans) else None

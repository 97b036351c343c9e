"""A span of time as people say it in one word. Pure."""

from __future__ import annotations

UNITS = (("d", 86_400), ("h", 3_600), ("m", 60))


def span_name(seconds: float) -> str:
    """`5h`, `7d`, `90m`: in the largest unit that leaves nothing over; empty for no span."""
    whole = round(seconds)
    return next((f"{whole // size}{unit}" for unit, size in UNITS if whole >= size and whole % size == 0), "")

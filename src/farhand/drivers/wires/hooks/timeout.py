"""How long a CLI waits for a hook of ours before it goes on without an answer. Pure."""

from __future__ import annotations

REPORT_SECONDS = 10
ASK_GRACE_SECONDS = 60


def hook_timeout(ask_seconds: float, *, asks: bool) -> int:
    """The time-out in seconds; that of a hook that asks ends after ours, so that it is we who say no."""
    return int(ask_seconds) + ASK_GRACE_SECONDS if asks else REPORT_SECONDS

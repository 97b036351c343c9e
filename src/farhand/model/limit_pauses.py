"""When a usage limit is taken to be over. Pure."""

# Where nobody knows when a limit ends, it is tried again after pauses that double.
FIRST_PAUSE_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 3600.0


def resumes_at(until: float | None, at: float, before: int) -> float:
    """When a limit that came at that time, after so many others, is taken to be over."""
    if until is not None and until > at:
        return until
    return at + min(FIRST_PAUSE_SECONDS * 2.0 ** min(before, 30), LONGEST_PAUSE_SECONDS)

"""The time that words such as "resets at 3:26 AM" or "Nov 20th, 3pm" mean. Pure; the present time is given."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def next_clock_time(match: re.Match[str], now: datetime) -> float | None:
    """When the clock next shows the `hour`, `minute` and `half` of a match, or when its `month`, `day` and `year` are.

    Raises ValueError or OverflowError when there is no such time."""
    said = match.groupdict()
    hour = int(said["hour"]) % 12 + (12 if said["half"].lower() == "pm" else 0)
    clock = now.replace(hour=hour, minute=int(said["minute"] or 0), second=0, microsecond=0)
    if not said["month"]:
        return (clock if clock > now else clock + timedelta(days=1)).timestamp()
    month = said["month"].lower()
    if month not in MONTHS:
        return None
    year = int(said.get("year") or now.year)
    dated = clock.replace(year=year, month=MONTHS.index(month) + 1, day=int(said["day"]))
    # Without a year, a date half a year ago is one of next year.
    passed = not said.get("year") and dated <= now - timedelta(days=180)
    return (dated.replace(year=year + 1) if passed else dated).timestamp()

"""One line of `farhand doctor`: what was looked at, how it is, what to do, and what would repair it."""

from collections.abc import Callable
from dataclasses import dataclass

GOOD, ABSENT, WARNING, BAD = "good", "absent", "warning", "bad"


@dataclass(frozen=True)
class CheckResult:
    """One line."""

    name: str
    state: str
    told: str
    todo: str = ""
    repair: Callable[[], None] | None = None

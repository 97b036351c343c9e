"""How cloudflared is called, and what its log says. Pure.

A quick tunnel needs no account and has another address at every start; a named one has the one its owner gave it.
"""

from collections.abc import Sequence

from farhand.model.lazy_pattern import lazy_pattern

PROGRAM = "cloudflared"
# The address stands alone in a box; no line about a request looks like that.
_BOXED = lazy_pattern(r"\|\s+(https?://[^\s|/?#]+)/?\s+\|")
_ADDRESS = lazy_pattern(r"\[?[A-Za-z0-9.:-]+\]?")
_WRONG = lazy_pattern(r"\b(?:ERR|FTL)\b")
_PERHAPS_WRONG = lazy_pattern(r"\b(?:failed|cannot|[Ee]rror)\b")
_PREFIX = lazy_pattern(r"^\S+\s+(?:INF|WRN|ERR|FTL|DBG)\s+")
LONGEST_LINE = 200


def quick_arguments(target: str) -> tuple[str, ...]:
    """The words behind the program's name for a quick tunnel; a configuration of the person's own would forbid it."""
    return ("tunnel", "--config", "/dev/null", "--no-autoupdate", "--url", target)


def named_arguments(name: str, target: str) -> tuple[str, ...]:
    """The words behind the program's name for a tunnel that its owner has made and named."""
    return ("tunnel", "--no-autoupdate", "run", "--url", target, name)


def address_in(log: str) -> str:
    """The address of a quick tunnel, as soon as its log tells it; empty before."""
    found = _BOXED.search(log)
    if found is None:
        return ""
    url = found[1]
    return url if _ADDRESS.fullmatch(url.split("://", maxsplit=1)[1]) else ""


def is_registered(log: str) -> bool:
    """Whether a named tunnel is connected."""
    return "Registered tunnel connection" in log


def complaint_in(log: str) -> str:
    """The last line of the log that tells what went wrong, in its own words or in plain ones; empty when none does."""
    said: Sequence[str] = log.splitlines()
    lines = [line for line in said if _WRONG.search(line)] or [line for line in said if _PERHAPS_WRONG.search(line)]
    return _PREFIX.sub("", lines[-1]).strip()[:LONGEST_LINE] if lines else ""

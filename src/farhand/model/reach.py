"""How a node can be reached from outside: the ways that a person may choose, and how the chosen one stands. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from farhand.model.errors import SettingWrong


class ReachMode(StrEnum):
    """Which way in is wanted."""

    AUTO = "auto"
    TAILSCALE = "tailscale"
    CLOUDFLARED = "cloudflared"
    NONE = "none"


@dataclass(frozen=True)
class ReachStatus:
    """How the way in stands: what it is, its address, whether it is up, and since when it is as it is."""

    way: str
    url: str = ""
    # `starting`, `up` or `down`.
    state: str = "starting"
    problem: str = ""
    since: float = 0.0


def reach_mode(text: str) -> ReachMode:
    """The mode that is meant; `auto` when nothing is said. Raises SettingWrong."""
    try:
        return ReachMode(text.strip().lower() or ReachMode.AUTO)
    except ValueError:
        known = ", ".join(ReachMode)
        raise SettingWrong(f"FARHAND_REACH is one of {known}, not '{text[:40]}'.", name="FARHAND_REACH") from None

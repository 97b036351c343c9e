"""What may buzz, when, and how much of it is shown: the person's settings for every channel. Pure."""

from datetime import datetime, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from farhand.model.words import Sender, Word, WorkerName

DAY_MINUTES = 24 * 60
LONGEST_MINUTES = 24 * 60.0
# More workers than anybody has.
MOST_WORKERS = 500
LONGEST_ZONE = 64


class AttentionKind(StrEnum):
    """What a person may be told of."""

    ASK = "ask"
    FINISHED = "finished"
    FAILED = "failed"
    LIMIT = "limit"
    OFFLINE = "offline"
    SPRINT = "sprint"
    # The node itself: a chat that is not heard, a journal that is full.
    NODE = "node"

    @property
    def meaning(self) -> str:
        """The same for a person."""
        return {
            AttentionKind.ASK: "questions",
            AttentionKind.FINISHED: "finished turns",
            AttentionKind.FAILED: "failed turns",
            AttentionKind.LIMIT: "usage limits",
            AttentionKind.OFFLINE: "agents that are gone",
            AttentionKind.SPRINT: "sprints that are over",
            AttentionKind.NODE: "trouble of the node",
        }[self]


ALL_KINDS = tuple(AttentionKind)


class LockScreen(StrEnum):
    """How much a notification shows, for it may be read over a shoulder."""

    ALL = "all"
    # Who, and what kind of thing.
    NAME = "name"
    NOTHING = "nothing"


class QuietHours(Word):
    """From that minute of the day to that one, every day; over midnight where the second is the smaller."""

    start: int
    end: int


class AttentionSettings(Word):
    """What the person wants to be buzzed for, on whichever channel."""

    # What does not buzz: of anybody, and of one worker. An ask that does not is told once, late.
    off: tuple[AttentionKind, ...] = ()
    workers: dict[WorkerName, tuple[AttentionKind, ...]] = {}
    hours: QuietHours | None = None
    # Quiet until then, in seconds since 1970.
    until: float = 0.0
    # What buzzes in quiet times, too.
    exceptions: tuple[AttentionKind, ...] = ()
    # The time zone of the hours, as `Europe/Berlin`; empty for the node's own.
    zone: str = ""
    # Whoever types at the desk is not buzzed on the phone.
    desk: bool = True
    # After how many minutes an ask that waits goes on to the next channel, and after how many more it comes again.
    next_minutes: float = 3.0
    again_minutes: float = 15.0
    lock_screen: LockScreen = LockScreen.ALL


# One object for all who changed nothing: what is left out on the wire is told by identity.
USUAL_ATTENTION = AttentionSettings()


class AttentionSet(Word, tag="attention_set"):
    """The person wants to be buzzed for other things, or at other times. It belongs to no worker."""

    settings: AttentionSettings
    by: Sender


def problem_of(settings: AttentionSettings) -> str:
    """Why these settings cannot be; empty when they can."""
    hours = settings.hours
    if hours is not None and not (0 <= hours.start < DAY_MINUTES and 0 <= hours.end < DAY_MINUTES):
        return "Quiet hours are minutes of a day, from 0 to 1439."
    if hours is not None and hours.start == hours.end:
        return "Quiet hours begin and end at the same time: that is a whole day or nothing."
    if not 0.5 <= settings.next_minutes <= LONGEST_MINUTES or not 0.5 <= settings.again_minutes <= LONGEST_MINUTES:
        return "An ask goes on to the next channel after half a minute at least, and after a day at most."
    if len(settings.workers) > MOST_WORKERS:
        return f"Settings for more than {MOST_WORKERS} workers are kept for nobody."
    if not settings.until >= 0.0:
        return "Quiet ends at a time."
    return "" if zone_of(settings.zone) is not None or not settings.zone else f"No time zone '{settings.zone[:40]}'."


def zone_of(name: str) -> tzinfo | None:
    """The time zone of that name; None for the node's own, and for one that nobody here knows."""
    if not name or len(name) > LONGEST_ZONE:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def may_buzz(settings: AttentionSettings, kind: AttentionKind, worker: WorkerName) -> bool:
    """Whether that kind of thing of that worker buzzes at all."""
    return kind not in settings.off and kind not in settings.workers.get(worker, ())


def quiet_end(settings: AttentionSettings, kind: AttentionKind, at: float) -> float | None:
    """When the quiet time that it is for that kind is over; None when it is none."""
    if kind in settings.exceptions:
        return None
    ends = [settings.until] if settings.until > at else []
    if (end := _end_of_hours(settings, at)) is not None:
        ends.append(end)
    return max(ends, default=None)


def _end_of_hours(settings: AttentionSettings, at: float) -> float | None:
    hours = settings.hours
    if hours is None:
        return None
    local = datetime.fromtimestamp(at, zone_of(settings.zone))
    minute = local.hour * 60 + local.minute
    after, before = minute >= hours.start, minute < hours.end
    inside = (after and before) if hours.start < hours.end else (after or before)
    if not inside:
        return None
    left = (hours.end - minute) % DAY_MINUTES or DAY_MINUTES
    return at + left * 60 - local.second - local.microsecond / 1e6

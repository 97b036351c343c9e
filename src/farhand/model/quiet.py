"""`/quiet`: reads what a person wants to be buzzed for, and says how that is set. Pure."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from farhand.model.attention import (
    ALL_KINDS,
    AttentionKind,
    AttentionSettings,
    LockScreen,
    QuietHours,
    problem_of,
    zone_of,
)
from farhand.model.errors import BadInput
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import WorkerName, replace

# The worker that is meant by a name as it is typed; empty when there is none.
FindWorker = Callable[[str], WorkerName]

USAGE = (
    "Usage: /quiet <30m, 2h, until 8:00, 22:00-7:00, off>, /quiet <name, kind> [kind] <on, off>, "
    "/quiet except <kinds>, /quiet times <minutes> <minutes>, /quiet desk <on, off>, /quiet show <all, name, nothing>"
)
HOW_TO_BE_QUIET = "/quiet 2h, /quiet until 8:00 or, every day, /quiet 22:00-7:00 makes it quiet."
_SPAN = lazy_pattern(r"(\d{1,3}(?:\.\d)?)\s*(m|min|h)\Z", re.IGNORECASE)
_HOURS = lazy_pattern(r"(\d{1,2})(?::(\d\d))?\s*[-–]\s*(\d{1,2})(?::(\d\d))?\Z")
_CLOCK = lazy_pattern(r"(\d{1,2})(?::(\d\d))?\Z")
_SWITCH = {"on": True, "yes": True, "off": False, "no": False}


def changed(settings: AttentionSettings, words: list[str], find: FindWorker, now: float) -> AttentionSettings:
    """The settings after what was typed behind `/quiet`; raises BadInput with a sentence."""
    made = _changed(settings, words, find, now)
    if problem := problem_of(made):
        raise BadInput(problem)
    return made


def _changed(settings: AttentionSettings, words: list[str], find: FindWorker, at: float) -> AttentionSettings:
    first, rest = words[0].lower(), [word.lower() for word in words[1:]]
    match first, rest:
        case "off", []:
            return replace(settings, until=0.0, hours=None)
        case "until", [clock]:
            return replace(settings, until=_next(settings, _minute(clock), at))
        case "except", kinds if kinds:
            return replace(settings, exceptions=_kinds(kinds))
        case "times", [to_next, again]:
            return replace(settings, next_minutes=_number(to_next), again_minutes=_number(again))
        case "desk", [word] if word in _SWITCH:
            return replace(settings, desk=_SWITCH[word])
        case "show", [word] if word in set(LockScreen):
            return replace(settings, lock_screen=LockScreen(word))
        case _, []:
            return _time(settings, first, at)
        case _, [*kinds, word] if word in _SWITCH:
            return _switched(settings, words[0], kinds, find, buzzes=_SWITCH[word])
        case _:
            raise BadInput(USAGE)


def _time(settings: AttentionSettings, word: str, at: float) -> AttentionSettings:
    if span := _SPAN.match(word):
        return replace(settings, until=at + float(span[1]) * (3600 if span[2].lower() == "h" else 60))
    if hours := _HOURS.match(word):
        start, end = _clock(hours[1], hours[2]), _clock(hours[3], hours[4])
        return replace(settings, hours=QuietHours(start=start, end=end))
    raise BadInput(USAGE)


def _switched(
    settings: AttentionSettings, name: str, kinds: list[str], find: FindWorker, *, buzzes: bool
) -> AttentionSettings:
    """A kind of all workers, all kinds of one worker, or one kind of one."""
    if name.lower() in set(AttentionKind) and not kinds:
        return replace(settings, off=_without_or_with(settings.off, (AttentionKind(name.lower()),), buzzes=buzzes))
    worker = find(name)
    if not worker:
        raise BadInput(f"'{name}' is neither a worker nor a kind. Kinds: {', '.join(ALL_KINDS)}.")
    before = settings.workers.get(worker, ())
    after = _without_or_with(before, _kinds(kinds) if kinds else ALL_KINDS, buzzes=buzzes)
    workers = {one: off for one, off in settings.workers.items() if one != worker}
    return replace(settings, workers={**workers, worker: after} if after else workers)


def _without_or_with(
    off: tuple[AttentionKind, ...], kinds: tuple[AttentionKind, ...], *, buzzes: bool
) -> tuple[AttentionKind, ...]:
    chosen = {*off} - {*kinds} if buzzes else {*off, *kinds}
    return tuple(kind for kind in ALL_KINDS if kind in chosen)


def _kinds(words: list[str]) -> tuple[AttentionKind, ...]:
    named = [word for text in words for word in text.split(",") if word]
    if named == ["none"]:
        return ()
    unknown = [word for word in named if word not in set(AttentionKind)]
    if unknown:
        raise BadInput(f"No kind is called '{unknown[0]}'. Kinds: {', '.join(ALL_KINDS)}.")
    return tuple(kind for kind in ALL_KINDS if kind in named)


def _number(word: str) -> float:
    try:
        return float(word.removesuffix("m"))
    except ValueError:
        raise BadInput(USAGE) from None


def _minute(word: str) -> int:
    found = _CLOCK.match(word)
    if not found:
        raise BadInput(USAGE)
    return _clock(found[1], found[2])


def _clock(hour: str, minute: str | None) -> int:
    if int(hour) > 23 or int(minute or 0) > 59:
        raise BadInput("The time of day is between 0:00 and 23:59.")
    return int(hour) * 60 + int(minute or 0)


def _next(settings: AttentionSettings, minute: int, at: float) -> float:
    """The next time that it is that minute of the day."""
    local = datetime.fromtimestamp(at, zone_of(settings.zone))
    then = local.replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
    return (then if then > local else then + timedelta(days=1)).timestamp()


def clock_words(minute: int) -> str:
    """A minute of the day as it is written."""
    return f"{minute // 60}:{minute % 60:02d}"


def is_quiet(settings: AttentionSettings, now: float) -> bool:
    """Whether a time of quiet is set, which `/quiet off` would end."""
    return settings.until > now or settings.hours is not None


def _when(settings: AttentionSettings, now: float) -> list[str]:
    """Until when it is quiet, what buzzes all the same, and how to end it; or how to make it quiet."""
    hours, local = settings.hours, datetime.fromtimestamp(now, zone_of(settings.zone))
    spans = []
    if settings.until > now:
        ends = datetime.fromtimestamp(settings.until, zone_of(settings.zone))
        day = "" if ends.date() == local.date() else f" on {ends:%d %B}"
        # The machine's own zone has no name here.
        clock = f"{ends:%H:%M %Z}".rstrip()
        spans.append(f"Quiet until {clock}{day}; then it buzzes again by itself.")
    if hours:
        zone = f" ({settings.zone})" if settings.zone else ""
        daily = f"Quiet every day from {clock_words(hours.start)} to {clock_words(hours.end)}{zone}"
        spans.append(f"{daily}.")
    if not spans:
        buzzes = tuple(kind for kind in ALL_KINDS if kind not in settings.off)
        return [f"Not quiet: the phone buzzes for {_names(buzzes)}.", HOW_TO_BE_QUIET]
    still = "Nothing buzzes then, not even a question (/quiet except ask changes that)."
    if settings.exceptions:
        still = f"Buzzes all the same: {_names(settings.exceptions)}."
    return [*spans, f"{still} What does not buzz is in the chat without a sound.", "/quiet off ends it."]


def settings_words(settings: AttentionSettings, now: float) -> str:
    """How it is set, a line each."""
    lines = [
        *_when(settings, now),
        f"Does not buzz at any time: {_names(settings.off)}." if settings.off else "",
        *(f"{worker} does not buzz for {_names(kinds)}." for worker, kinds in sorted(settings.workers.items())),
        f"A question that waits goes on to the next channel after {settings.next_minutes:g} min, and comes again "
        f"{settings.again_minutes:g} min later.",
        "The phone is quiet while you are at the desk."
        if settings.desk
        else "The phone buzzes although you are there.",
        f"Notifications show {_SHOWN[settings.lock_screen]}.",
    ]
    return "\n".join(line for line in lines if line)


_SHOWN = {
    LockScreen.ALL: "what is asked and said",
    LockScreen.NAME: "who it is, and nothing more",
    LockScreen.NOTHING: "that something waits, and nothing more",
}


def _names(kinds: tuple[AttentionKind, ...]) -> str:
    if len(kinds) == len(ALL_KINDS):
        return "anything"
    return ", ".join(kind.meaning for kind in kinds) or "nothing"

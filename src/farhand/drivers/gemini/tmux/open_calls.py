"""What a link to a Gemini CLI remembers: how far it has read, and which calls and questions are open. Pure."""

from __future__ import annotations

from farhand.drivers.gemini.asks import GeminiCall, GeminiQuestion, fitting, is_about, is_among, is_asked, seen_in
from farhand.drivers.gemini.tmux.screen import Dialog, comes_after
from farhand.drivers.gemini.tmux.session_file import GeminiCursor
from farhand.model.words import Word, replace

MOST_CALLS = 64


class GeminiPosition(Word):
    """What the journal keeps as a link's cursor."""

    spot: GeminiCursor = GeminiCursor()
    # Questions that are open, each under the name of its ask.
    asks: dict[str, GeminiQuestion] = {}
    # Calls that were announced and have not run yet: a question is about one of them.
    calls: tuple[GeminiCall, ...] = ()
    # Questions that were announced and whose dialog was not seen yet: it may stand behind another one.
    unseen: dict[str, GeminiQuestion] = {}
    # Calls that were allowed from afar and have not run yet.
    allowed: tuple[GeminiCall, ...] = ()


def announced(place: GeminiPosition, call: GeminiCall) -> GeminiPosition:
    """A call is about to run, or to be asked about."""
    return replace(place, calls=(*place.calls, call)[-MOST_CALLS:])


def wondered(place: GeminiPosition, name: str, question: GeminiQuestion) -> GeminiPosition:
    """A question was announced; it is asked when its dialog is seen."""
    return replace(place, unseen={**place.unseen, name: question})


def waiting(place: GeminiPosition) -> tuple[GeminiCall, ...]:
    """The calls that a dialog may be about: those that neither ran nor were allowed."""
    calls = place.calls
    for call in place.allowed:
        calls = _less(calls, call)
    return calls


def sought(place: GeminiPosition, dialog: Dialog) -> tuple[str, GeminiQuestion] | None:
    """The question that this dialog asks, and its name, if it is one that was announced and not asked yet."""
    found = {name: one for name, one in place.unseen.items() if is_about(dialog, one)}
    return (next(iter(found)), seen_in(dialog, list(found.values()), waiting(place))) if found else None


def is_known(place: GeminiPosition, dialog: Dialog) -> bool:
    """Whether this is the dialog of a question that was asked."""
    return any(is_asked(dialog, one) for one in place.asks.values())


def passed_by(place: GeminiPosition, dialog: Dialog) -> list[str]:
    """The asks that are over, since the CLI is at a later one of the same calls: it takes them in order."""
    return [name for name, one in place.asks.items() if comes_after(dialog.counter, one.counter)]


def replaced_by(place: GeminiPosition, dialog: Dialog) -> list[str]:
    """The asks in whose place another question stands: it was changed at the desk."""
    return [name for name, one in place.asks.items() if one.counter == dialog.counter]


def asked(place: GeminiPosition, name: str, question: GeminiQuestion) -> GeminiPosition:
    """The question is open from now on."""
    rest = {other: one for other, one in place.unseen.items() if other != name}
    return replace(place, unseen=rest, asks={**place.asks, name: question})


def put_back(place: GeminiPosition, name: str) -> GeminiPosition:
    """Its dialog stands behind another one: it is asked again when it is seen again."""
    return wondered(without(place, [name]), f"{name}-again", replace(place.asks[name], counter=""))


def without(place: GeminiPosition, names: list[str]) -> GeminiPosition:
    """These asks are over."""
    return replace(place, asks={name: one for name, one in place.asks.items() if name not in names}) if names else place


def allow(place: GeminiPosition, call: GeminiCall) -> GeminiPosition:
    """Somebody allows this call from afar."""
    return replace(place, allowed=(*place.allowed, call))


def disallow(place: GeminiPosition, call: GeminiCall) -> GeminiPosition:
    """It was not allowed after all."""
    return replace(place, allowed=_less(place.allowed, call))


def refuse(place: GeminiPosition, call: GeminiCall) -> GeminiPosition:
    """It was refused, and will not run."""
    return replace(place, calls=_less(place.calls, call))


def ran(place: GeminiPosition, call: GeminiCall) -> tuple[GeminiPosition, str]:
    """A call has run; the ask that is over by that, '' when there is none: it was allowed there, or by nobody."""
    place = replace(place, calls=_less(place.calls, call))
    if is_among(call, place.allowed):
        return disallow(place, call), ""
    name = next((name for name, one in place.asks.items() if is_among(call, fitting(one))), "")
    hidden = "" if name else next((name for name, one in place.unseen.items() if is_among(call, fitting(one))), "")
    if hidden:
        place = replace(place, unseen={other: one for other, one in place.unseen.items() if other != hidden})
    return place, name


def rested(place: GeminiPosition) -> GeminiPosition:
    """The turn is over: nothing that it announced comes any more."""
    return replace(place, calls=(), unseen={}, allowed=())


def _less(calls: tuple[GeminiCall, ...], call: GeminiCall) -> tuple[GeminiCall, ...]:
    """Without one of those that are like it."""
    at = next((at for at, one in enumerate(calls) if is_among(call, (one,))), len(calls))
    return (*calls[:at], *calls[at + 1 :])

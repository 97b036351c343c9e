"""Which calls of the Gemini CLI, and which questions about them, are open. Pure: part of the link's cursor."""

from __future__ import annotations

from farhand.drivers.gemini.asks import GeminiCall, GeminiQuestion, fitting, is_about, is_among, is_asked, seen_in
from farhand.drivers.gemini.tmux.screen import Dialog, comes_after
from farhand.drivers.gemini.tmux.state import GeminiOpenCalls
from farhand.model.words import replace

MOST_CALLS = 64


def announced(opened: GeminiOpenCalls, call: GeminiCall) -> GeminiOpenCalls:
    """A call is about to run, or to be asked about."""
    return replace(opened, calls=(*opened.calls, call)[-MOST_CALLS:])


def announced_question(opened: GeminiOpenCalls, name: str, question: GeminiQuestion) -> GeminiOpenCalls:
    """A question was announced; it is asked when its dialog is seen."""
    return replace(opened, unseen={**opened.unseen, name: question})


def waiting(opened: GeminiOpenCalls) -> tuple[GeminiCall, ...]:
    """The calls that a dialog may be about: those that neither ran nor were allowed."""
    calls = opened.calls
    for call in opened.allowed:
        calls = _less(calls, call)
    return calls


def question_in(opened: GeminiOpenCalls, dialog: Dialog) -> tuple[str, GeminiQuestion] | None:
    """The question that this dialog asks, and its name, if it is one that was announced and not asked yet."""
    found = {name: one for name, one in opened.unseen.items() if is_about(dialog, one)}
    return (next(iter(found)), seen_in(dialog, list(found.values()), waiting(opened))) if found else None


def is_known(opened: GeminiOpenCalls, dialog: Dialog) -> bool:
    """Whether this is the dialog of a question that was asked."""
    return any(is_asked(dialog, one) for one in opened.asks.values())


def passed_by(opened: GeminiOpenCalls, dialog: Dialog) -> list[str]:
    """The asks that are over, since the CLI is at a later one of the same calls: it takes them in order."""
    return [name for name, one in opened.asks.items() if comes_after(dialog.counter, one.counter)]


def replaced_by(opened: GeminiOpenCalls, dialog: Dialog) -> list[str]:
    """The asks in whose opened another question stands: it was changed at the desk."""
    return [name for name, one in opened.asks.items() if one.counter == dialog.counter]


def asked(opened: GeminiOpenCalls, name: str, question: GeminiQuestion) -> GeminiOpenCalls:
    """The question is open from now on."""
    rest = {other: one for other, one in opened.unseen.items() if other != name}
    return replace(opened, unseen=rest, asks={**opened.asks, name: question})


def put_back(opened: GeminiOpenCalls, name: str) -> GeminiOpenCalls:
    """Its dialog stands behind another one: it is asked again when it is seen again."""
    return announced_question(without(opened, [name]), f"{name}-again", replace(opened.asks[name], counter=""))


def without(opened: GeminiOpenCalls, names: list[str]) -> GeminiOpenCalls:
    """These asks are over."""
    rest = {name: one for name, one in opened.asks.items() if name not in names}
    return replace(opened, asks=rest) if names else opened


def allow(opened: GeminiOpenCalls, call: GeminiCall) -> GeminiOpenCalls:
    """Somebody allows this call from afar."""
    return replace(opened, allowed=(*opened.allowed, call))


def disallow(opened: GeminiOpenCalls, call: GeminiCall) -> GeminiOpenCalls:
    """It was not allowed after all."""
    return replace(opened, allowed=_less(opened.allowed, call))


def refuse(opened: GeminiOpenCalls, call: GeminiCall) -> GeminiOpenCalls:
    """It was refused, and will not run."""
    return replace(opened, calls=_less(opened.calls, call))


def ran(opened: GeminiOpenCalls, call: GeminiCall) -> tuple[GeminiOpenCalls, str]:
    """A call has run; the ask that is over by that, '' when there is none: it was allowed there, or by nobody."""
    opened = replace(opened, calls=_less(opened.calls, call))
    if is_among(call, opened.allowed):
        return disallow(opened, call), ""
    name = next((name for name, one in opened.asks.items() if is_among(call, fitting(one))), "")
    hidden = "" if name else next((name for name, one in opened.unseen.items() if is_among(call, fitting(one))), "")
    if hidden:
        opened = replace(opened, unseen={other: one for other, one in opened.unseen.items() if other != hidden})
    return opened, name


def cleared(opened: GeminiOpenCalls) -> GeminiOpenCalls:
    """The turn is over: nothing that it announced comes any more."""
    return replace(opened, calls=(), unseen={}, allowed=())


def _less(calls: tuple[GeminiCall, ...], call: GeminiCall) -> tuple[GeminiCall, ...]:
    """Without one of those that are like it."""
    at = next((at for at, one in enumerate(calls) if is_among(call, (one,))), len(calls))
    return (*calls[:at], *calls[at + 1 :])

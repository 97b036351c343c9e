"""Knows what each worker has said in its last turn, so that an older Stop hook's post of it is not a second answer."""

import html
import re

import anyio

from farhand.model import facts
from farhand.model.facts import Event
from farhand.model.lazy_pattern import lazy_pattern

# The forwarder of the original gives up after five seconds.
HOLD_SECONDS = 4.0
# Who posts without a name for its answer, and is not a program of ours.
FORWARDER = "Python-urllib"
_FENCE = lazy_pattern(r"^[ ]*```.*$", re.MULTILINE)
_TAG = lazy_pattern(r"</?(?:b|i|code|pre)(?: [^>]*)?>")
_NO_LETTER = lazy_pattern(r"[\W_]+")


def letters(text: str) -> str:
    """The letters and digits alone: Markdown and what was made of it have the same."""
    return _NO_LETTER.sub("", html.unescape(_TAG.sub("", _FENCE.sub("", text)))).lower()


class LastAnswers:
    """Follows the journal: the words of each worker's turn that runs, or was the last to run."""

    def __init__(self) -> None:
        self._said: dict[str, list[str]] = {}
        self._running: dict[str, anyio.Event] = {}

    def follow(self, event: Event) -> None:
        """One more event."""
        match event.fact:
            case facts.TurnStarted():
                self._said[event.worker] = []
                self._running[event.worker] = anyio.Event()
            case facts.Said(text=text):
                self._said.setdefault(event.worker, []).append(text)
            case facts.TurnEnded():
                self._end(event.worker)
            case facts.Ended():
                self._end(event.worker)
                self._said.pop(event.worker, None)
            case _:
                pass

    def _end(self, worker: str) -> None:
        if running := self._running.pop(worker, None):
            running.set()

    async def has(self, worker: str, text: str) -> bool:
        """Whether the worker has said that itself; waits a moment for the end of a turn that runs."""
        if running := self._running.get(worker):
            with anyio.move_on_after(HOLD_SECONDS):
                await running.wait()
        posted = letters(text)
        return bool(posted) and posted in letters("".join(self._said.get(worker, ())))

"""Where a message is written: the input, with what is offered for the word before the cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static, TextArea

from farhand.tui.candidates import PromptCandidates
from farhand.tui.desk import Completion
from farhand.tui.prompt import PromptInput

PLACEHOLDER = "Type a message, / for commands, @ for files"


class Completions(Protocol):
    """What a word may become, as `Desk.completions`."""

    def __call__(self, word: str, *, first: bool) -> list[Completion]:
        """`first` when nothing stands before it."""
        ...


class Composer(Horizontal):
    """Offers completions, and what was said before, in the list above it; what is sent is a `PromptInput.Sent`."""

    class Escaped(Message):
        """Escape was pressed where nothing was offered."""

    def __init__(self, candidates: PromptCandidates, completions: Completions) -> None:
        super().__init__(id="line")
        # Beside it and not in it: a box more would be laid out at every change of the screen.
        self._candidates, self._completions = candidates, completions
        self.prompt = PromptInput(PLACEHOLDER)

    def compose(self) -> ComposeResult:
        """A mark, and the input."""
        yield Static("› ", markup=False, id="mark")
        yield self.prompt

    @on(PromptInput.Sent)
    def _sent(self) -> None:
        self._candidates.hide()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        prompt = self.prompt
        if self._candidates.is_search and prompt.text != prompt.put:
            # The search goes on with what is typed.
            self._search()
            return
        word, first = prompt.word()
        typed = word[:1] in ("/", "@") and prompt.text != prompt.put
        offered = self._completions(word, first=first) if typed else []
        self._candidates.offer(offered)
        prompt.completing = bool(offered)

    @on(PromptInput.Asked)
    def _asked(self, event: PromptInput.Asked) -> None:
        keys: dict[str, Callable[[], None]] = {
            "ctrl+r": self._search,
            "up": lambda: self._candidates.move(-1),
            "down": lambda: self._candidates.move(1),
            "tab": self._complete,
            "enter": self._take_or_send,
            "escape": self._escape,
        }
        keys[event.key]()

    def _search(self) -> None:
        self._candidates.offer_said(self.prompt.said, self.prompt.text)
        self.prompt.completing = self._candidates.is_open

    def _escape(self) -> None:
        if self._candidates.is_open:
            self._close()
        else:
            self.post_message(self.Escaped())

    def _take_or_send(self) -> None:
        """Enter takes what was searched for, and completes what was begun; a command that wants no more is sent."""
        candidates = self._candidates
        word, _ = self.prompt.word()
        is_whole = word in (one.strip() for one in candidates.offered)
        if candidates.is_open and not is_whole:
            wants_more = candidates.is_search or word.startswith("@") or candidates.chosen.endswith(" ")
            self._complete()
            if wants_more:
                return
        if text := self.prompt.take():
            # Our own: what a widget posts while its container works does not come further than that one.
            self.post_message(PromptInput.Sent(text))

    def _complete(self) -> None:
        if not self._candidates.is_open:
            self.screen.focus_next()
        elif self._candidates.is_search:
            self.prompt.set_text(self._candidates.chosen)
        else:
            self.prompt.complete(self._candidates.chosen)
        self._close()

    def _close(self) -> None:
        self._candidates.hide()
        self.prompt.completing = False

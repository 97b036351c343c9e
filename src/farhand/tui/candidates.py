"""What the word before the cursor may become, in a list above the input."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from farhand.tui.desk import Completion
from farhand.tui.shown_text import plain

MOST = 50


class PromptCandidates(OptionList, can_focus=False):
    """Shown while there is something to choose from; the input keeps the keyboard."""

    def __init__(self) -> None:
        super().__init__(id="candidates", markup=False, compact=True)
        self._offered: list[str] = []
        self.is_search = False

    @property
    def is_open(self) -> bool:
        """Whether there is something to choose from."""
        return bool(self.display and self._offered)

    @property
    def offered(self) -> list[str]:
        """All that there is to choose from."""
        return list(self._offered)

    @property
    def chosen(self) -> str:
        """The one that is highlighted."""
        return self._offered[self.highlighted or 0]

    def offer(self, completions: Sequence[Completion]) -> None:
        """Shows these; none hides the list."""
        self.is_search = False
        width = max((len(one.text) for one in completions[:MOST]), default=0)
        self._show(
            [one.text for one in completions[:MOST]],
            [
                Content.assemble(plain(one.text).ljust(width + 2), (plain(one.help), "dim"))
                for one in completions[:MOST]
            ],
        )

    def offer_said(self, said: Sequence[str], wanted: str) -> None:
        """Shows what was said and has these words in it."""
        found = [text for text in said if wanted.casefold() in text.casefold()][:MOST]
        self.is_search = True
        self._show(found, [Content(" ".join(plain(text).split())) for text in found])

    def _show(self, offered: list[str], lines: list[Content]) -> None:
        self._offered = offered
        self.clear_options()
        self.add_options([Option(line) for line in lines])
        self.highlighted = 0 if offered else None
        self.display = bool(offered)

    def hide(self) -> None:
        """Nothing to choose from."""
        self.is_search = False
        self._show([], [])

    def move(self, step: int) -> None:
        """To the next one, up or down."""
        if self._offered:
            self.highlighted = ((self.highlighted or 0) + step) % len(self._offered)

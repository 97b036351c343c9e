"""Where the person types: several lines, what was said before, and words that complete themselves."""

from __future__ import annotations

from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

NEWLINE_KEYS = frozenset(("shift+enter", "alt+enter", "ctrl+j"))


class PromptInput(TextArea):
    """Enter sends; Shift+Enter, Alt+Enter, Ctrl+J or a backslash before Enter begin a new line."""

    class Sent(Message):
        """The person sent this."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Asked(Message):
        """A key that is not for the text: tab, up, down, escape, and the search through what was said."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, placeholder: str) -> None:
        super().__init__(
            id="prompt", compact=True, tab_behavior="focus", highlight_cursor_line=False, placeholder=placeholder
        )
        self._said: list[str] = []
        # Where in what was said the text comes from; at the end it is the person's own.
        self._place = 0
        self._own = ""
        self.completing = False
        # What was put there and not typed: nothing is offered for it.
        self.put = ""

    def remember(self, text: str) -> None:
        """Can be had again with the arrow up."""
        if text.strip() and self._said[-1:] != [text]:
            self._said.append(text)
        self._place = len(self._said)

    @property
    def said(self) -> list[str]:
        """What was said, the latest first, each once."""
        return list(dict.fromkeys(reversed(self._said)))

    def set_text(self, text: str) -> None:
        """Puts a text there, with the cursor behind it."""
        self.put = text
        self.text = text
        self.move_cursor(self.document.end)

    async def _on_key(self, event: Key) -> None:
        if self._takes(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def _takes(self, key: str) -> bool:
        """Whether the key was for us and not for the text."""
        if key in NEWLINE_KEYS or (key == "enter" and self._before_cursor().endswith("\\")):
            if key == "enter":
                self.action_delete_left()
            self.insert("\n")
        elif key == "enter" and self.completing:
            self.post_message(self.Asked(key))
        elif key == "enter":
            if text := self.take():
                self.post_message(self.Sent(text))
        elif key in ("tab", "escape", "ctrl+r") or (self.completing and key in ("up", "down")):
            self.post_message(self.Asked(key))
        elif key == "up" and self.cursor_location[0] == 0:
            self._recall(-1)
        elif key == "down" and self.cursor_location[0] == self.document.line_count - 1:
            self._recall(1)
        else:
            return False
        return True

    def take(self) -> str:
        """What stands there to be sent, and then no longer; nothing where nothing was written."""
        text = self.text
        if not text.strip():
            return ""
        self.remember(text)
        self.clear()
        return text

    def _recall(self, step: int) -> None:
        place = min(max(self._place + step, 0), len(self._said))
        if place == self._place:
            return
        if self._place == len(self._said):
            self._own = self.text
        self._place = place
        self.set_text(self._said[place] if place < len(self._said) else self._own)

    def _before_cursor(self) -> str:
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    def word(self) -> tuple[str, bool]:
        """The word before the cursor, and whether nothing stands before it."""
        before = self._before_cursor()
        word = before.rpartition(" ")[2]
        return word, self.cursor_location[0] == 0 and before == word

    def complete(self, text: str) -> None:
        """Puts this in the place of the word before the cursor."""
        word, _ = self.word()
        row, column = self.cursor_location
        self.replace(text, (row, column - len(word)), (row, column))

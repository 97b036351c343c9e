"""The conversations that one can go on with, in a list over the whole screen: arrows, words to filter by, Enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from farhand.model.visible import visible
from farhand.tui.desk import EarlierSession, EarlierSessions

HINT = "↑↓ choose · type to filter · Enter goes on with it · Esc back"
NONE = "None of them has these words."
# More of a title than any screen shows.
MOST_CHARACTERS = 300


def shown_title(text: str) -> str:
    """Foreign words on one line: what an eye cannot see stands there as its code."""
    return visible(" ".join(text[:MOST_CHARACTERS].split()))


def found(sessions: Sequence[EarlierSession], wanted: str) -> list[EarlierSession]:
    """Those that have every one of these words in them."""
    words = wanted.casefold().split()
    return [one for one in sessions if all(word in _told(one) for word in words)]


def _told(one: EarlierSession) -> str:
    return f"{one.title}\n{one.id}\n{one.size}\n{one.note}".casefold()


def lines(sessions: Sequence[EarlierSession]) -> list[Content]:
    """A line each, in columns; below it what else there is to know."""
    when = max((len(one.when) for one in sessions), default=0)
    size = max((len(one.size) for one in sessions), default=0)
    return [
        Content.assemble(
            (f"{one.when:>{when}}  {one.size:<{size}}  ", "dim"),
            shown_title(one.title) or "(no words yet)",
            (f"\n{'':{when}}  {shown_title(one.note)}" if one.note else "", "dim"),
        )
        for one in sessions
    ]


class SessionPicker(Vertical):
    """Lies over the conversation, which goes on below it; the keyboard is here until one is chosen or none."""

    DEFAULT_CSS = """
    SessionPicker { layer: over; width: 100%; height: 100%; background: $background; }
    SessionPicker #picker-title { height: 1; padding: 0 1; background: $panel; color: $text-muted; text-wrap: nowrap;
      text-overflow: ellipsis; }
    SessionPicker #picker-line { height: 1; width: 100%; padding: 0 1; background: $surface; border: none; }
    SessionPicker #picker-list { height: 1fr; max-height: 100%; padding: 0 1; border: none; background: $background;
      text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1; }
    SessionPicker #picker-hint { height: 1; padding: 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p,shift+tab", "move(-1)", show=False),
        Binding("down,ctrl+n,tab", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("ctrl+home", "move_to(0)", show=False),
        Binding("ctrl+end", "move_to(-1)", show=False),
        Binding("escape,ctrl+c,ctrl+d", "close", show=False),
    ]

    class Picked(Message):
        """The person wants to go on with that one."""

        def __init__(self, session: str) -> None:
            super().__init__()
            self.session = session

    class Closed(Message):
        """The person wants none of them."""

    def __init__(self, earlier: EarlierSessions) -> None:
        super().__init__()
        self._earlier = earlier
        self._found = list(earlier.sessions)
        self._title = Static(markup=False, id="picker-title")
        self._line = Input(id="picker-line", placeholder="Type to filter", compact=True, select_on_focus=False)
        self._list = OptionList(id="picker-list", markup=False, compact=True)
        self._list.can_focus = False

    def compose(self) -> ComposeResult:
        """What they have in common, where one types, the list, and what the keys do."""
        yield from (self._title, self._line, self._list, Static(HINT, markup=False, id="picker-hint"))

    def on_mount(self) -> None:
        """The latest one is highlighted, and the keyboard filters."""
        self._fill()
        self._line.focus()

    def _fill(self) -> None:
        given = self._earlier.sessions
        count = f"{len(self._found)} of {len(given)}" if len(self._found) < len(given) else f"{len(given)}"
        self._title.update(Content.assemble((shown_title(self._earlier.title), "bold $primary"), f" · {count}"))
        self._list.clear_options()
        self._list.add_options([Option(line) for line in lines(self._found)] or [Option(NONE, disabled=True)])
        self._list.highlighted = 0 if self._found else None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._found = found(self._earlier.sessions, event.value)
        self._fill()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self._list.highlighted is not None and self._found:
            self._choose(self._list.highlighted)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._choose(event.option_index)

    def _choose(self, place: int) -> None:
        self.post_message(self.Picked(self._found[place].id))

    def action_move(self, step: int) -> None:
        """To the next one, up or down; behind the last comes the first."""
        if self._found:
            self._list.highlighted = ((self._list.highlighted or 0) + step) % len(self._found)

    def action_page(self, step: int) -> None:
        """A screen further."""
        rows = max(1, self._list.scrollable_content_region.height)
        self.action_move_to(min(max((self._list.highlighted or 0) + step * rows, 0), len(self._found) - 1))

    def action_move_to(self, place: int) -> None:
        """To the latest one, or the oldest."""
        if self._found:
            self._list.highlighted = place % len(self._found)

    def action_close(self) -> None:
        """Back to the conversation."""
        self.post_message(self.Closed())

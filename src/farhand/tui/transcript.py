"""The conversation on the screen: rows that are laid out once, drawn when in sight, older ones on the way up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions
from textual.widget import Widget

from farhand.model.live_session import MessageState, Role, SessionChanges, SessionLog, SessionMessage
from farhand.tui.message_rows import MessageRows
from farhand.tui.rows import ShownRow, copied, led, wrapped

# How many screens of rows are laid out at first, how many more when one comes near their end, and the most there are.
FIRST, STEP, MOST = 2, 1, 12
# Rows that are kept as they were drawn.
MOST_DRAWN = 300
# Rows are numbered from here on, so that those that come above have a number, too, and no other changes its own.
MIDDLE = 1 << 40

EMPTY = """Say what you want done in this folder.

/help    what can be typed
@path    sends a file or an image along
Esc      stops a turn; what you say meanwhile waits for its end
Ctrl+R   searches what you said before"""


class Transcript(ScrollView, can_focus=True):
    """A window on a conversation: its end, older messages on the way up, newer ones on the way down again, never many.

    It stays at the end only while one is there."""

    class StartReached(Message):
        """One is at the first message that there is, and wants what is older."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "mark(1)", show=False),
        Binding("shift+tab", "mark(-1)", show=False),
        Binding("enter,space", "turn", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="transcript")
        # Those that are laid out, in their order; no message between two of them is missing.
        self._laid: dict[int, MessageRows] = {}
        self._rows: list[ShownRow] = []
        # Where each of them begins, and the number of the first row.
        self._starts: list[int] = []
        self._base = MIDDLE
        # What was drawn, by the row that it shows.
        self._strips: dict[int, tuple[ShownRow, Strip]] = {}
        self._is_open = False
        self._log: SessionLog | None = None
        # Whether nothing is missing below, and whether one is there and wants to stay there.
        self._has_end = True
        self._follows = True
        self._placing = False
        self._width = 0
        # The title that the keyboard is at: its message, and its part.
        self._marked: tuple[int, int] | None = None
        self._clicked = 0

    @property
    def oldest(self) -> int:
        """The first message that is laid out."""
        return next(iter(self._laid), 0)

    @property
    def row_count(self) -> int:
        """How many rows are laid out."""
        return len(self._rows)

    @property
    def has_end(self) -> bool:
        """Whether nothing is missing below."""
        return self._has_end

    @property
    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def open_log(self, log: SessionLog) -> None:
        """Shows the end of that conversation and nothing else."""
        self._log, self._follows = log, True
        self._open_at_end()

    def _open_at_end(self) -> None:
        if self._log is None or not self._width:
            return
        shown = _shown(self._log)
        self._laid.clear()
        self._has_end, self._marked = True, None
        self._add_above(shown, len(shown), FIRST * self._height)
        self._gather()

    def _add_above(self, shown: Sequence[SessionMessage], before: int, rows: int) -> int:
        """Lays out messages before that place, until there are so many rows more; how many rows came."""
        made: dict[int, MessageRows] = {}
        count = 0
        while before > 0 and count < rows:
            before -= 1
            one = self._lay_out(shown[before])
            made[shown[before].id] = one
            count += len(one.rows)
        self._laid = {**dict(reversed(made.items())), **self._laid}
        return count

    def _lay_out(self, message: SessionMessage) -> MessageRows:
        return MessageRows(message, self._width, opened=self._is_open)

    def _gather(self, above: int = 0) -> None:
        """The rows of all that is laid out; so many of them are new above, and what one reads stays where it is."""
        lengths = [len(one.rows) for one in self._laid.values()]
        self._starts = [0, *accumulate(lengths)][: len(lengths)]
        self._rows = [row for one in self._laid.values() for row in one.rows] or _empty_rows(self._width)
        self._base -= above
        if len(self._strips) > MOST_DRAWN:
            self._strips.clear()
        place = self.scroll_y + above
        self._placing = True
        self.virtual_size = Size(self._width, len(self._rows))
        self._place(self.max_scroll_y if self._follows else place)
        self._placing = False
        self.refresh()

    def _place(self, row: float) -> None:
        placing, self._placing = self._placing, True
        self.scroll_to(y=row, animate=False, force=True, immediate=True)
        self._placing = placing

    def apply(self, changes: SessionChanges) -> None:
        """What is different; messages that are not laid out come when one scrolls to them."""
        if self._log is None or not self._width:
            return
        grown = 0
        top = int(self.scroll_y)
        for message in changes.messages:
            laid = self._laid.get(message.id)
            if laid is not None:
                before, start = len(laid.rows), self._start(message.id)
                laid.show(message)
                grown += len(laid.rows) - before if start + before <= top else 0
        newer = (
            self._newer(self._log) if self._has_end and any(m.id not in self._laid for m in changes.messages) else []
        )
        if self._follows and len(newer) > self._height:
            self._open_at_end()
            return
        self._add_below(newer)
        self._trim(above=True)
        self._gather(grown)

    def _start(self, message: int) -> int:
        return self._starts[list(self._laid).index(message)]

    def _newer(self, log: SessionLog) -> list[SessionMessage]:
        """What was said after all that is laid out."""
        shown = _shown(log)
        place = len(shown)
        while place and shown[place - 1].id not in self._laid:
            place -= 1
        return shown[place:]

    def _add_below(self, newer: Sequence[SessionMessage]) -> None:
        rows = 0
        for place, message in enumerate(newer):
            if rows > STEP * self._height:
                self._has_end = False
                return
            self._laid[message.id] = one = self._lay_out(message)
            rows += len(one.rows)
            self._has_end = place == len(newer) - 1

    def _trim(self, *, above: bool) -> None:
        """Lets go of what is far away at the other side."""
        most = MOST * self._height
        if above:
            self._trim_above(most)
            return
        count = sum(len(one.rows) for one in self._laid.values())
        for message in reversed(list(self._laid)):
            count -= len(self._laid[message].rows)
            if count < most:
                return
            del self._laid[message]
            self._has_end = False

    def _trim_above(self, most: int) -> None:
        count = sum(len(one.rows) for one in self._laid.values())
        gone = 0
        for message in list(self._laid):
            rows = len(self._laid[message].rows)
            if count - rows < most or gone + rows + STEP * self._height > self.scroll_y:
                break
            del self._laid[message]
            count, gone = count - rows, gone + rows
        if gone:
            # The rows that stay keep their numbers, and their place on the screen.
            self._base += gone
            self._place(self.scroll_y - gone)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Near the top, what was said before comes in; near the bottom, what was said after."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing:
            return
        # A screen that grew moves up to the end, too, and is still there.
        self._follows = self._has_end and new_value >= self.max_scroll_y
        if new_value < min(old_value, self._height):
            self.load_older()
        elif new_value > max(old_value, self.max_scroll_y - self._height):
            self.load_newer()

    def on_resize(self) -> None:
        """Another width is another layout; what one reads stays in sight."""
        width = self.scrollable_content_region.width
        if width == self._width:
            self._place(self.max_scroll_y if self._follows else self.scroll_y)
            return
        reading, self._width = self._reading(), width
        if self._follows or reading is None:
            self._open_at_end()
            return
        chosen = {message: laid.chosen for message, laid in self._laid.items() if laid.chosen}
        self._laid = {message: self._lay_out(laid.message) for message, laid in self._laid.items()}
        for message, which in chosen.items():
            self._laid[message].chosen = which
        self._gather()
        self._place(self._start(reading))

    def _reading(self) -> int | None:
        """The message at the top of the screen."""
        place = bisect_right(self._starts, int(self.scroll_y)) - 1
        return list(self._laid)[place] if 0 <= place < len(self._laid) else None

    def load_older(self) -> None:
        """Puts older messages above, and what one reads stays where it is."""
        if self._log is None or not self._laid:
            return
        shown = _shown(self._log)
        first = next((place for place, one in enumerate(shown) if one.id in self._laid), 0)
        if not first:
            self.post_message(self.StartReached())
        else:
            above = self._add_above(shown, first, STEP * self._height)
            self._trim(above=False)
            self._gather(above)

    def load_newer(self) -> None:
        """Puts newer messages below, where some are missing."""
        if self._log is not None and not self._has_end:
            self._add_below(self._newer(self._log))
            self._trim(above=True)
            self._gather()

    def show_end(self) -> None:
        """To the end, and it stays there."""
        self._follows = True
        if self._has_end:
            self._place(self.max_scroll_y)
        else:
            self._open_at_end()

    def open_all(self) -> None:
        """Opens every thought and tool, or closes them all."""
        self._is_open = not self._is_open
        reading = self._reading()
        for one in self._laid.values():
            one.open(self._is_open)
        self._gather()
        if reading is not None and not self._follows:
            self._place(self._start(reading))

    def render_line(self, y: int) -> Strip:
        """A row as it is drawn; kept until it changes."""
        place = int(self.scroll_offset.y) + y
        width = self.scrollable_content_region.width
        if not 0 <= place < len(self._rows):
            return Strip.blank(width, self.visual_style.rich_style)
        row = self._rows[place]
        kept = self._strips.get(id(row))
        if kept is None or kept[0] is not row:
            kept = self._strips[id(row)] = (row, self._drawn(place, width))
        return kept[1].apply_offsets(0, self._base + place)

    def _drawn(self, place: int, width: int) -> Strip:
        content, style = self._rows[place].content, self.visual_style
        if self._marked is not None and self.has_focus and self._fold_at(place) == self._marked:
            content = content.stylize("on $panel")
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(self._base + place)) is not None:
            chosen = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(chosen, span[0], len(content.plain) if span[1] == -1 else span[1])
        options = RenderOptions(self._get_style, {"text_wrap": "nowrap", "text_overflow": "clip"})
        strips = content.render_strips(width, 1, style, options)
        return (strips[0] if strips else Strip.blank(0)).extend_cell_length(width, style.rich_style)

    def notify_style_update(self) -> None:
        """Other colours: everything is drawn again."""
        super().notify_style_update()
        self._strips.clear()

    def selection_updated(self, selection: Selection | None) -> None:
        """What is marked is drawn so."""
        del selection
        self._strips.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The marked text; lines that were wrapped for the screen are whole in it."""
        last = len(self._rows) - 1
        start = selection.start or Offset(0, self._base)
        end = selection.end or Offset(len(self._rows[last].content.plain), self._base + last)
        first, until = max(0, start.y - self._base), min(last, end.y - self._base)
        return copied(self._rows[first : until + 1], start.x, end.x), "\n"

    @property
    def select_container(self) -> Widget:
        """Three clicks mark no more than two: nobody wants the title and the status in the clipboard."""
        return self

    def text_select_all(self) -> None:
        """A double click marks the paragraph."""
        first = last = self._clicked
        while first > 0 and self._rows[first - 1].joint != "\n":
            first -= 1
        while last < len(self._rows) - 1 and self._rows[last].joint != "\n":
            last += 1
        if 0 <= last < len(self._rows):
            end = Offset(len(self._rows[last].content.plain), self._base + last)
            self.screen.selections = {self: Selection(Offset(0, self._base + first), end)}

    def on_click(self, event: Click) -> None:
        """A click on the line of a thought or a tool opens and closes it."""
        self._clicked = int(self.scroll_offset.y) + event.y
        found = self._fold_at(self._clicked)
        if found is not None and event.chain == 1 and not self.text_selection:
            self._turn(found)

    def _fold_at(self, place: int) -> tuple[int, int] | None:
        if not (0 <= place < len(self._rows)) or not self._laid:
            return None
        part = self._rows[place].fold
        message = list(self._laid)[bisect_right(self._starts, place) - 1]
        return (message, part) if part is not None else None

    def _turn(self, fold: tuple[int, int]) -> None:
        """Opens or closes it where it stands."""
        message, part = fold
        follows, self._follows = self._follows, False
        self._laid[message].turn(part)
        self._gather()
        self._follows = follows and self.scroll_y >= self.max_scroll_y

    def action_turn(self) -> None:
        """Opens or closes what the keyboard is at."""
        if self._marked is not None and self._marked[0] in self._laid:
            self._turn(self._marked)

    def action_mark(self, step: int) -> None:
        """To the next line that opens; from the last one on to where one types."""
        folds = [(place, found) for place in range(len(self._rows)) if (found := self._fold_at(place)) is not None]
        top = int(self.scroll_y)
        at = next((number for number, (_, fold) in enumerate(folds) if fold == self._marked), None)
        if at is None:
            seen = [number for number, (place, _) in enumerate(folds) if top <= place < top + self._height]
            wanted = (seen[0] if step > 0 else seen[-1]) if seen else -1
        else:
            wanted = at + step
        self._strips.clear()
        if not 0 <= wanted < len(folds):
            self._marked = None
            (self.screen.focus_next if step > 0 else self.screen.focus_previous)()
            return
        place, self._marked = folds[wanted]
        self.scroll_to_region(Region(0, place, 1, 1), animate=False, force=True, immediate=True)
        self.refresh()

    def on_focus(self) -> None:
        """The mark is drawn."""
        self._strips.clear()

    def on_blur(self) -> None:
        """No mark where no key goes."""
        self._marked = None
        self._strips.clear()


def _empty_rows(width: int) -> list[ShownRow]:
    text = Content.styled(EMPTY, "$secondary")
    return led([ShownRow(Content("")), *wrapped(text, width - 4)], ("  ", ""), ("  ", ""))


def _shown(log: SessionLog) -> list[SessionMessage]:
    """The messages that stand in the conversation: those that wait are shown elsewhere."""
    return [
        one for one in log.messages if one.state is not MessageState.QUEUED and (one.parts or one.role is Role.MODEL)
    ]

"""A message as rows of the screen: its parts one below the other, thoughts and tools as one line that opens. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from farhand.model.live_session import Role, SessionMessage, SessionPart
from farhand.tui.rows import BLANK, ShownRow, folded, led, on_ground, wrapped
from farhand.tui.shown_text import ending, is_short_diff, plain, thought_title, tool_body, tool_title

if TYPE_CHECKING:
    from farhand.tui.markdown_rows import MarkdownRows

MARGIN = 1


class MessageRows:
    """One message laid out for a width; what has not changed in it is not laid out again."""

    def __init__(self, message: SessionMessage, width: int, *, opened: bool) -> None:
        self.message = message
        self._width = max(1, width - 2 * MARGIN)
        self._opened = opened
        # What somebody opened or closed by itself.
        self._chosen: dict[int, bool] = {}
        self._kept: dict[int, tuple[SessionPart, list[ShownRow]]] = {}
        self._markdown: dict[int, MarkdownRows] = {}
        self.rows = self._lay_out()

    def show(self, message: SessionMessage) -> None:
        """The message as it is now."""
        self.message = message
        self.rows = self._lay_out()

    def open(self, opened: bool) -> None:
        """Opens or closes all that folds."""
        self._opened = opened
        self._chosen.clear()
        self._again()

    def turn(self, part: int) -> None:
        """Opens one part, or closes it."""
        self._chosen[part] = not self._is_open(part)
        self._again()

    @property
    def chosen(self) -> dict[int, bool]:
        """What was opened or closed by itself."""
        return self._chosen

    @chosen.setter
    def chosen(self, chosen: dict[int, bool]) -> None:
        self._chosen = dict(chosen)
        self._again()

    def _again(self) -> None:
        self._kept = {place: kept for place, kept in self._kept.items() if kept[0].kind == "text"}
        self.rows = self._lay_out()

    def _is_open(self, part: int) -> bool:
        return self._chosen.get(part, self._opened or is_short_diff(self.message.parts[part]))

    def _lay_out(self) -> list[ShownRow]:
        rows: list[ShownRow] = []
        before: SessionPart | None = None
        for place, part in enumerate(self.message.parts):
            made = self._part_rows(place, part)
            if rows and made and before is not None and (before.kind == "text") != (part.kind == "text"):
                rows.append(BLANK)
            rows += made
            before = part
        rows += [ShownRow(Content.styled(text, "$text-warning"))] if (text := ending(self.message)) else []
        return [*led(rows, (" " * MARGIN, ""), (" " * MARGIN, "")), BLANK]

    def _part_rows(self, place: int, part: SessionPart) -> list[ShownRow]:
        kept = self._kept.get(place)
        if kept is not None and kept[0] == part:
            return kept[1]
        rows = self._text_rows(place, part) if part.kind == "text" else self._fold_rows(place, part)
        self._kept[place] = (part, rows)
        return rows

    def _text_rows(self, place: int, part: SessionPart) -> list[ShownRow]:
        text = plain(part.text)
        if self.message.role is Role.MODEL:
            # It takes a while to load: not before there is something to show.
            from farhand.tui.markdown_rows import MarkdownRows

            return self._markdown.setdefault(place, MarkdownRows(self._width)).show(text)
        if self.message.role is Role.NOTICE:
            return led(wrapped(Content.styled(text.strip(), "$secondary"), self._width - 1), (" ", ""), (" ", ""))
        mark = ("▌ ", "$primary")
        rows = led(wrapped(Content(text.strip()), self._width - 3), mark, mark)
        return [on_ground(row, self._width, "on $surface") for row in rows]

    def _fold_rows(self, place: int, part: SessionPart) -> list[ShownRow]:
        is_open = self._is_open(place)
        title = tool_title(part) if part.kind == "tool" else thought_title(part.text)
        line = Content.assemble(("▾ " if is_open else "▸ ", "dim"), title).stylize_before("$secondary")
        rows = [ShownRow(line.truncate(self._width, ellipsis=True), fold=place)]
        if not is_open:
            return rows
        body = tool_body(part) if part.kind == "tool" else Content.styled(plain(part.text).strip(), "dim italic")
        mark = (" │ ", "$panel")
        cut = folded if part.kind == "tool" else wrapped
        return [*rows, *led(cut(body, self._width - 3), mark, mark)]

"""The conversation on the screen: messages that grow in place, older ones when one scrolls up to them."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Key
from textual.widgets import Markdown, Static

from farhand.model.live_session import MessageState, Role, SessionChanges, SessionLog, SessionMessage, SessionPart
from farhand.tui.shown_text import ending, plain, thought_title, tool_body, tool_title

# How many messages are on the screen at first, how many more come when one scrolls up, and the most there are.
FIRST, MORE, MOST = 24, 24, 72


class Folded(Vertical, can_focus=True):
    """One line that opens: a thought, or the call of a tool."""

    def __init__(self, part: SessionPart, *, is_open: bool) -> None:
        super().__init__(classes="folded")
        self._part = part
        self._title = Static(self._line(part, is_open), markup=False, classes="title")
        self._body = Static(_body(part), markup=False, classes="body")
        self._body.display = is_open

    def compose(self) -> ComposeResult:
        """The line, and what it hides."""
        yield self._title
        yield self._body

    @staticmethod
    def _line(part: SessionPart, is_open: bool) -> Content:
        title = tool_title(part) if part.kind == "tool" else thought_title(part.text)
        return Content.assemble(("▾ " if is_open else "▸ ", "dim"), title)

    def show_part(self, part: SessionPart) -> None:
        """The part as it is now."""
        self._part = part
        self._title.update(self._line(part, self._body.display))
        self._body.update(_body(part))

    def open(self, is_open: bool) -> None:
        """Opens or closes it."""
        self._body.display = is_open
        self._title.update(self._line(self._part, is_open))

    def on_click(self, event: Click) -> None:
        """A click opens and closes it; what is inside can be selected."""
        if event.widget is self._title:
            self.open(not self._body.display)

    def on_key(self, event: Key) -> None:
        """So do Enter and the space bar."""
        if event.key in ("enter", "space"):
            event.stop()
            self.open(not self._body.display)


def _body(part: SessionPart) -> Content:
    return tool_body(part) if part.kind == "tool" else Content.styled(plain(part.text).strip(), "dim italic")


class MessageView(Vertical):
    """One message on the screen."""

    def __init__(self, message: SessionMessage, *, is_open: bool) -> None:
        super().__init__(classes=f"message {message.role.value}")
        self.message = message
        self._is_open = is_open
        self._views: list[Static | Markdown | Folded] = []
        self._end = Static(ending(message), markup=False, classes="ending")
        self._end.display = bool(ending(message))

    def compose(self) -> ComposeResult:
        """Its parts, and how it ended."""
        for part in self.message.parts:
            yield self._add(part)
        yield self._end

    def _add(self, part: SessionPart) -> Static | Markdown | Folded:
        made: Static | Markdown | Folded
        if part.kind != "text":
            made = Folded(part, is_open=self._is_open)
        elif self.message.role is Role.MODEL:
            made = Markdown(plain(part.text), open_links=False)
        else:
            made = Static(Content(plain(part.text).strip()), markup=False)
        made.set_class(bool(self._views) and isinstance(self._views[-1], Folded) != isinstance(made, Folded), "apart")
        self._views.append(made)
        return made

    async def show_message(self, message: SessionMessage) -> None:
        """The message as it is now; what was there already is not drawn again."""
        before, self.message = self.message, message
        for view, old, new in zip(self._views, before.parts, message.parts, strict=False):
            if old != new:
                await _show_part(view, old, new)
        added = [self._add(part) for part in message.parts[len(self._views) :]]
        if added:
            await self.mount_all(added, before=self._end)
        if ending(message) != ending(before):
            self._end.update(ending(message))
            self._end.display = True

    def open(self, is_open: bool) -> None:
        """Opens or closes its thoughts and tools."""
        self._is_open = is_open
        for view in self._views:
            if isinstance(view, Folded):
                view.open(is_open)


async def _show_part(view: Static | Markdown | Folded, old: SessionPart, new: SessionPart) -> None:
    if isinstance(view, Folded):
        view.show_part(new)
    elif isinstance(view, Markdown):
        shown, text = plain(old.text), plain(new.text)
        await (view.append(text[len(shown) :]) if text.startswith(shown) else view.update(text))
    else:
        view.update(Content(plain(new.text).strip()))


class Transcript(VerticalScroll, can_focus=True):
    """The end of a conversation, and more of it on the way up. It stays at the end only while one is there."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._views: dict[int, MessageView] = {}
        self._is_open = False
        self._log: SessionLog | None = None
        self._loading = False

    async def open_log(self, log: SessionLog) -> None:
        """Shows the end of that conversation and nothing else."""
        self._log = None
        await self.remove_children()
        self._views.clear()
        self._log = log
        await self._mount_last(_shown(log)[-FIRST:])
        self.anchor()

    async def apply(self, changes: SessionChanges) -> None:
        """What is different; messages that are not on the screen come when one scrolls to them."""
        for message in changes.messages:
            view = self._views.get(message.id)
            if view is not None:
                await view.show_message(message)
        if self._log is None or all(one.id in self._views for one in changes.messages):
            return
        shown = _shown(self._log)
        last = next((place for place in range(len(shown) - 1, -1, -1) if shown[place].id in self._views), -1)
        await self._mount_last(shown[last + 1 :] if last >= 0 else shown[-FIRST:])

    async def _mount_last(self, messages: Sequence[SessionMessage]) -> None:
        made = {one.id: MessageView(one, is_open=self._is_open) for one in messages}
        self._views |= made
        await self.mount_all(made.values())
        if self.is_vertical_scroll_end and len(self._views) > MOST:
            # Nobody looks at the oldest ones now.
            gone = list(self._views)[: len(self._views) - FIRST]
            await self.remove_children([self._views.pop(one) for one in gone])

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """At the top, what was said before comes in."""
        super().watch_scroll_y(old_value, new_value)
        if new_value <= 0 < old_value and not self._loading:
            self.load_more()

    def on_resize(self) -> None:
        """The scrollbar is drawn where the conversation is after that."""
        self.call_after_refresh(self.vertical_scrollbar.refresh)

    def load_more(self) -> None:
        """Puts older messages above, and what one reads stays where it is."""
        if self._log is None or self._loading or not self._views:
            return
        shown = _shown(self._log)
        first = next((place for place, one in enumerate(shown) if one.id in self._views), 0)
        if first:
            self._loading = True
            self.run_worker(self._load(shown[max(0, first - MORE) : first]), group="older")

    async def _load(self, messages: Sequence[SessionMessage]) -> None:
        made = {one.id: MessageView(one, is_open=self._is_open) for one in messages}
        self._views = made | self._views
        first = self.children[0]
        await self.mount_all(made.values(), before=0)

        def stay() -> None:
            self.scroll_to(y=first.virtual_region.y, animate=False, force=True, immediate=True)
            self._loading = False

        self.call_after_refresh(stay)

    def open_all(self) -> None:
        """Opens every thought and tool, or closes them all."""
        self._is_open = not self._is_open
        for view in self._views.values():
            view.open(self._is_open)


def _shown(log: SessionLog) -> list[SessionMessage]:
    """The messages that stand in the conversation: those that wait are shown elsewhere."""
    return [
        one for one in log.messages if one.state is not MessageState.QUEUED and (one.parts or one.role is Role.MODEL)
    ]

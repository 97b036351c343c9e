"""The terminal app: a conversation on the whole screen, the question that waits, and where one types."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import TextSelected
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from farhand.model.errors import FarhandError
from farhand.model.live_session import SessionChanges, SessionLog
from farhand.tui.asks import AskSheet
from farhand.tui.candidates import PromptCandidates
from farhand.tui.composer import Composer
from farhand.tui.desk import Desk, EarlierSessions
from farhand.tui.look import DARK, LIGHT, STYLE
from farhand.tui.prompt import PromptInput
from farhand.tui.shown_text import plain
from farhand.tui.status_line import SPINNER, queue_lines, status_line, team_line, title_line
from farhand.tui.transcript import Transcript

if TYPE_CHECKING:
    from farhand.tui.session_picker import SessionPicker

# From this width on there is room for the team beside the conversation.
WIDE = 100
# After every change so many times as long as it took to show it.
REST = 2
# How many messages are read at once that are older than those on the screen.
OLDER = 60
# What the keys do while one chooses among earlier conversations, too; all others are the list's.
WHILE_PICKING = frozenset(("leave", "other_look"))


class TerminalApp(App[None]):
    """One person before one terminal. Everything it shows comes out of the log of the conversation."""

    CSS = STYLE
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+c", "copy_or_clear", show=False, priority=True),
        Binding("ctrl+d", "leave_when_empty", show=False, priority=True),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
        Binding("ctrl+home", "scroll_to_start", show=False, priority=True),
        Binding("ctrl+end", "scroll_to_end", show=False, priority=True),
        Binding("ctrl+o", "open_all", show=False, priority=True),
        Binding("f2", "other_look", show=False, priority=True),
        Binding("ctrl+t", "focus_team", show=False, priority=True),
        Binding("ctrl+n", "next_name(1)", show=False, priority=True),
        Binding("ctrl+p", "next_name(-1)", show=False, priority=True),
        Binding("escape", "focus_prompt", show=False),
    ]

    def __init__(
        self,
        desk: Desk,
        *,
        ready: Callable[[bool], None],
        theme: str = DARK.name,
        remote: str = "",
        problem: str = "",
        first: str = "",
    ) -> None:
        super().__init__()
        self._desk = desk
        # Told once the screen is there.
        self._tell_ready = ready
        self._remote = remote
        self._problem = problem
        # What is asked for before anything was typed.
        self._first = first
        self._picker: SessionPicker | None = None
        self._remembered: set[str] = set()
        self._reads_older = False
        self._since = 0.0
        self._spin = 0
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = theme

    def compose(self) -> ComposeResult:
        """A title, the team and the conversation, the question, what waits, the input and a line of status."""
        yield Static(markup=False, id="title")
        with Horizontal(id="middle"):
            yield OptionList(id="team", markup=False, compact=True)
            yield Transcript()
        yield AskSheet()
        yield Static(markup=False, id="queue")
        candidates = PromptCandidates()
        yield candidates
        yield Composer(candidates, self._desk.completions)
        yield Static(markup=False, id="status")

    def on_mount(self) -> None:
        """From now on the screen shows what happens, and takes what is typed."""
        self.prompt.focus()
        self._follow()
        self._follow_names()
        self._wait_for_leave()
        self.set_interval(0.25, self._tick)
        # Once it is drawn.
        self.call_after_refresh(self._tell_ready, True)
        if self._problem:
            self.notify(self._problem, severity="warning", timeout=15, markup=False)
        if self._first:
            self._submit(self._first)

    @property
    def prompt(self) -> PromptInput:
        """Where the person types."""
        return self.query_one(PromptInput)

    @property
    def _is_whole(self) -> bool:
        """False while the screen is being taken down."""
        return bool(self.screen_stack) and all(self.screen.query(name) for name in (Transcript, "#queue", "#status"))

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.query_one(Transcript)

    @property
    def sheet(self) -> AskSheet:
        """The question that waits."""
        return self.query_one(AskSheet)

    @work(exclusive=True, group="follow")
    async def _follow(self) -> None:
        """Shows the conversation from its end on, and everything that changes in it."""
        log = self._desk.session.log
        after = log.number
        self._remember(log)
        self.transcript.open_log(log)
        self._show_rest(log.changes(0))
        while True:
            await log.wait(after)
            if not self._is_whole:
                return
            changes, began = log.changes(after), time.thread_time()
            self.transcript.apply(changes)
            self._show_rest(changes)
            after = changes.number
            # Whoever types is heard between two changes, however many there are.
            await asyncio.sleep(REST * (time.thread_time() - began))

    @on(Transcript.StartReached)
    @work(group="older")
    async def _read_older(self) -> None:
        """What is older than all that was read so far comes in above."""
        if self._reads_older:
            return
        self._reads_older, session = True, self._desk.session
        try:
            if await session.read_older(OLDER) and session is self._desk.session and self._is_whole:
                self.transcript.load_older()
        except FarhandError as error:
            self.notify(plain(error.text), severity="warning", markup=False)
        finally:
            self._reads_older = False

    def _remember(self, log: SessionLog) -> None:
        """What was said in it can be had again with the arrow up."""
        if log.id not in self._remembered:
            self._remembered.add(log.id)
            for message in log.messages:
                if message.role == "user":
                    self.prompt.remember(message.text)

    def _show_rest(self, changes: SessionChanges) -> None:
        """All but the messages: the question, the queue, the lines above and below."""
        log = self._desk.session.log
        if changes.asks is not None:
            self._show_asks()
        queue, waiting = self.query_one("#queue", Static), queue_lines(log.messages)
        queue.update(waiting)
        queue.display = bool(waiting)
        if log.status.running and not self._since:
            self._since = time.monotonic()
        elif not log.status.running:
            self._since = 0.0
        self._show_lines()

    def _show_asks(self) -> None:
        log = self._desk.session.log
        is_new = self.sheet.show_asks(log.asks)
        # A question that cannot be seen takes no key.
        if self._picker is None and (is_new or not log.asks):
            self._take_focus()
        if is_new:
            self.bell()

    def _take_focus(self) -> None:
        """The keyboard is for the question that waits, or for what is typed: always for that where something is."""
        if self._desk.session.log.asks and not self.prompt.text.strip():
            self.sheet.take_focus()
        elif not self._desk.session.log.asks and not self.prompt.has_focus:
            self.prompt.focus()

    def _show_lines(self) -> None:
        if not self._is_whole:
            return
        status = self._desk.session.log.status
        seconds = time.monotonic() - self._since if self._since else 0.0
        self.query_one("#title", Static).update(title_line(self._desk.title, status))
        line = status_line(status, len(self._desk.session.log.asks), seconds, self._spin, self._remote)
        self.query_one("#status", Static).update(line)

    def _tick(self) -> None:
        if self._since:
            self._spin = (self._spin + 1) % len(SPINNER)
            self._show_lines()

    @work(group="names")
    async def _follow_names(self) -> None:
        """Keeps the list of the team, and shows another conversation when one is chosen."""
        shown = self._desk.session.log.id
        while self._is_whole:
            self._show_names()
            if self._desk.session.log.id != shown:
                shown = self._desk.session.log.id
                self._follow()
            await self._desk.names_changed()

    def _show_names(self) -> None:
        team, names = self.query_one("#team", OptionList), self._desk.names
        team.set_class(bool(names) and self.size.width >= WIDE, "shown")
        kept = team.highlighted
        team.clear_options()
        team.add_options([Option(team_line(one, current=one.name == self._desk.title), id=one.name) for one in names])
        team.highlighted = kept if kept is not None and kept < len(names) else None

    @work(group="leave")
    async def _wait_for_leave(self) -> None:
        await self._desk.leaving.wait()
        self.exit()

    def on_resize(self) -> None:
        """The team is beside the conversation where there is room."""
        self.query_one("#team").set_class(bool(self._desk.names) and self.size.width >= WIDE, "shown")

    @on(PromptInput.Sent)
    def _send(self, event: PromptInput.Sent) -> None:
        self._submit(event.text)

    @work(group="submit")
    async def _submit(self, text: str) -> None:
        try:
            if (earlier := await self._desk.earlier(text)) is not None:
                self._pick(earlier)
                return
            await self._desk.submit(text)
        except FarhandError as error:
            self.notify(plain(error.text), severity="error", markup=False)
            if not self.prompt.text and text != self._first:
                # What could not be said is not lost.
                self.prompt.set_text(text)
        else:
            self.transcript.show_end()

    def _pick(self, earlier: EarlierSessions) -> None:
        """Lets the person choose among earlier conversations."""
        # Loaded by those alone who look for one.
        from farhand.tui.session_picker import SessionPicker

        if not earlier.sessions:
            self.notify("There is no earlier conversation here.", timeout=5)
        elif self._picker is None:
            self._picker = SessionPicker(earlier)
            self.screen.mount(self._picker)

    def on_session_picker_closed(self) -> None:
        """Back to the conversation, and to the question that came meanwhile."""
        if self._picker is not None:
            self._picker.remove()
            self._picker = None
            self.prompt.focus()
            self._take_focus()

    def on_session_picker_picked(self, event: SessionPicker.Picked) -> None:
        """Goes on with that one."""
        self.on_session_picker_closed()
        self._resume(event.session)

    @work(group="submit")
    async def _resume(self, session: str) -> None:
        try:
            typed = await self._desk.resume(session)
        except FarhandError as error:
            self.notify(plain(error.text), severity="error", markup=False)
        else:
            if typed and not self.prompt.text:
                self.prompt.set_text(typed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While one chooses among earlier conversations, nearly all keys are for that."""
        del parameters
        return self._picker is None or action in WHILE_PICKING

    @on(AskSheet.Chosen)
    @work(group="submit")
    async def _answer(self, event: AskSheet.Chosen) -> None:
        try:
            await self._desk.session.answer(event.ask, event.choice)
        except FarhandError as error:
            self.notify(plain(error.text), severity="warning", markup=False)

    @on(OptionList.OptionSelected, "#team")
    def _chose_name(self, event: OptionList.OptionSelected) -> None:
        if event.option.id:
            self._select(event.option.id)

    @work(group="select")
    async def _select(self, name: str) -> None:
        await self._desk.select(name)
        self.prompt.focus()

    @on(Composer.Escaped)
    @work(group="stop")
    async def _stop(self) -> None:
        """Escape is `/pause`: what waits is taken back, too, and named."""
        if self._desk.session.log.status.running:
            await self._desk.submit("/pause")

    @on(TextSelected)
    def _selected(self) -> None:
        """What is marked with the mouse is copied at once, over the terminal (OSC 52)."""
        if text := self.screen.get_selected_text():
            self.copy_to_clipboard(text)
            self.notify("Copied.", timeout=2)

    def action_leave(self) -> None:
        """Leaves the app; the conversation is printed."""
        self.exit()

    def action_leave_when_empty(self) -> None:
        """Ctrl+D leaves when nothing is typed, and deletes when something is."""
        if self.prompt.text:
            self.prompt.action_delete_right()
        else:
            self.exit()

    def action_copy_or_clear(self) -> None:
        """Ctrl+C copies what is marked, empties the input, or stops the turn; it never leaves by itself."""
        if text := self.screen.get_selected_text():
            self.copy_to_clipboard(text)
        elif self.prompt.text:
            self.prompt.remember(self.prompt.text)
            self.prompt.clear()
        elif self._desk.session.log.status.running:
            self._stop()
        else:
            self.notify("Ctrl+D or /quit leaves.", timeout=3)

    def action_scroll(self, pages: int) -> None:
        """A page up or down, wherever the keyboard is."""
        if pages < 0 and self.transcript.scroll_y <= 0:
            self.transcript.load_older()
        elif pages < 0:
            self.transcript.scroll_page_up(animate=False)
        elif self.transcript.is_vertical_scroll_end:
            self.transcript.load_newer()
        else:
            self.transcript.scroll_page_down(animate=False)

    def action_scroll_to_start(self) -> None:
        """To the oldest message that is on the screen; older ones come then."""
        self.transcript.scroll_home(animate=False)

    def action_scroll_to_end(self) -> None:
        """To the end, and it stays there."""
        self.transcript.show_end()

    def action_open_all(self) -> None:
        """Opens every thought and tool, or closes them."""
        self.transcript.open_all()

    def action_other_look(self) -> None:
        """From dark to light and back."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_focus_team(self) -> None:
        """To the team, which is shown on a narrow screen, too."""
        team = self.query_one("#team")
        if self._desk.names:
            team.add_class("shown")
            team.focus()

    def action_next_name(self, step: int) -> None:
        """To the next conversation of the team."""
        names = [one.name for one in self._desk.names]
        if self._desk.title in names:
            self._select(names[(names.index(self._desk.title) + step) % len(names)])

    def action_focus_prompt(self) -> None:
        """Back to where one types."""
        self.prompt.focus()

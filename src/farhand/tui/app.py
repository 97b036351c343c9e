"""The terminal app: a conversation on the whole screen, the question that waits, and where one types."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import TextSelected
from textual.screen import Screen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from farhand.model.errors import FarhandError
from farhand.model.live_session import MessageState, SessionChanges
from farhand.tui.asks import AskSheet
from farhand.tui.candidates import PromptCandidates
from farhand.tui.desk import Desk
from farhand.tui.look import DARK, LIGHT, STYLE
from farhand.tui.prompt import PromptInput
from farhand.tui.shown_text import plain
from farhand.tui.status_line import SPINNER, status_line, team_line, title_line
from farhand.tui.transcript import Transcript

# From this width on there is room for the team beside the conversation.
WIDE = 100
QUEUE_SHOWN = 3
PLACEHOLDER = "Type a message, / for commands, @ for files"


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
    ) -> None:
        super().__init__()
        self._desk = desk
        # Told once the screen is there.
        self._tell_ready = ready
        self._remote = remote
        self._problem = problem
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
        yield PromptCandidates()
        with Horizontal(id="line"):
            yield Static("› ", markup=False, id="mark")
            yield PromptInput(PLACEHOLDER)
        yield Static(markup=False, id="status")

    def on_mount(self) -> None:
        """From now on the screen shows what happens, and takes what is typed."""
        self._tell_ready(True)
        self.prompt.focus()
        for message in self._desk.session.log.messages:
            if message.role == "user":
                self.prompt.remember(message.text)
        self._follow()
        self._follow_names()
        self._wait_for_leave()
        self.set_interval(0.25, self._tick)
        if self._problem:
            self.notify(self._problem, severity="warning", timeout=15, markup=False)

    @property
    def prompt(self) -> PromptInput:
        """Where the person types."""
        return self.query_one(PromptInput)

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
        await self.transcript.open_log(log)
        self._show_rest(log.changes(0))
        while True:
            await log.wait(after)
            changes = log.changes(after)
            await self.transcript.apply(changes)
            self._show_rest(changes)
            after = changes.number

    def _show_rest(self, changes: SessionChanges) -> None:
        """All but the messages: the question, the queue, the lines above and below."""
        log = self._desk.session.log
        if changes.asks is not None:
            self._show_asks()
        waiting = [one for one in log.messages if one.state is MessageState.QUEUED]
        shown = [f"{place}. {' '.join(plain(one.text).split())}" for place, one in enumerate(waiting[:QUEUE_SHOWN], 1)]
        more = [f"and {len(waiting) - QUEUE_SHOWN} more"] if len(waiting) > QUEUE_SHOWN else []
        queue = self.query_one("#queue", Static)
        queue.update(Content("\n".join(f"⋯ {line}" for line in [*shown, *more])))
        queue.display = bool(waiting)
        if log.status.running and not self._since:
            self._since = time.monotonic()
        elif not log.status.running:
            self._since = 0.0
        self._show_lines()

    def _show_asks(self) -> None:
        log = self._desk.session.log
        is_new = self.sheet.show_asks(log.asks)
        if is_new and not self.prompt.text.strip():
            self.sheet.take_focus()
        elif not log.asks and not self.prompt.has_focus:
            self.prompt.focus()
        if is_new:
            self.bell()

    def _show_lines(self) -> None:
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
        while True:
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
        self.query_one(PromptCandidates).hide()
        self._submit(event.text)

    @work(group="submit")
    async def _submit(self, text: str) -> None:
        try:
            await self._desk.submit(text)
        except FarhandError as error:
            self.notify(plain(error.text), severity="error", markup=False)
            if not self.prompt.text:
                # What could not be said is not lost.
                self.prompt.set_text(text)
        else:
            self.transcript.anchor()

    @on(AskSheet.Chosen)
    @work(group="submit")
    async def _answer(self, event: AskSheet.Chosen) -> None:
        try:
            await self._desk.session.answer(event.ask, event.choice)
        except FarhandError as error:
            self.notify(plain(error.text), severity="warning", markup=False)

    @on(TextArea.Changed, "#prompt")
    def _typed(self) -> None:
        word, first = self.prompt.word()
        typed = word[:1] in ("/", "@") and self.prompt.text != self.prompt.put
        offered = self._desk.completions(word, first=first) if typed else []
        self.query_one(PromptCandidates).offer(offered)
        self.prompt.completing = bool(offered)

    @on(PromptInput.Asked)
    def _asked(self, event: PromptInput.Asked) -> None:
        candidates = self.query_one(PromptCandidates)
        if event.key == "ctrl+r":
            candidates.offer_said(self.prompt.said, self.prompt.text)
            self.prompt.completing = candidates.is_open
        elif event.key in ("up", "down"):
            candidates.move(-1 if event.key == "up" else 1)
        elif event.key == "tab":
            self._complete()
        elif candidates.is_open:
            candidates.hide()
            self.prompt.completing = False
        else:
            self._stop()

    def _complete(self) -> None:
        candidates = self.query_one(PromptCandidates)
        if not candidates.is_open:
            self.screen.focus_next()
        elif candidates.is_search:
            self.prompt.set_text(candidates.chosen)
        else:
            self.prompt.complete(candidates.chosen)
        candidates.hide()
        self.prompt.completing = False

    @on(OptionList.OptionSelected, "#team")
    def _chose_name(self, event: OptionList.OptionSelected) -> None:
        if event.option.id:
            self._select(event.option.id)

    @work(group="select")
    async def _select(self, name: str) -> None:
        await self._desk.select(name)
        self.prompt.focus()

    @work(group="stop")
    async def _stop(self) -> None:
        if await self._desk.session.interrupt():
            self.notify("The turn is stopped.", timeout=3)

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
            self.transcript.load_more()
        elif pages < 0:
            self.transcript.release_anchor()
            self.transcript.scroll_page_up(animate=False)
        else:
            self.transcript.scroll_page_down(animate=False)

    def action_scroll_to_start(self) -> None:
        """To the oldest message that is on the screen; older ones come then."""
        self.transcript.release_anchor()
        self.transcript.scroll_home(animate=False)

    def action_scroll_to_end(self) -> None:
        """To the end, and it stays there."""
        self.transcript.anchor()

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

    def get_system_commands(self, screen: Screen[None]) -> Iterable[SystemCommand]:
        """None: commands are typed."""
        del screen
        return ()

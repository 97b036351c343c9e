"""The question that waits, on a sheet above the input: the whole of what would be done, and what may be answered."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from farhand.model.ask_text import circumstances, whole
from farhand.model.present import Ask
from farhand.model.words import Choice
from farhand.tui.shown_text import plain, whole_text


def _headline(ask: Ask) -> str:
    """The question, without the command where that stands below it as a whole."""
    verb, _, rest = plain(ask.question).partition(": ")
    told = " ".join(rest.replace("⏎", " ").split())
    return f"{verb}:" if told and told == " ".join(plain(whole(ask)).split()) else plain(ask.question)


def _choice_line(place: int, choice: Choice) -> Content:
    return Content.assemble((f" {place}. ", "bold $primary"), plain(choice.label))


class AskSheet(Vertical):
    """Shows one question at a time. Nothing is chosen beforehand, so that no stray Enter allows anything."""

    class Chosen(Message):
        """The person made that choice."""

        def __init__(self, ask: str, choice: str) -> None:
            super().__init__()
            self.ask, self.choice = ask, choice

    def __init__(self) -> None:
        super().__init__(id="ask")
        self._ask: Ask | None = None
        self._question = Static(markup=False, id="ask-question")
        self._detail = Static(markup=False, id="ask-detail")
        self._scroll = VerticalScroll(self._detail, id="ask-whole")
        self._about = Static(markup=False, id="ask-about")
        self._choices = OptionList(id="ask-choices", markup=False, compact=True)
        self._hint = Static(markup=False, id="ask-hint")

    def compose(self) -> ComposeResult:
        """The question, the whole of it, its circumstances and its choices."""
        yield from (self._question, self._scroll, self._about, self._choices, self._hint)

    @property
    def ask(self) -> Ask | None:
        """The question that is shown."""
        return self._ask

    def show_asks(self, asks: tuple[Ask, ...]) -> bool:
        """Shows the first of them. Returns whether another one is shown than before."""
        first = asks[0] if asks else None
        more = f"   (1 of {len(asks)})" if len(asks) > 1 else ""
        self.display = first is not None
        if first is not None:
            # Where the whole stands below it, the question is one line.
            self._question.set_class(bool(whole(first).strip()), "short")
            self._question.update(Content.assemble(_headline(first), (more, "dim")))
        if first is None or (self._ask is not None and self._ask.id == first.id):
            self._ask = first
            return False
        self._ask = first
        self._fill(first)
        return True

    def _fill(self, ask: Ask) -> None:
        detail = plain(whole(ask))
        self._detail.update(whole_text(detail))
        self._scroll.display = bool(detail.strip())
        self._scroll.scroll_home(animate=False)
        told = [plain(line) for line in circumstances(ask)]
        told += [f"{choice.label}: {plain(choice.scope)}" for choice in ask.choices if choice.scope]
        self._about.update(Content("\n".join(told)))
        self._about.display = bool(told)
        options = [Option(_choice_line(place, one), id=f"c{place}") for place, one in enumerate(ask.choices, 1)]
        self._choices.clear_options()
        self._choices.add_options(options)
        self._choices.highlighted = None
        self._choices.display = bool(options)
        words = "type your answer below" if not options else "a number, or ↑↓ and Enter · no, and why: type it below"
        self._hint.update(Content.styled(words, "dim"))

    def take_focus(self) -> None:
        """Lets the keyboard choose."""
        if self._choices.display:
            self._choices.focus()

    def on_key(self, event: Key) -> None:
        """A number makes its choice."""
        if self._ask is not None and event.key.isdigit() and 1 <= int(event.key) <= len(self._ask.choices):
            event.stop()
            self._choose(int(event.key) - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """So does Enter, or a click."""
        event.stop()
        self._choose(event.option_index)

    def _choose(self, place: int) -> None:
        if self._ask is not None:
            self.post_message(self.Chosen(self._ask.id, self._ask.choices[place].id))

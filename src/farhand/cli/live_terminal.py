"""A real terminal: the typed line stays at the bottom, what happens is printed above it, block by block."""

import codecs
import os
import termios
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

import anyio

from farhand.cli import line_editor as editing
from farhand.cli.line_editor import LineEditor
from farhand.cli.terminal_markdown import finished, markdown_rows
from farhand.cli.typed_lines import KeepsLines, NoLines

_STYLES = {"dim": "2", "bold": "1", "red": "31", "yellow": "33", "green": "32", "cyan": "36"}
# Names are told apart by these; red and yellow mean something else here.
_NAME_COLOURS = ("1;36", "1;35", "1;34", "1;32", "1;96", "1;95")
_LEAVES = "\x03"
_ENDS = "\x04"
# So many rows of a block that is still being said are shown.
LIVE_ROWS = 6
# So many words are named that Tab could complete one to.
MOST_OFFERED = 30
INDENT = "  "


def no_candidates(_: str) -> Sequence[str]:
    """Nothing to complete a word to."""
    return ()


def styled(text: str, style: str, *, colours: bool) -> str:
    """The text with the codes of its style."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and colours and text else text


def name_colour(name: str) -> str:
    """The colour of a worker's name, the same for ever."""
    return _NAME_COLOURS[zlib.crc32(name.encode()) % len(_NAME_COLOURS)]


@dataclass
class Speech:
    """What somebody is saying: the block that is not finished, and its style."""

    text: str = ""
    style: str = ""


class HasDescriptor(Protocol):
    """A side of a terminal."""

    def fileno(self) -> int:
        """Its descriptor."""
        ...


class LiveTerminal:
    """Keeps the typed line at the bottom; what happens is printed above it, and never into it."""

    def __init__(
        self,
        reading: HasDescriptor,
        writing: HasDescriptor,
        *,
        colours: bool = True,
        lines: KeepsLines | None = None,
    ) -> None:
        self._keyboard = reading.fileno()
        self._screen = writing.fileno()
        self._colours = colours
        self._lines = lines or NoLines()
        self._editor = LineEditor(before=self._lines.read())
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""
        self._keys: list[str] = []
        self._speeches: dict[str, Speech] = {}
        self._last_speaker = ""
        # The rows below what is settled, as they were drawn last: the ends of speeches, then the typed line.
        self._drawn_rows: list[str] = []
        self._prompt = "> "
        # What Tab may complete the word that is typed to.
        self.candidates: Callable[[str], Sequence[str]] = no_candidates

    @property
    def prompt(self) -> str:
        """What stands before the typed line."""
        return self._prompt

    @prompt.setter
    def prompt(self, prompt: str) -> None:
        """Another one is shown at once, whatever else happens."""
        changed, self._prompt = prompt != self._prompt, prompt
        if changed and self._drawn_rows:
            self._draw()

    @contextmanager
    def open(self) -> Iterator["LiveTerminal"]:
        """Takes the keyboard key by key, and gives it back as it was."""
        before = termios.tcgetattr(self._keyboard)
        raw = termios.tcgetattr(self._keyboard)
        raw[0] &= ~termios.ICRNL
        # Ctrl-C comes as a key: it ends the conversation, and whoever started it (make) need not be cut off too.
        raw[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
        with suppress(termios.error):
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, raw)
        self._write("\x1b[?2004h")
        try:
            yield self
        finally:
            self._erase_input()
            self._write("\x1b[?2004l")
            with suppress(termios.error):
                termios.tcsetattr(self._keyboard, termios.TCSADRAIN, before)

    async def line(self) -> str | None:
        """The next line that is typed; None for Ctrl-D or Ctrl-C on an empty line, and when the terminal is gone."""
        while True:
            while self._keys:
                key = self._keys.pop(0)
                if key in (_LEAVES, _ENDS) and not self._editor.text and not self._editor.pasting:
                    return None
                if key in ("\r", "\n") and not self._editor.pasting:
                    return self._enter()
                if key == "\t" and not self._editor.pasting:
                    self._complete()
                    continue
                self._editor = (
                    LineEditor(before=self._editor.before) if key == _LEAVES else editing.press(self._editor, key)
                )
            self._draw()
            if not await self._read_keys():
                return None

    def _complete(self) -> None:
        candidates = self.candidates(editing.word_before(self._editor))
        if found := editing.offered(self._editor, candidates):
            more = f"  and {len(found) - MOST_OFFERED} more" if len(found) > MOST_OFFERED else ""
            self.tell("  ".join(found[:MOST_OFFERED]) + more, "dim")
        self._editor = editing.completed(self._editor, candidates)

    def _enter(self) -> str:
        text = self._editor.text
        self._editor = editing.entered(self._editor)
        self._lines.keep(self._editor.before)
        if text.strip():
            self.tell(f"you: {text}", "cyan")
        else:
            self._draw()
        return text

    async def _read_keys(self) -> bool:
        await anyio.wait_readable(self._keyboard)
        try:
            data = os.read(self._keyboard, 4096)
        except OSError:
            # The terminal was closed.
            return False
        found, self._pending = editing.keys(self._pending + self._decode(data))
        self._keys += found
        return bool(data)

    # --- what is printed

    def tell(self, text: str, style: str = "") -> None:
        """Prints whole lines above what is being said and typed."""
        settled = [styled(row, style, colours=self._colours) for line in text.split("\n") for row in self._rows(line)]
        self._last_speaker = ""
        self._draw(settled)

    def stream(self, who: str, text: str, style: str = "") -> None:
        """Adds a piece to what somebody is saying; blocks that are whole are printed for good."""
        speech = self._speeches.setdefault(who, Speech())
        settled = self._settled(who, speech.text, speech.style) if speech.style != style else []
        before = "" if speech.style != style else speech.text
        done, speech.text = finished((before + text) if before else text.lstrip("\n"))
        speech.style = style
        self._draw(settled + self._settled(who, done, style))

    def finish(self, who: str) -> None:
        """Prints the last block of what somebody said."""
        speech = self._speeches.pop(who, None)
        if speech and speech.text.strip():
            self._draw(self._settled(who, speech.text, speech.style))
        if who == self._last_speaker:
            self._last_speaker = ""

    def _settled(self, who: str, text: str, style: str) -> list[str]:
        """The rows of whole blocks, under the name of their speaker where another one spoke before."""
        rows = self._block(text, style)
        if not rows:
            return []
        begins = [""] if who == self._last_speaker else [self._name(who)]
        self._last_speaker = who
        return [*begins, *rows]

    def _block(self, text: str, style: str) -> list[str]:
        if not text.strip():
            return []
        room = self._columns() - len(INDENT) - 1
        if style:
            plain = (row for line in text.strip("\n").split("\n") for row in self._rows(line))
            return [f"{INDENT}{styled(row, style, colours=self._colours)}" if row else "" for row in plain]
        rows = markdown_rows(text, room, colours=self._colours)
        return [f"{INDENT}{row}" if row else "" for row in rows]

    def _name(self, who: str) -> str:
        return f"\x1b[{name_colour(who)}m{who}:\x1b[0m" if self._colours else f"{who}:"

    def _columns(self) -> int:
        with suppress(OSError):
            # A terminal that does not know its size says 0.
            return max(20, os.get_terminal_size(self._screen).columns or 80)
        return 80

    def _rows(self, line: str) -> list[str]:
        # Two columns for the indent of a speech, one that stays free.
        return editing.rows(editing.on_one_row(line), self._columns() - 3)

    def _draw(self, settled: list[str] | None = None) -> None:
        columns = self._columns()
        live = [row for who, speech in self._speeches.items() for row in self._live(who, speech)]
        prompt = self._prompt if editing.width(self._prompt) < columns // 2 else "> "
        typed, column = editing.window(self._editor.text, self._editor.place, columns - editing.width(prompt) - 1)
        out = [*self._above(columns), *(row + "\n" for row in settled or ()), *(row + "\n" for row in live)]
        out += [styled(prompt, "bold", colours=self._colours), typed, "\r"]
        if place := editing.width(prompt) + column:
            out.append(f"\x1b[{place}C")
        self._drawn_rows = [*map(editing.without_codes, live), prompt + typed]
        self._write("".join(out))

    def _live(self, who: str, speech: Speech) -> list[str]:
        """The end of what somebody is saying."""
        rows = self._block(speech.text, speech.style)[-LIVE_ROWS:]
        begins = "" if who == self._last_speaker else self._name(who)
        return [begins, *rows] if rows else []

    def _above(self, columns: int) -> list[str]:
        """What takes the cursor back to the first row of what was drawn, and erases from there."""
        if not self._drawn_rows:
            return []
        # A terminal made narrower has wrapped the rows that it shows.
        count = sum(max(1, -(-editing.width(row) // columns)) for row in self._drawn_rows)
        return ["\r", f"\x1b[{count - 1}A" if count > 1 else "", "\x1b[J"]

    def _erase_input(self) -> None:
        self._write("\r\x1b[K")
        self._drawn_rows = []

    def _write(self, text: str) -> None:
        # A terminal that was closed shows nothing; the conversation hears of it by its keyboard.
        data = text.encode(errors="replace")
        with suppress(OSError):
            while data:
                data = data[os.write(self._screen, data) :]

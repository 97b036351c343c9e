"""Where a conversation is shown and typed: a real terminal, whose typed line stays apart, or plain pipes."""

import codecs
import os
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TextIO

import anyio

from farhand.cli import line_editor as editing
from farhand.cli.line_editor import LineEditor

_STYLES = {"dim": "2", "bold": "1", "red": "31", "yellow": "33", "green": "32", "cyan": "36"}
_LEAVES = "\x03"
_ENDS = "\x04"


class ConversationTerminal(Protocol):
    """What a conversation needs of the place where it is held."""

    prompt: str
    candidates: Callable[[str], Sequence[str]]

    async def line(self) -> str | None:
        """The next line that is typed; None when the person leaves."""
        ...

    def tell(self, text: str, style: str = "") -> None:
        """Shows whole lines."""
        ...

    def stream(self, who: str, text: str, style: str = "") -> None:
        """Shows a piece of what somebody is saying."""
        ...

    def finish(self, who: str) -> None:
        """Ends the line that somebody has begun."""
        ...


def no_candidates(_: str) -> Sequence[str]:
    """Nothing to complete a word to."""
    return ()


def styled(text: str, style: str, *, colours: bool) -> str:
    """The text with the codes of its style."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and colours and text else text


class PlainTerminal:
    """Lines in, lines out: for pipes, and for tests."""

    prompt = ""

    def __init__(self, reading: TextIO, writing: TextIO) -> None:
        self.candidates: Callable[[str], Sequence[str]] = no_candidates
        self._reading = reading.fileno()
        self._writing = writing
        self._buffer = b""
        self._speaker = ""

    async def line(self) -> str | None:
        """The next line of the input; a last one needs no newline."""
        while b"\n" not in self._buffer:
            # A regular file is always ready, and cannot be waited for.
            with suppress(PermissionError):
                await anyio.wait_readable(self._reading)
            data = os.read(self._reading, 65536)
            if not data:
                last, self._buffer = self._buffer, b""
                return last.decode(errors="replace") if last else None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def tell(self, text: str, style: str = "") -> None:  # noqa: ARG002
        """Prints whole lines."""
        self.finish(self._speaker)
        self._write(text + "\n")

    def stream(self, who: str, text: str, style: str = "") -> None:  # noqa: ARG002
        """Prints a piece; another speaker begins a new line."""
        if who != self._speaker:
            self.finish(self._speaker)
            self._write(f"{who}: ")
            self._speaker = who
        self._write(text)

    def finish(self, who: str) -> None:
        """Ends the running line, if it is of that speaker."""
        if who and who == self._speaker:
            self._write("\n")
            self._speaker = ""

    def _write(self, text: str) -> None:
        self._writing.write(text)
        self._writing.flush()


class StreamedLine:
    """The unfinished row of what one speaker streams, and its style."""

    def __init__(self) -> None:
        self.row = ""
        self.style = ""
        self.named = False


class LiveTerminal:
    """Keeps the typed line at the bottom; what happens is printed above it, row by row, and never into it."""

    def __init__(self, reading: TextIO, writing: TextIO, *, colours: bool = True) -> None:
        self._keyboard = reading.fileno()
        self._screen = writing.fileno()
        self._colours = colours
        self._editor = LineEditor()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""
        self._keys: list[str] = []
        self._streams: dict[str, StreamedLine] = {}
        self._last_speaker = ""
        # The rows below what is settled, as they were drawn last: the ends of speeches, then the typed line.
        self._drawn_rows: list[str] = []
        self.prompt = "> "
        # What Tab may complete the word that is typed to.
        self.candidates: Callable[[str], Sequence[str]] = no_candidates

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
                    word = self._editor.text[: self._editor.place].split(" ")[-1]
                    self._editor = editing.completed(self._editor, self.candidates(word))
                    continue
                self._editor = (
                    LineEditor(before=self._editor.before) if key == _LEAVES else editing.press(self._editor, key)
                )
            self._draw()
            if not await self._read_keys():
                return None

    def _enter(self) -> str:
        text = self._editor.text
        self._editor = editing.entered(self._editor)
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

    def tell(self, text: str, style: str = "") -> None:
        """Prints whole lines above what is being said and typed."""
        settled = [styled(row, style, colours=self._colours) for line in text.split("\n") for row in self._rows(line)]
        self._last_speaker = ""
        self._draw(settled)

    def stream(self, who: str, text: str, style: str = "") -> None:
        """Adds a piece to what somebody is saying; rows that are full are printed for good."""
        stream_line = self._streams.setdefault(who, StreamedLine())
        settled = self._settled(who, stream_line) if stream_line.row and stream_line.style != style else []
        stream_line.style = style
        *lines, rest = (stream_line.row + text).split("\n")
        for line in lines:
            stream_line.row = line
            settled += self._settled(who, stream_line)
        *full, stream_line.row = self._rows(rest)
        for row in full:
            settled += self._named(who, row, style)
        self._draw(settled)

    def finish(self, who: str) -> None:
        """Prints the last row of what somebody said."""
        stream_line = self._streams.pop(who, None)
        if stream_line and stream_line.row:
            self._draw(self._settled(who, stream_line))
        if who == self._last_speaker:
            self._last_speaker = ""

    def _settled(self, who: str, stream_line: StreamedLine) -> list[str]:
        line, stream_line.row = stream_line.row, ""
        return [row for part in self._rows(line) for row in self._named(who, part, stream_line.style)]

    def _named(self, who: str, row: str, style: str) -> list[str]:
        """The row, under the name of its speaker where another one spoke before."""
        name = [] if who == self._last_speaker else [styled(f"{who}:", "bold", colours=self._colours)]
        self._last_speaker = who
        return [*name, "  " + styled(row, style, colours=self._colours) if row else ""]

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
        live = [
            row for who, stream_line in self._streams.items() if stream_line.row for row in self._live(who, stream_line)
        ]
        prompt = self.prompt if editing.width(self.prompt) < columns // 2 else "> "
        typed, column = editing.window(self._editor.text, self._editor.place, columns - editing.width(prompt) - 1)
        out = [*self._above(columns), *(row + "\n" for row in settled or ()), *(row + "\n" for row, _ in live)]
        out += [styled(prompt, "bold", colours=self._colours), typed, "\r"]
        if place := editing.width(prompt) + column:
            out.append(f"\x1b[{place}C")
        self._drawn_rows = [*(plain for _, plain in live), prompt + typed]
        self._write("".join(out))

    def _live(self, who: str, stream_line: StreamedLine) -> list[tuple[str, str]]:
        row = f"  {stream_line.row}"
        name = [] if who == self._last_speaker else [(styled(f"{who}:", "bold", colours=self._colours), f"{who}:")]
        return [*name, (styled(row, stream_line.style, colours=self._colours), row)]

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


@contextmanager
def open_terminal(colours: bool) -> Iterator[ConversationTerminal]:
    """The terminal of this process: live where it is one, plain lines otherwise."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield PlainTerminal(sys.stdin, sys.stdout)
        return
    with LiveTerminal(sys.stdin, sys.stdout, colours=colours).open() as terminal:
        yield terminal

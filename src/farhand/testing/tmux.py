"""A real terminal for tests and pictures: a shell in a tmux of its own, typed into and read as a person would."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SAFETY_SECONDS = 240.0


class Screen:
    """One terminal."""

    def __init__(self, socket: Path) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", os.devnull]

    def _call(self, *arguments: str) -> str:
        order = [*self._tmux, *arguments]
        return subprocess.run(order, check=True, capture_output=True, text=True, timeout=SAFETY_SECONDS).stdout

    def open(self, shell: str, columns: int, rows: int, directory: Path, environment: Mapping[str, str]) -> None:
        """Starts the shell in it, with these variables and no others."""
        variables = [f"{name}={value}" for name, value in environment.items()]
        inside = ["env", "-i", *variables, *shell.split()]
        self._call(
            "new-session", "-d", "-s", "desk", "-x", str(columns), "-y", str(rows), "-c", str(directory), *inside
        )
        self._call("set-option", "-g", "status", "off")
        self._call("set-option", "-s", "set-clipboard", "on")

    def type(self, text: str) -> None:
        """Types the text and Enter."""
        self._call("send-keys", "-t", "desk", "-l", text)
        self._call("send-keys", "-t", "desk", "Enter")

    def press(self, *keys: str) -> None:
        """Presses keys by their names in tmux, or types letters without Enter."""
        self._call("send-keys", "-t", "desk", *keys)

    def send(self, data: bytes) -> None:
        """Sends bytes as a terminal would: a click, a paste."""
        self._call("send-keys", "-t", "desk", "-H", *(f"{byte:02x}" for byte in data))

    def copied(self) -> str:
        """What a program has put into the clipboard (OSC 52)."""
        return self._call("show-buffer") if self._call("list-buffers") else ""

    def resize(self, columns: int, rows: int) -> None:
        """Makes the terminal larger or smaller, as a person drags its corner."""
        self._call("resize-window", "-t", "desk", "-x", str(columns), "-y", str(rows))

    def is_taken(self) -> bool:
        """Whether a program has the whole screen, or the mouse."""
        return self._call("display-message", "-p", "-t", "desk", "#{alternate_on}#{mouse_any_flag}").strip() != "00"

    def clear(self) -> None:
        """Empties the screen and what was scrolled out of it."""
        self._call("send-keys", "-t", "desk", "-R")
        self._call("clear-history", "-t", "desk")

    def text(self, *, colours: bool = False) -> str:
        """What the screen shows, with what was scrolled out of it."""
        return self._call("capture-pane", "-p", "-t", "desk", "-S", "-", *(["-e"] if colours else []))

    def wait(self, true: Callable[[str], bool], what: str) -> str:
        """Reads the screen until it is so, and returns it."""
        deadline = time.monotonic() + SAFETY_SECONDS
        while not true(shown := self.text()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} never came. The screen shows:\n{shown}")
            time.sleep(0.05)
        return shown

    def close(self) -> None:
        """Ends the terminal and what runs in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True, timeout=SAFETY_SECONDS)


@contextmanager
def terminal(
    folder: Path, environment: Mapping[str, str], *, columns: int = 100, rows: int = 40, shell: str = "bash --norc"
) -> Iterator[Screen]:
    """A terminal that is open while the context is."""
    screen = Screen(folder / "tmux.sock")
    screen.open(shell, columns, rows, folder, environment)
    try:
        yield screen
    finally:
        screen.close()

"""`farhand run` in a terminal: it greets, shows who speaks, keeps the typed line apart, and leaves in order."""

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home

from farhand.cli.line_editor import width

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Desk:
    """A terminal with a node in it, or another command of `farhand`, as a person sits before it."""

    def __init__(self, home: Home, *words: str, columns: int = 80) -> None:
        self.home = home
        self.keyboard, side = pty.openpty()
        termios.tcsetwinsize(side, (24, columns))
        usual = ("run", "--node", "desk", "-p", "0", "--no-telegram", "--no-tunnel", "--demo")
        order = home.command(*(words or usual))
        self.process = subprocess.Popen(
            order,
            cwd=home.folder,
            env=home.environment,
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - the child must own the terminal before it starts
        )
        self.before = termios.tcgetattr(side)
        self.side = side
        self.shown = ""

    def type(self, text: str) -> None:
        """Presses keys."""
        os.write(self.keyboard, text.encode())

    def see(self, text: str) -> None:
        """Waits until the terminal has shown this."""
        self.wait(lambda: text in _CODES.sub("", self.shown), text)

    def wait(self, true: Callable[[], bool], what: str) -> None:
        """Reads the screen until something is so."""
        deadline = time.monotonic() + SAFETY_SECONDS
        while not true():
            assert time.monotonic() < deadline, f"{what!r} never came; the terminal shows {self.shown!r}"
            if select.select([self.keyboard], [], [], 0.5)[0]:
                with suppress(OSError):
                    self.shown += os.read(self.keyboard, 65536).decode(errors="replace")

    def leave(self) -> int:
        """Waits until the node is gone, and returns its exit code."""
        self.wait(lambda: self.process.poll() is not None, "the end")
        return self.process.returncode

    def close(self) -> None:
        """Closes the terminal, and ends what still runs."""
        for descriptor in (self.keyboard, self.side):
            with suppress(OSError):
                os.close(descriptor)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.home.end_agents()


def _take_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A terminal with a node that is ready."""
    with ready(Desk(Home(tmp_path))) as made:
        yield made


@contextmanager
def ready(made: Desk) -> Iterator[Desk]:
    """Waits until the node in the terminal is ready; ends it after."""
    try:
        made.see("Node 'desk' is ready on port")
        made.see("demo is online.")
        yield made
    finally:
        made.close()


def gone(desk: Desk) -> bool:
    """Whether the node left nothing behind that says it runs."""
    return not list(desk.home.node_folder("desk").glob("*pid"))


def test_a_conversation_with_a_question(desk: Desk) -> None:
    desk.type("ask\r")
    desk.see("you: ask")
    desk.see("? demo asks: May I write a small note")
    desk.see("demo 1-2> ")
    desk.type("2 not today\r")
    desk.see("→ No (“not today”)")
    desk.see("Nothing was written.")
    desk.type("/quit\r")
    assert desk.leave() == 0
    assert gone(desk)


def test_a_narrow_terminal_without_colours_shows_no_row_that_it_would_wrap(tmp_path: Path) -> None:
    with ready(Desk(Home(tmp_path, NO_COLOR="1"), columns=40)) as desk:
        shown = len(desk.shown)
        desk.type("a line that is a good deal longer than the forty columns of this terminal\r")
        desk.see("can do.")
        desk.wait(lambda: desk.shown.endswith("demo> \r\x1b[6C"), "the prompt")
        desk.type("ask\r")
        desk.see("demo 1-2> ")
        desk.type("no\r")
        desk.see("Understood, I leave it. Nothing was\r\n  written.")
        desk.type("/help\r")
        desk.see("/quit")
        rows = re.split(r"[\r\n]+", _CODES.sub("", desk.shown[shown:]))
        assert [row for row in rows if width(row) > 40] == []
        assert not re.search(r"\x1b\[[0-9;]*m", desk.shown)


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(tmp_path: Path) -> None:
    with ready(Desk(Home(tmp_path, TERM="dumb"), columns=40)) as desk:
        desk.type("ask\n")
        desk.see("? demo asks: May I write a small note")
        desk.see("1. ")
        desk.type("2 not today\n")
        desk.see("→ No (“not today”)")
        desk.see("Nothing was written.")
        desk.type("/quit\n")
        assert desk.leave() == 0
        assert "\x1b" not in desk.shown
        assert gone(desk)


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_a_key_leaves_and_the_terminal_is_as_it_was(desk: Desk, key: str) -> None:
    desk.type("half a line")
    desk.see("half a line")
    desk.type("\x15" + key)
    assert desk.leave() == 0
    desk.see("Node 'desk' stops.")
    assert gone(desk)
    assert termios.tcgetattr(desk.side) == desk.before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_mid_turn_leaves_in_order(desk: Desk, number: signal.Signals) -> None:
    desk.type("slow\r")
    desk.see("I count to")
    desk.process.send_signal(number)
    assert desk.leave() == 0
    assert gone(desk)
    assert termios.tcgetattr(desk.side) == desk.before


def test_a_terminal_that_is_closed_stops_the_node_in_order(desk: Desk) -> None:
    os.close(desk.side)
    os.close(desk.keyboard)
    assert desk.process.wait(SAFETY_SECONDS) == 0
    assert gone(desk)


def test_a_busy_worker_is_told_and_the_message_waits(desk: Desk) -> None:
    desk.type("slow\r")
    desk.see("I count to")
    desk.type("and then this please\r")
    desk.see("demo is busy: your message waits. /queue shows it.")
    desk.type("/stop\r")
    desk.see("Taken back, for demo had not begun: “and then this please”.")
    desk.see("demo: ■ stopped")


def test_the_app_is_opened_in_the_desktops_browser_and_its_code_is_nobody_elses(tmp_path: Path) -> None:
    programs, seen = tmp_path / "programs", tmp_path / "opened"
    programs.mkdir()
    (programs / "xdg-open").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {seen}.new && mv {seen}.new {seen}\n')
    (programs / "xdg-open").chmod(0o755)
    home = Home(tmp_path, DISPLAY=":9", PATH=f"{programs}:{os.environ['PATH']}")
    desk = Desk(home, "run", "--node", "desk", "-p", "0", "--no-telegram", "--no-tunnel", "--demo", "--open")
    try:
        desk.see("Open the app in your browser: ")
        desk.wait(seen.exists, "the browser")
        page = Path(seen.read_text().strip())
        found = re.search(r"http://127\.0\.0\.1:\d+/app/#pair=(\w+)", _CODES.sub("", desk.shown))
        assert found
        assert found[0] in page.read_text()
        assert found[1] not in seen.read_text()
        assert page.stat().st_mode & 0o077 == 0
    finally:
        desk.close()

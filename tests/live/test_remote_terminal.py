"""An agent's own screen behind `farhand remote`: keys, mouse, colours, clipboard, size and exit code are its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live import shown_program

from farhand.testing.tmux import Screen, terminal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def screen(short_folder: Path) -> Iterator[Screen]:
    """A terminal of 24-bit colours in which the program is shown."""
    (short_folder / "own").mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(short_folder),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PS1": "$ ",
    }
    with terminal(short_folder, environment, columns=90, rows=30) as opened:
        opened.wait(lambda shown: "$" in shown, "the shell")
        opened.type(f"{sys.executable} {shown_program.__file__} {short_folder / 'own'}; echo left with $?")
        opened.wait(lambda shown: "started" in shown, "the program")
        yield opened
        own = ["tmux", "-S", str(short_folder / "own" / "tmux"), "kill-server"]
        subprocess.run(own, check=False, capture_output=True)


def hears(screen: Screen, data: bytes) -> None:
    """The person does it, and the program hears these very bytes."""
    screen.send(data)
    screen.wait(lambda shown: f"heard {data!r}" in shown, repr(data))


def test_all_that_a_terminal_has_is_the_programs(screen: Screen) -> None:
    """One after the other on one start; its exit is the last."""
    colours_and_the_clipboard_come_through(screen)
    every_key_reaches_the_program(screen)
    the_mouse_is_the_programs(screen)
    a_paste_arrives_as_one(screen)
    another_size_is_told_to_the_program(screen)
    its_exit_code_is_ours_and_the_terminal_is_the_shells_again(screen)


def every_key_reaches_the_program(screen: Screen) -> None:
    # Ctrl+B is the one that tmux would keep for itself; Escape alone is not waited for.
    for data in (b"\x02", b"d", b"\x1b", b"\x1b[A", b"\t", b"\x03", "ü".encode()):
        hears(screen, data)


def the_mouse_is_the_programs(screen: Screen) -> None:
    hears(screen, b"\x1b[<0;5;7M")
    hears(screen, b"\x1b[<0;5;7m")
    # The wheel scrolls in the program, and not in tmux.
    hears(screen, b"\x1b[<64;9;3M")


def a_paste_arrives_as_one(screen: Screen) -> None:
    hears(screen, b"\x1b[200~two\rlines\x1b[201~")


def colours_and_the_clipboard_come_through(screen: Screen) -> None:
    screen.wait(lambda _: f"{shown_program.COLOUR}mcoloured" in screen.text(colours=True), "its colour")
    screen.send(b"y")
    screen.wait(lambda _: screen.copied() == "hello", "what it copied")


def another_size_is_told_to_the_program(screen: Screen) -> None:
    screen.resize(70, 20)
    screen.wait(lambda shown: "size 70x20" in shown, "the smaller size")
    screen.resize(110, 35)
    screen.wait(lambda shown: "size 110x35" in shown, "the larger size")


def its_exit_code_is_ours_and_the_terminal_is_the_shells_again(screen: Screen) -> None:
    screen.send(b"q")
    screen.wait(lambda shown: f"left with {shown_program.CODE}" in shown, "the exit code")
    screen.wait(lambda _: not screen.is_taken(), "the terminal as it was")
    # Lines end where lines end: it is not as the program had it.
    screen.type("stty -a | grep -q -e -opost; echo raw is $?")
    screen.wait(lambda shown: "raw is 1" in shown, "a terminal that is not raw")

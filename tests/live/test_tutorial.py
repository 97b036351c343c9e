"""The tutorial, played as it is written: two terminals, the real command, a kill in mid-turn."""

import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home

from farhand.testing.ports import lasting_port
from farhand.testing.tmux import Screen, terminal

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```console(?P<where>[^\n]*)\n(?P<body>.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One piece of the tutorial: what is typed, and what comes of it."""

    first_terminal: bool
    lines: list[str]


def blocks(text: str) -> list[Block]:
    """The pieces of a page that are played."""
    return [
        Block(first_terminal="first" in match["where"], lines=match["body"].splitlines())
        for match in _BLOCK.finditer(text)
    ]


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What is shown: `...` alone stands for any lines, within a line for any text."""
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*".join(re.escape(piece) for piece in line.split("...")) + r" *\n")
    return re.compile(r"(?:^|\n)" + "".join(parts))


def play_first(screen: Screen, block: Block, home: Home) -> None:
    """Plays a piece in the first terminal: types what a person types, and sees what is shown there."""
    seen: list[str] = []
    if block.lines[0].startswith("$ "):
        screen.clear()
    for line in block.lines:
        if line.startswith(("$ ", "you: ")):
            _see(screen, seen)
            if line.startswith("you: "):
                wait_for_worker(home)
            screen.type(line.partition(" ")[2])
            seen = []
        if not line.startswith("$ "):
            seen.append(line)
    _see(screen, seen)


def wait_for_worker(home: Home) -> None:
    """Returns when the worker is done talking, as a polite person waits."""
    deadline = time.monotonic() + SAFETY_SECONDS
    while '"state": "working"' in home.farhand("status", "--node", "first", "--json").stdout:
        assert time.monotonic() < deadline, "the worker never came to an end"


def _see(screen: Screen, lines: list[str]) -> None:
    if lines:
        shown = pattern(lines)
        screen.wait(lambda text: bool(shown.search(text + "\n")), "\n".join(lines))


def play_second(block: Block, home: Home) -> None:
    """Plays a piece in the second terminal: each command, and exactly the output that is written under it."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    for command, lines in commands:
        if command.startswith("farhand status"):
            wait_for_worker(home)
        order = ["bash", "-c", f"{{ {command}\n}} 2>&1"]
        told = subprocess.run(
            order,
            cwd=home.folder,
            env=home.environment,
            capture_output=True,
            text=True,
            timeout=SAFETY_SECONDS,
            check=False,
        )
        assert pattern(lines).fullmatch(told.stdout), f"$ {command}\n{told.stdout}\nis not what the tutorial shows"


@pytest.fixture
def home() -> Iterator[Home]:
    """A home as a newcomer has it: `farhand` on the path, nothing set, and a port that is free."""
    # A short path, as people have it: it is shown in a line that must not wrap.
    with TemporaryDirectory(prefix="farhand-", ignore_cleanup_errors=True) as folder:
        yield from _newcomer(Path(folder))


def _newcomer(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, PORT=str(lasting_port()), PS1="$ ")
    del made.environment["FARHAND_HOME"]
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "farhand").write_text(f'#!/bin/sh\nexec {made.command()[0]} -m farhand "$@"\n')
    (programs / "farhand").chmod(0o755)
    made.environment["PATH"] = f"{programs}:{made.environment['PATH']}"
    yield made
    made.end_agents()


def test_the_tutorial_is_true(home: Home) -> None:
    played = blocks(TUTORIAL.read_text("utf-8"))
    assert len(played) > 10
    with terminal(home.folder, home.environment) as screen:
        for block in played:
            if block.first_terminal:
                play_first(screen, block, home)
            else:
                play_second(block, home)
        screen.wait(lambda text: text.rstrip().endswith("$"), "the shell's prompt after the node has stopped")


@pytest.mark.parametrize(
    ("lines", "shown", "fits"),
    [
        (["one"], "one\n", True),
        (["one"], "one more\n", False),
        (["one", "...", "four"], "one\ntwo\nthree\nfour\n", True),
        (["one", "...", "four"], "one\ntwo\nfive\n", False),
        (["up: ... s"], "up: 12 s\n", True),
        (["up: ... s"], "up: 12 min\n", False),
        ([], "something\n", False),
    ],
)
def test_what_is_shown_is_compared_for_real(lines: list[str], shown: str, fits: bool) -> None:
    assert bool(pattern(lines).fullmatch(shown)) is fits

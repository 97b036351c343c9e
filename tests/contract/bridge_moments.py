"""Runs a step of ours in a process of its own: somebody else writes before any one of its calls to the system, and a
kill comes before any one that changes something. The kills are real, and nothing of ours is replaced."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

CALLS = {"open", "os.listdir", "os.rename", "os.link", "os.remove", "os.chmod", "os.mkdir", "ctypes.call_function"}
CHANGES = CALLS - {"open", "os.listdir"}
EXCHANGE = "ctypes.call_function"
END = "end"
NEVER = -1

Step = Callable[[], str]


class Moments:
    """Hears of every call of this process to the system before it is made."""

    def __init__(self, write: Callable[[], None], write_at: int, kill_at: int, *, can_exchange: bool) -> None:
        self._write, self._write_at, self._kill_at = write, write_at, kill_at
        self._can_exchange = can_exchange
        self._calls = self._changes = 0
        self._is_writing = False

    def __call__(self, event: str, words: tuple[object, ...]) -> None:
        if self._is_writing or event not in {*CALLS, END}:
            return
        if self._calls == self._write_at:
            self._is_writing = True
            self._write()
            self._is_writing = False
        self._calls += 1
        if event in {*CHANGES, END} or makes_a_file(event, words):
            if self._changes == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            self._changes += 1
        if event == EXCHANGE and not self._can_exchange:
            raise OSError("two files cannot change places here")


def makes_a_file(event: str, words: tuple[object, ...]) -> bool:
    """Whether a call makes a file."""
    return event == "open" and isinstance(words[2], int) and bool(words[2] & os.O_CREAT)


def apart(step: Step, moments: Moments) -> tuple[str, bool]:
    """Runs a step in a process of its own; what it printed, and whether it came to its end."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.dup2(writing, 1)
            sys.addaudithook(moments)
            told = step()
            moments(END, ())
            os.write(1, told.encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        printed = file.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return printed, code == 0


def printed_by(step: Step) -> str:
    """What a step prints that runs here, whole."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        step()
        os.dup2(kept, 1)
        os.close(kept)
        file.seek(0)
        return file.read().decode()


class Scene(Protocol):
    """What is there before the step, what somebody else writes meanwhile, and what must be true in the end."""

    def step(self) -> str:
        """What we do."""
        ...

    def write(self) -> None:
        """What somebody else does."""
        ...

    @property
    def has_written(self) -> bool:
        """Whether somebody else did."""
        ...

    def problems(self, printed: str, *, whole: bool) -> list[str]:
        """What is wrong after the step printed this, and came to its end or not."""
        ...


class Played(NamedTuple):
    """How it went."""

    problems: list[str]
    wrote_in_time: bool
    is_killed: bool


def play(make: Callable[[Path], Scene], write_at: int, kill_at: int, *, can_exchange: bool) -> Played:
    """One way in which it can go: somebody who has not written by the end of the step does so after it."""
    with tempfile.TemporaryDirectory() as place:
        scene = make(Path(place))
        moments = Moments(scene.write, write_at, kill_at, can_exchange=can_exchange)
        printed, whole = apart(scene.step, moments)
        wrote_in_time = scene.has_written
        if write_at != NEVER and not wrote_in_time:
            scene.write()
        found = scene.problems(printed, whole=whole)
    when = f"somebody writes at {write_at}, kill at {kill_at}"
    return Played([f"{problem} ({when})" for problem in found], wrote_in_time, is_killed=not whole)


def explore(make: Callable[[Path], Scene], *, can_exchange: bool) -> Iterator[str]:
    """Somebody writes at each moment of the step, after it, and not at all; with each of these a kill at each moment
    of the step that comes later, and none."""
    write_at, first_kill, is_last = NEVER, 0, False
    while not is_last:
        played = play(make, write_at, NEVER, can_exchange=can_exchange)
        yield from played.problems
        is_last = write_at != NEVER and not played.wrote_in_time
        kill_at = 0 if is_last else first_kill
        while (played := play(make, write_at, kill_at, can_exchange=can_exchange)).is_killed:
            yield from played.problems
            kill_at += 1
            if write_at != NEVER and not played.wrote_in_time:
                # A later write comes after this kill, too, as the last of them does.
                first_kill = kill_at
        write_at += 1

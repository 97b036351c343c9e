"""Runs a step of ours in a process of its own: somebody else writes before any one of its calls to the system, and a
kill comes before any one that changes something. Nothing of ours is replaced.

Every such moment has a real kill, with nobody else and with a write after it. With a write before it there are hundreds
of moments: there a copy of the files is taken at each, which is what a kill leaves."""

from __future__ import annotations

import os
import shutil
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
HEARD, CHANGING = frozenset({*CALLS, END}), frozenset({*CHANGES, END})
NEVER = -1

Step = Callable[[], str]


class Moments:
    """Hears of every call of this process to the system before it is made."""

    def __init__(
        self,
        write: Callable[[], None],
        write_at: int,
        kill_at: int = NEVER,
        keep: Callable[[int], None] | None = None,
        *,
        can_exchange: bool,
    ) -> None:
        self._write, self._write_at, self._kill_at, self._keep = write, write_at, kill_at, keep
        self._can_exchange = can_exchange
        self._calls = self._changes = 0
        self._is_quiet = False

    def __call__(self, event: str, words: tuple[object, ...]) -> None:
        if event not in HEARD or self._is_quiet:
            return
        self._is_quiet = True
        if self._calls == self._write_at:
            self._write()
        self._calls += 1
        if event in CHANGING or makes_a_file(event, words):
            if self._changes == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if self._keep is not None:
                self._keep(self._changes)
            self._changes += 1
        self._is_quiet = False
        if event == EXCHANGE and not self._can_exchange:
            raise OSError("two files cannot change places here")


def makes_a_file(event: str, words: tuple[object, ...]) -> bool:
    """Whether a call makes a file."""
    return event == "open" and isinstance(words[2], int) and bool(words[2] & os.O_CREAT)


def apart(step: Step, moments: Moments) -> tuple[str, bool]:
    """Runs a step in a process of its own; what it printed, and whether it came to its end."""
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if not child:
            code = 1
            try:
                os.dup2(file.fileno(), 1)
                sys.addaudithook(moments)
                told = step()
                moments(END, ())
                os.write(1, told.encode())
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL), code
        return printed_so_far(file.fileno()), code == 0


def printed_so_far(file: int) -> str:
    """What is in a file that is written to."""
    return os.pread(file, os.fstat(file).st_size, 0).decode()


def copy(source: Path, target: Path) -> None:
    """A folder as it is now: its files, which of them are one file with several names, their times and modes."""
    target.mkdir()
    copied: dict[int, Path] = {}
    for one in os.scandir(source):
        made, about = target / one.name, one.stat(follow_symlinks=False)
        if one.is_dir(follow_symlinks=False):
            copy(Path(one.path), made)
        elif about.st_ino in copied:
            os.link(copied[about.st_ino], made)
            continue
        else:
            made.write_bytes(Path(one.path).read_bytes())
            copied[about.st_ino] = made
        made.chmod(about.st_mode & 0o7777)
        os.utime(made, ns=(about.st_atime_ns, about.st_mtime_ns))


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


class MomentEnv:
    """A scene in a folder, and copies of that folder from moments of its step."""

    def __init__(self, make: Callable[[Path], Scene], around: Path, write_at: int, *, can_exchange: bool) -> None:
        self._around, self._place = around, around / "place"
        self._place.mkdir()
        self._scene = make(self._place)
        self._write_at, self._can_exchange = write_at, can_exchange

    def play(self, kill_at: int = NEVER, keep_from: int | None = None) -> Played:
        """The step in one way in which it can go; copies are kept from that moment on."""

        def keep(moment: int) -> None:
            if keep_from is not None and moment >= keep_from:
                copy(self._place, self._around / str(moment))
                (self._around / f"{moment} printed").write_text(printed_so_far(1), "utf-8")

        moments = Moments(self._scene.write, self._write_at, kill_at, keep, can_exchange=self._can_exchange)
        printed, whole = apart(self._scene.step, moments)
        return self._judged(printed, kill_at, whole=whole)

    def play_kept(self, moment: int) -> Played | None:
        """What is true when a kill has left what the copy of that moment holds; None if there is no such moment."""
        kept = self._around / str(moment)
        if not kept.exists():
            return None
        shutil.rmtree(self._place)
        kept.rename(self._place)
        return self._judged((self._around / f"{moment} printed").read_text("utf-8"), moment, whole=False)

    def _judged(self, printed: str, kill_at: int, *, whole: bool) -> Played:
        """Somebody who has not written by the end of the step does so after it."""
        wrote_in_time = self._scene.has_written
        if self._write_at != NEVER and not wrote_in_time:
            self._scene.write()
        found = self._scene.problems(printed, whole=whole)
        when = f"somebody writes at {self._write_at}, kill at {kill_at}"
        return Played([f"{problem} ({when})" for problem in found], wrote_in_time, is_killed=not whole)


def explore(make: Callable[[Path], Scene], *, can_exchange: bool) -> Iterator[str]:
    """Somebody writes at each moment of the step, after it, and not at all; with each of these a kill at each moment
    of the step that comes later, and none."""
    write_at, first_kill, is_last = NEVER, 0, False
    while not is_last:
        with tempfile.TemporaryDirectory() as around:
            env = MomentEnv(make, Path(around), write_at, can_exchange=can_exchange)
            played = env.play(keep_from=None if write_at == NEVER else first_kill)
            yield from played.problems
            is_last = write_at != NEVER and not played.wrote_in_time
            if write_at == NEVER or is_last:
                yield from _with_kills(make, write_at, can_exchange=can_exchange)
            else:
                kill_at = first_kill
                while kept := env.play_kept(kill_at):
                    yield from kept.problems
                    kill_at += 1
                    if not kept.wrote_in_time:
                        # A later write comes after this kill, too, as the last of them does.
                        first_kill = kill_at
        write_at += 1


def _with_kills(make: Callable[[Path], Scene], write_at: int, *, can_exchange: bool) -> Iterator[str]:
    """A real kill at each moment."""
    kill_at, is_killed = 0, True
    while is_killed:
        with tempfile.TemporaryDirectory() as around:
            played = MomentEnv(make, Path(around), write_at, can_exchange=can_exchange).play(kill_at)
        is_killed = played.is_killed
        if is_killed:
            yield from played.problems
        kill_at += 1

"""Follows one running command from a thread: what it prints, what it is given to read, its time and its end."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from farhand.disk.group_watcher import watch_group
from farhand.sdk.output import Collected, LineAssembler

GRACE_SECONDS = 2.0
# A child of the command may hold its pipes open for ever; what is in them is read for this long after its end.
DRAIN_SECONDS = 0.2
OUTPUT_BYTES = 8 * 1024 * 1024
LARGEST_UNREAD_LINES = 10_000
_READ_BYTES = 64 * 1024
# Only where the system cannot tell us of an end.
_POLL_SECONDS = 0.05
_NOTHING = 0
running: set[CommandState] = set()


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a command may run (in all, and without a word) and how much of what it prints is kept."""

    timeout_seconds: float | None = None
    silence_seconds: float | None = None
    grace_seconds: float = GRACE_SECONDS
    output_bytes: int = OUTPUT_BYTES
    spill: Path | None = None
    spill_at_once: bool = False


class CommandState:
    """What the thread and the event loop share of one command."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits, *, streaming: bool, text: str | None) -> None:
        self.process = process
        self.watcher = watch_group(process.pid)
        self.limits = limits
        self.streaming = streaming
        self.output = Collected(limits.output_bytes, limits.spill, spill_at_once=limits.spill_at_once)
        self.stdout, self.stderr = Collected(limits.output_bytes), Collected(limits.output_bytes)
        self.lines: deque[str] = deque()
        self.to_write = bytearray(text.encode() if text else b"")
        self.input_closed = text is not None
        self.ending = False
        self.timed_out = False
        self.finished = False
        self.left_behind = -1
        self.lock = threading.Lock()
        self.waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self.wake_read, self.wake_write = os.pipe()
        for descriptor in (self.wake_read, self.wake_write):
            os.set_blocking(descriptor, False)
        running.add(self)

    def signal_group(self, number: int) -> bool:
        """Sends a signal to every process of the group; false when none is left."""
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def release(self) -> None:
        """Nothing is left of the group."""
        if self.watcher is not None:
            self.watcher.release()

    def wake(self) -> None:
        """Makes the thread look at what changed."""
        with self.lock, contextlib.suppress(OSError):
            if self.wake_write >= 0:
                os.write(self.wake_write, b"x")

    def notify(self) -> None:
        """Makes everyone look who waits for something."""
        with self.lock:
            waiters = list(self.waiters)
        for loop, event in waiters:
            # A loop that is closed has nobody left who waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)


class OutputFollower:
    """The thread's side of a command: one selector over its pipes, its end and our wishes."""

    def __init__(self, state: CommandState) -> None:
        self._state = state
        self._process = state.process
        self._selector = selectors.DefaultSelector()
        self._assemblers = {"stdout": LineAssembler(), "stderr": LineAssembler()}
        self._open = {"stdout", "stderr"}
        self._paused = False
        self._exited = False
        self._pidfd = -1
        self._started = self._last_output_at = time.monotonic()
        self._stop_at: float | None = None
        self._kill_at: float | None = None

    def follow(self) -> None:
        try:
            self._register()
            while not self._done():
                for key, _ in self._selector.select(self._time_out()):
                    # What one event does may end the watch for another of the same moment.
                    if key.fd in self._selector.get_map():
                        self._on_ready(key.data, key.fd)
                self._check_time_outs()
        finally:
            self._finish()

    def _register(self) -> None:
        state = self._state
        for name, pipe in (("stdout", self._process.stdout), ("stderr", self._process.stderr)):
            self._watch(_pipe(pipe), selectors.EVENT_READ, name)
        self._watch(state.wake_read, selectors.EVENT_READ, "wake")
        os.set_blocking(_pipe(self._process.stdin).fileno(), False)
        self._pidfd = _pidfd(self._process.pid)
        if self._pidfd >= 0:
            self._watch(self._pidfd, selectors.EVENT_READ, "exit")
        self._feed()

    def _watch(self, pipe: IO[bytes] | int, events: int, name: str) -> None:
        self._selector.register(pipe, events, name)

    def _done(self) -> bool:
        if not self._exited:
            return False
        # What a slow reader has not made room for is still in the pipes.
        if self._waits_for_reader():
            return False
        return not self._open or (self._stop_at is not None and time.monotonic() >= self._stop_at)

    def _waits_for_reader(self) -> bool:
        return self._paused and not self._state.ending

    def _time_out(self) -> float | None:
        limits = self._state.limits
        stop_at = None if self._waits_for_reader() else self._stop_at
        moments = [moment for moment in (stop_at, self._kill_at) if moment is not None]
        if not self._exited and self._kill_at is None:
            if limits.timeout_seconds is not None:
                moments.append(self._started + limits.timeout_seconds)
            if limits.silence_seconds is not None:
                moments.append(self._last_output_at + limits.silence_seconds)
        if self._pidfd < 0:
            moments.append(time.monotonic() + _POLL_SECONDS)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _on_ready(self, name: str, descriptor: int) -> None:
        match name:
            case "stdout" | "stderr":
                self._read(name, descriptor)
            case "stdin":
                self._feed()
            case "exit":
                self._on_exit()
            case _:
                with contextlib.suppress(BlockingIOError):
                    os.read(descriptor, 4096)
                self._feed()
        self._apply_backpressure()

    def _read(self, name: str, descriptor: int) -> None:
        state = self._state
        chunk = os.read(descriptor, _READ_BYTES)
        self._last_output_at = time.monotonic()
        if chunk:
            state.output.add(chunk)
            (state.stdout if name == "stdout" else state.stderr).add(chunk)
        else:
            self._open.discard(name)
            self._selector.unregister(descriptor)
        if state.streaming:
            state.lines.extend(self._assemblers[name].feed(chunk, last=not chunk))
            state.notify()

    def _apply_backpressure(self) -> None:
        """Backpressure: stops reading while the queue of unread lines is full."""
        state = self._state
        full = state.streaming and len(state.lines) >= LARGEST_UNREAD_LINES
        if full == self._paused:
            return
        self._paused = full
        if self._stop_at is not None:
            self._stop_at = time.monotonic() + DRAIN_SECONDS
        for name, pipe in (("stdout", self._process.stdout), ("stderr", self._process.stderr)):
            if name not in self._open:
                continue
            if full:
                self._selector.unregister(_pipe(pipe))
            else:
                self._watch(_pipe(pipe), selectors.EVENT_READ, name)

    def _feed(self) -> None:
        state, pipe = self._state, _pipe(self._process.stdin)
        if pipe.closed:
            return
        with state.lock:
            try:
                while state.to_write:
                    written = os.write(pipe.fileno(), state.to_write[:_READ_BYTES])
                    del state.to_write[:written]
            except BlockingIOError:
                pass
            except OSError:
                state.to_write.clear()
                state.input_closed = True
            waiting = bool(state.to_write)
        watched = pipe.fileno() in self._selector.get_map()
        if waiting and not watched:
            self._watch(pipe, selectors.EVENT_WRITE, "stdin")
        if not waiting:
            if watched:
                self._selector.unregister(pipe)
            if state.input_closed:
                pipe.close()
            state.notify()

    def _on_exit(self) -> None:
        """The process ended; its children may still hold the pipes."""
        if self._exited:
            return
        self._process.wait()
        self._exited = True
        self._stop_at = time.monotonic() + DRAIN_SECONDS
        if self._pidfd >= 0:
            self._selector.unregister(self._pidfd)
        if self._kill_at is not None:
            # Whoever is left of a group that has to end, ends now.
            self._state.signal_group(signal.SIGKILL)

    def _check_time_outs(self) -> None:
        if self._exited:
            return
        if self._pidfd < 0 and self._process.poll() is not None:
            self._on_exit()
            return
        now, limits = time.monotonic(), self._state.limits
        late = limits.timeout_seconds is not None and now >= self._started + limits.timeout_seconds
        silent = limits.silence_seconds is not None and now >= self._last_output_at + limits.silence_seconds
        if self._kill_at is None and (late or silent or self._state.ending):
            self._state.timed_out = late or silent
            self._kill_at = now + limits.grace_seconds
            self._state.signal_group(signal.SIGTERM)
        elif self._kill_at is not None and now >= self._kill_at:
            self._kill_at = now + limits.grace_seconds
            self._state.signal_group(signal.SIGKILL)

    def _finish(self) -> None:
        state = self._state
        if not self._exited:
            state.signal_group(signal.SIGKILL)
            self._process.wait()
        elif state.signal_group(_NOTHING):
            state.left_behind = _member(state.process.pid)
        if state.left_behind < 0:
            state.release()
        if state.streaming:
            for assembler in self._assemblers.values():
                state.lines.extend(assembler.feed(b"", last=True))
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                _pipe(pipe).close()
        for descriptor in (self._pidfd, state.wake_read):
            if descriptor >= 0:
                os.close(descriptor)
        with state.lock:
            os.close(state.wake_write)
            state.wake_write = -1
        state.output.close()
        running.discard(state)
        state.finished = True
        state.notify()


def _pidfd(process: int) -> int:
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return -1


def _member(group: int) -> int:
    """Holds on to one living process of a group, by a descriptor; -1 when the system does not show any."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _parent, number = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(number) == group and state != "Z" and (descriptor := _pidfd(int(folder.name))) >= 0:
            return descriptor
    return -1


def _pipe(pipe: IO[Any] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101
    return pipe


@atexit.register
def _end_everything() -> None:
    for state in list(running):
        state.signal_group(signal.SIGKILL)

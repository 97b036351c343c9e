"""Runs one shell command in its own process group and follows it from a thread: output, input, time, its end."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import select
import selectors
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from farhand.sdk.output import Collected, LineAssembler
from farhand.sdk.seams import ShellResult

GRACE_SECONDS = 2.0
# A child of the command may hold its pipes open for ever; what is in them is read for this long after its end.
DRAIN_SECONDS = 0.2
OUTPUT_BYTES = 8 * 1024 * 1024
LARGEST_UNREAD_LINES = 10_000
_READ_BYTES = 64 * 1024
# Only where the system cannot tell us of an end.
_POLL_SECONDS = 0.05
_NOTHING = 0
_running: set[Command] = set()


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a command may run (in all, and without a word) and how much of what it prints is kept."""

    timeout_seconds: float | None = None
    silence_seconds: float | None = None
    grace_seconds: float = GRACE_SECONDS
    output_bytes: int = OUTPUT_BYTES
    spill: Path | None = None
    spill_at_once: bool = False


NO_LIMITS = Limits()


class Command:
    """A running shell command. Its whole process group ends with it when it is killed, late or too silent."""

    def __init__(
        self,
        arguments: list[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        limits: Limits = NO_LIMITS,
        streaming: bool = False,
        text: str | None = None,
    ) -> None:
        self._limits = limits
        self._streaming = streaming
        self._process = subprocess.Popen(
            arguments,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        self.output = Collected(limits.output_bytes, limits.spill, spill_at_once=limits.spill_at_once)
        self.stdout, self.stderr = Collected(limits.output_bytes), Collected(limits.output_bytes)
        self._lines: deque[str] = deque()
        self._to_write = bytearray(text.encode() if text else b"")
        self._input_closed = text is not None
        self._ending = False
        self.timed_out = False
        self.finished = False
        self._left_behind = -1
        self._lock = threading.Lock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._wake_read, self._wake_write = os.pipe()
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        _running.add(self)
        self._thread = threading.Thread(target=_Follower(self).follow, name=f"shell {self.pid}", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """The id of the process, which is also that of its group."""
        return self._process.pid

    async def write(self, text: str) -> None:
        """Writes to its input and waits until the process took it, or ended."""
        with self._lock:
            if self._input_closed:
                raise BrokenPipeError("The input of this command is closed.")
            self._to_write += text.encode()
        self._wake()
        await self._until(lambda: self.finished or not self._to_write)

    async def close_stdin(self) -> None:
        """Closes its input, after what was written to it."""
        self._input_closed = True
        self._wake()

    async def lines(self) -> AsyncIterator[str]:
        """Every line it prints, on both streams, as it comes; the command waits for a reader that is slow."""
        while True:
            await self._until(lambda: self.finished or bool(self._lines))
            while self._lines:
                yield self._lines.popleft()
                if len(self._lines) == LARGEST_UNREAD_LINES // 2:
                    self._wake()
            if self.finished and not self._lines:
                return

    async def wait(self) -> ShellResult:
        """Waits for its end. Lines that nobody read are let go, so that it cannot wait for a reader for ever."""
        self._streaming = False
        self._wake()
        await self._until(lambda: self.finished)
        return self.result()

    async def kill(self) -> None:
        """Ends the whole process group: politely, then not."""
        self.end()
        await self._until(lambda: self.finished)

    def end(self) -> None:
        """Asks for its end without waiting for it."""
        self._ending = True
        self._wake()

    def result(self) -> ShellResult:
        """How it ended, with what was collected. A command that a signal ended has the negative number of it."""
        code = self._process.returncode
        return ShellResult(
            exit_code=-1 if code is None else code,
            output=self.output.text(),
            stdout=self.stdout.text(),
            stderr=self.stderr.text(),
            timed_out=self.timed_out,
        )

    def signal_group(self, number: int) -> bool:
        """Sends a signal to every process of the group; false when none is left."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    @property
    def left_something(self) -> bool:
        """Whether processes of its group were alive when it ended."""
        return self._left_behind >= 0

    def end_leftovers(self) -> None:
        """Ends what the command started and left behind when it ended itself."""
        descriptor, self._left_behind = self._left_behind, -1
        if descriptor < 0:
            return
        # While one member is alive, the number of the group cannot belong to anyone else.
        if not select.select([descriptor], [], [], 0)[0]:
            self.signal_group(signal.SIGKILL)
        os.close(descriptor)

    def _wake(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self._wake_write >= 0:
                os.write(self._wake_write, b"x")

    async def _until(self, fact: Callable[[], bool]) -> None:
        event = asyncio.Event()
        waiter = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiters.append(waiter)
        try:
            while not fact():
                await event.wait()
                event.clear()
        finally:
            with self._lock:
                self._waiters.remove(waiter)

    def _notify(self) -> None:
        with self._lock:
            waiters = list(self._waiters)
        for loop, event in waiters:
            # A loop that is closed has nobody left who waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)


class _Follower:
    """The thread's side of a command: one selector over its pipes, its end and our wishes."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._process = command._process
        self._selector = selectors.DefaultSelector()
        self._assemblers = {"stdout": LineAssembler(), "stderr": LineAssembler()}
        self._open = {"stdout", "stderr"}
        self._paused = False
        self._exited = False
        self._pidfd = -1
        self._started = self._last_word = time.monotonic()
        self._stop_at: float | None = None
        self._kill_at: float | None = None

    def follow(self) -> None:
        try:
            self._register()
            while not self._done():
                for key, _ in self._selector.select(self._patience()):
                    # What one event does may end the watch for another of the same moment.
                    if key.fd in self._selector.get_map():
                        self._happened(key.data, key.fd)
                self._look_at_the_clock()
        finally:
            self._finish()

    def _register(self) -> None:
        command = self._command
        for name, pipe in (("stdout", self._process.stdout), ("stderr", self._process.stderr)):
            self._watch(_pipe(pipe), selectors.EVENT_READ, name)
        self._watch(command._wake_read, selectors.EVENT_READ, "wake")
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
        return self._paused and not self._command._ending

    def _patience(self) -> float | None:
        limits = self._command._limits
        stop_at = None if self._waits_for_reader() else self._stop_at
        moments = [moment for moment in (stop_at, self._kill_at) if moment is not None]
        if not self._exited and self._kill_at is None:
            if limits.timeout_seconds is not None:
                moments.append(self._started + limits.timeout_seconds)
            if limits.silence_seconds is not None:
                moments.append(self._last_word + limits.silence_seconds)
        if self._pidfd < 0:
            moments.append(time.monotonic() + _POLL_SECONDS)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _happened(self, name: str, descriptor: int) -> None:
        match name:
            case "stdout" | "stderr":
                self._read(name, descriptor)
            case "stdin":
                self._feed()
            case "exit":
                self._left()
            case _:
                with contextlib.suppress(BlockingIOError):
                    os.read(descriptor, 4096)
                self._feed()
        self._pace()

    def _read(self, name: str, descriptor: int) -> None:
        command = self._command
        chunk = os.read(descriptor, _READ_BYTES)
        self._last_word = time.monotonic()
        if chunk:
            command.output.add(chunk)
            (command.stdout if name == "stdout" else command.stderr).add(chunk)
        else:
            self._open.discard(name)
            self._selector.unregister(descriptor)
        if command._streaming:
            command._lines.extend(self._assemblers[name].feed(chunk, last=not chunk))
            command._notify()

    def _pace(self) -> None:
        """Stops reading while a follower of the lines is far behind."""
        command = self._command
        full = command._streaming and len(command._lines) >= LARGEST_UNREAD_LINES
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
        command, pipe = self._command, _pipe(self._process.stdin)
        if pipe.closed:
            return
        with command._lock:
            try:
                while command._to_write:
                    written = os.write(pipe.fileno(), command._to_write[:_READ_BYTES])
                    del command._to_write[:written]
            except BlockingIOError:
                pass
            except OSError:
                command._to_write.clear()
                command._input_closed = True
            waiting = bool(command._to_write)
        watched = pipe.fileno() in self._selector.get_map()
        if waiting and not watched:
            self._watch(pipe, selectors.EVENT_WRITE, "stdin")
        if not waiting:
            if watched:
                self._selector.unregister(pipe)
            if command._input_closed:
                pipe.close()
            command._notify()

    def _left(self) -> None:
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
            self._command.signal_group(signal.SIGKILL)

    def _look_at_the_clock(self) -> None:
        if self._exited:
            return
        if self._pidfd < 0 and self._process.poll() is not None:
            self._left()
            return
        now, limits = time.monotonic(), self._command._limits
        late = limits.timeout_seconds is not None and now >= self._started + limits.timeout_seconds
        silent = limits.silence_seconds is not None and now >= self._last_word + limits.silence_seconds
        if self._kill_at is None and (late or silent or self._command._ending):
            self._command.timed_out = late or silent
            self._kill_at = now + limits.grace_seconds
            self._command.signal_group(signal.SIGTERM)
        elif self._kill_at is not None and now >= self._kill_at:
            self._kill_at = now + limits.grace_seconds
            self._command.signal_group(signal.SIGKILL)

    def _finish(self) -> None:
        command = self._command
        if not self._exited:
            command.signal_group(signal.SIGKILL)
            self._process.wait()
        elif command.signal_group(_NOTHING):
            command._left_behind = _member(command.pid)
        if command._streaming:
            for assembler in self._assemblers.values():
                command._lines.extend(assembler.feed(b"", last=True))
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                _pipe(pipe).close()
        for descriptor in (self._pidfd, command._wake_read):
            if descriptor >= 0:
                os.close(descriptor)
        with command._lock:
            os.close(command._wake_write)
            command._wake_write = -1
        command.output.close()
        _running.discard(command)
        command.finished = True
        command._notify()


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
    for command in list(_running):
        command.signal_group(signal.SIGKILL)

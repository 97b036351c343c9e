"""A shell command in its own process group: written to, followed, waited for or ended from the event loop."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Mapping

from farhand.sdk import output_follower as follower
from farhand.sdk.output import Collected
from farhand.sdk.output_follower import CommandState, Limits, OutputFollower
from farhand.sdk.protocols import ShellResult

__all__ = ["NO_LIMITS", "Limits", "RunningCommand"]

NO_LIMITS = Limits()


class RunningCommand:
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
        most_memory: int = 0,
    ) -> None:
        process = subprocess.Popen(
            arguments,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        if most_memory:
            limit_memory(process.pid, most_memory)
        self._state = CommandState(process, limits, streaming=streaming, text=text)
        threading.Thread(target=OutputFollower(self._state).follow, name=f"shell {process.pid}", daemon=True).start()

    @property
    def finished(self) -> bool:
        """Whether it ended, and everything it printed is collected."""
        return self._state.finished

    @property
    def output(self) -> Collected:
        """What it printed so far, on both streams."""
        return self._state.output

    @property
    def stdout(self) -> Collected:
        """What it printed so far on its standard output."""
        return self._state.stdout

    @property
    def pid(self) -> int:
        """The id of the process, which is also that of its group."""
        return self._state.process.pid

    async def write(self, text: str) -> None:
        """Writes to its input and waits until the process took it, or ended."""
        with self._state.lock:
            if self._state.input_closed:
                raise BrokenPipeError("The input of this command is closed.")
            self._state.to_write += text.encode()
        self._state.wake()
        await self._until(lambda: self._state.finished or not self._state.to_write)

    async def close_stdin(self) -> None:
        """Closes its input, after what was written to it."""
        self._state.input_closed = True
        self._state.wake()

    async def lines(self) -> AsyncIterator[str]:
        """Every line it prints, on both streams, as it comes; the command waits for a reader that is slow."""
        while True:
            await self._until(lambda: self._state.finished or bool(self._state.lines))
            while self._state.lines:
                yield self._state.lines.popleft()
                if len(self._state.lines) == follower.LARGEST_UNREAD_LINES // 2:
                    self._state.wake()
            if self._state.finished and not self._state.lines:
                return

    async def wait(self) -> ShellResult:
        """Waits for its end. Lines that nobody read are let go, so that it cannot wait for a reader for ever."""
        self._state.streaming = False
        self._state.wake()
        await self._until(lambda: self._state.finished)
        return self.result()

    async def kill(self) -> None:
        """Ends the whole process group: politely, then not."""
        self.end()
        await self._until(lambda: self._state.finished)

    def end(self) -> None:
        """Asks for its end without waiting for it."""
        self._state.ending = True
        self._state.wake()

    def result(self) -> ShellResult:
        """How it ended, with what was collected. A command that a signal ended has the negative number of it."""
        code = self._state.process.returncode
        return ShellResult(
            exit_code=-1 if code is None else code,
            output=self._state.output.text(),
            stdout=self._state.stdout.text(),
            stderr=self._state.stderr.text(),
            timed_out=self._state.timed_out,
        )

    @property
    def left_something(self) -> bool:
        """Whether processes of its group were alive when it ended."""
        return self._state.left_behind >= 0

    def release(self) -> None:
        """Lets what the command left behind live on, also when this process is killed."""
        self._state.release()

    def end_leftovers(self) -> None:
        """Ends what the command started and left behind when it ended itself."""
        descriptor, self._state.left_behind = self._state.left_behind, -1
        if descriptor < 0:
            return
        watch = select.poll()
        watch.register(descriptor, select.POLLIN)
        # While one member is alive, the number of the group cannot belong to anyone else.
        if not watch.poll(0):
            self._state.signal_group(signal.SIGKILL)
        os.close(descriptor)
        self._state.release()

    async def _until(self, fact: Callable[[], bool]) -> None:
        event = asyncio.Event()
        waiter = (asyncio.get_running_loop(), event)
        with self._state.lock:
            self._state.waiters.append(waiter)
        try:
            while not fact():
                await event.wait()
                event.clear()
        finally:
            with self._state.lock:
                self._state.waiters.remove(waiter)


def limit_memory(process: int, most_bytes: int) -> None:
    """Gives a process no more memory than that; one that needs more fails. Not every system has this limit."""
    try:
        import resource

        resource.prlimit(process, resource.RLIMIT_AS, (most_bytes, most_bytes))
    except (ImportError, AttributeError, OSError):
        # It has ended already, or runs as somebody else.
        return

"""The process of a tunnel: started so that it outlives a killed node, found again by the next one, ended for sure."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio

from farhand.disk.processes import PROC, is_alive, read_identity
from farhand.model import compat
from farhand.model.errors import ReachFailed

# A log that has grown beyond this is put aside at the next start.
LARGEST_LOG = 1_000_000
END_SECONDS = 3.0
# Where the system cannot tell that a process ended, it is looked at this often.
LOOK_SECONDS = 1.0


class TunnelProcess:
    """One process, its pid file and its log, all in the node's folder."""

    def __init__(self, folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._pid_file = folder / compat.TUNNEL_PID_FILE
        self._log = folder / compat.TUNNEL_LOG_FILE
        self._command = tuple(command)
        self._environment = dict(environment)
        self._from = 0
        self._pid = 0
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def program(self) -> str:
        """What it is called."""
        return Path(self._command[0]).name

    def adopt(self) -> bool:
        """Takes over the process that an earlier run has left, if it is one that we would start now."""
        pid = read_identity(self._pid_file)
        wanted = self._command[1:]
        if pid is None or words_of(pid)[-len(wanted) :] != wanted:
            return False
        self._pid = pid
        return True

    def start(self) -> None:
        """Starts it in a session of its own: neither Ctrl-C nor the node's death reaches it."""
        self._put_log_aside()
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._from = os.fstat(log).st_size
        starter = (sys.executable, "-P", "-m", "farhand.reach.start", str(self._pid_file))
        try:
            self._child = subprocess.Popen(
                [*starter, *self._command],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            raise ReachFailed(f"{self.program} cannot be started: {error.strerror}.") from None
        finally:
            os.close(log)
        self._pid = self._child.pid

    def _put_log_aside(self) -> None:
        with suppress(OSError):
            if self._log.stat().st_size > LARGEST_LOG:
                self._log.replace(self._log.with_name(f"{self._log.name}.old"))

    def output(self) -> str:
        """What it has written since it was started."""
        try:
            with self._log.open("rb") as file:
                file.seek(self._from)
                return file.read(LARGEST_LOG).decode("utf-8", "replace")
        except OSError:
            return ""

    def is_running(self) -> bool:
        """Whether it is there now."""
        if self._child is not None:
            return self._child.poll() is None
        return self._pid != 0 and read_identity(self._pid_file) == self._pid

    async def ended(self) -> str:
        """Returns how it ended, as soon as it has."""
        await wait_until_gone(self._pid)
        code = self._child.poll() if self._child is not None else None
        if code is None:
            return f"{self.program} ended."
        return f"{self.program} ended (exit code {code})." if code >= 0 else f"{self.program} was killed ({-code})."

    async def end(self) -> None:
        """Ends whichever process the pid file names, by force if it must be; afterwards there is none."""
        pid = self._pid or read_identity(self._pid_file)
        if pid and (self._child is not None or read_identity(self._pid_file) == pid):
            await end_process(pid)
        if self._child is not None:
            self._child.poll()
        self._pid, self._child = 0, None
        self._pid_file.unlink(missing_ok=True)


def words_of(pid: int) -> tuple[str, ...]:
    """The words that a process was started with; none where nobody can tell."""
    try:
        return tuple(os.fsdecode(one) for one in (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")[:-1])
    except OSError:
        return ()


async def end_process(pid: int) -> None:
    """Asks it to end, and ends it when it does not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except OSError:
            return
        with anyio.move_on_after(END_SECONDS):
            await wait_until_gone(pid)
            return


async def wait_until_gone(pid: int) -> None:
    """Returns when the process has ended; told by the system where it can."""
    if not pid:
        return
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError) as error:
        if isinstance(error, ProcessLookupError):
            return
        await _look_until_gone(pid)
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


async def _look_until_gone(pid: int) -> None:
    while True:
        if _is_reaped(pid) or not is_alive(pid):
            return
        await anyio.sleep(LOOK_SECONDS)


def _is_reaped(pid: int) -> bool:
    """Whether it is a child of ours that has ended; nobody would call one dead that nobody has reaped."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False

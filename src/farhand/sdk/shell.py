"""Shell commands in the workspace: one that is waited for, or one that is followed and written to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from farhand.sdk.environment import with_variables
from farhand.sdk.protocols import ShellResult
from farhand.sdk.shell_process import NO_LIMITS, Limits, RunningCommand

# Of what runs unasked nobody has judged how much it takes: a file full of holes has lines without end.
UNASKED_MEMORY_BYTES = 4 * 1024**3


class WorkspaceShell:
    """Starts commands with `bash -c` in a folder and remembers them, so that none outlives the session."""

    def __init__(
        self,
        cwd: Path,
        environment: Mapping[str, str],
        permit: Callable[[str], None] = lambda _: None,
        confine: Callable[[Sequence[str], Path], Sequence[str]] = lambda argv, _: argv,
    ) -> None:
        self._cwd = cwd
        self._permit = permit
        self._confine = confine
        self._environment = environment
        self._started: list[RunningCommand] = []

    async def exec(
        self, command: str, *, env: Mapping[str, str] | None = None, timeout_seconds: float | None = None
    ) -> ShellResult:
        """Runs a command to its end. Interrupted or late, its whole process group is ended."""
        self._permit(command)
        running = self.launch(command, env=env, limits=Limits(timeout_seconds=timeout_seconds), text="")
        return await finished(running)

    async def start(
        self, command: str, *, env: Mapping[str, str] | None = None, timeout_seconds: float | None = None
    ) -> RunningCommand:
        """Starts a command whose lines are followed and whose input can be written to."""
        self._permit(command)
        return self.launch(command, env=env, limits=Limits(timeout_seconds=timeout_seconds), streaming=True)

    def launch(
        self,
        command: str,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        limits: Limits = NO_LIMITS,
        streaming: bool = False,
        text: str | None = None,
        argv: Sequence[str] = (),
    ) -> RunningCommand:
        """Starts a command with everything that can be chosen about it; with `argv`, that alone and without a shell."""
        running = RunningCommand(
            list(self._confine(list(argv) or ["bash", "-c", command], cwd or self._cwd)),
            cwd=str(cwd or self._cwd),
            env=self._safe_environment() if argv else with_variables(self._environment, env),
            limits=limits,
            streaming=streaming,
            text=text,
            most_memory=UNASKED_MEMORY_BYTES if argv else 0,
        )
        self._started = [*(one for one in self._started if not one.finished or one.left_something), running]
        return running

    def _safe_environment(self) -> dict[str, str]:
        from farhand.sdk.policies.safe_commands import safe_environment

        return safe_environment(self._environment)

    async def close(self) -> None:
        """Ends whatever is still running, and what commands that ended left behind."""
        for running in self._started:
            running.end()
        for running in self._started:
            await running.kill()
            running.end_leftovers()
        self._started = []


async def finished(running: RunningCommand) -> ShellResult:
    """Waits for a command; whoever stops waiting ends it."""
    try:
        return await running.wait()
    finally:
        if not running.finished:
            running.end()

"""What a sprint does in a worker's folder: runs the verifier, commits a task."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.model.errors import CannotDo
from farhand.model.present import Worker
from farhand.workdir.plain_config import why_not_plain

VERIFIER_SECONDS = 1800.0
GIT_SECONDS = 120.0
OUTPUT_BYTES = 64 * 1024
SUBJECT_CHARACTERS = 72
PROBLEM_CHARACTERS = 200
# Neither the repository's hooks nor a file monitor, and no git inside of submodules.
RUNS_NOTHING = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "diff.ignoreSubmodules=all"),
    *("-c", "submodule.recurse=false", "-c", "status.submoduleSummary=false"),
)


class LocalSprintTools:
    """Runs commands with the environment of the node's agents; `refusal` says why it may not for a worker.

    What an agent wrote is run by the verifier with the node's rights, which is what the manager wants who names one; a
    worker that is confined must not get out that way. A commit runs nothing of the repository's."""

    def __init__(self, environment: Mapping[str, str], refusal: Callable[[Worker], str] = lambda _: "") -> None:
        self._environment = {**environment, "GIT_TERMINAL_PROMPT": "0"}
        self._refusal = refusal

    async def verify(self, worker: Worker, command: str) -> tuple[bool, str]:
        """Whether the command succeeds in the worker's folder, and the end of what it printed."""
        if refusal := self._refusal(worker):
            return False, refusal
        try:
            return await self._run(["/bin/sh", "-c", command], worker.directory, VERIFIER_SECONDS)
        except CannotDo as error:
            return False, error.text

    async def commit(self, worker: Worker, subject: str, trailer: str) -> tuple[str, str]:
        """Commits what changed there: the commit's id, or why there is none."""
        directory = worker.directory
        if self._refusal(worker) or not (Path(directory) / ".git").exists():
            return "", ""
        if problem := await anyio.to_thread.run_sync(why_not_plain, Path(directory)):
            return "", problem
        try:
            if problem := await self._commit_changes(directory, subject, trailer):
                return "", problem
            _, last = await self._git(directory, "log", "-1", "--format=%H%n%B")
        except CannotDo as error:
            return "", error.text
        commit, _, body = last.partition("\n")
        return commit.strip() if trailer in body.splitlines() else "", ""

    async def _commit_changes(self, directory: str, subject: str, trailer: str) -> str:
        """Why git does not; empty when all is committed."""
        _, status = await self._git(directory, "status", "--porcelain")
        if not status.strip():
            return ""
        title = " ".join(subject.split())[:SUBJECT_CHARACTERS]
        for words in (("add", "--all"), ("commit", "--quiet", "-m", title, "-m", trailer)):
            done, said = await self._git(directory, *words)
            if not done:
                return " ".join(said.split())[:PROBLEM_CHARACTERS] or f"git {words[0]} failed"
        return ""

    async def _git(self, directory: str, *words: str) -> tuple[bool, str]:
        return await self._run(["git", *RUNS_NOTHING, *words], directory, GIT_SECONDS)

    async def _run(self, words: Sequence[str], directory: str, seconds: float) -> tuple[bool, str]:
        try:
            with anyio.fail_after(seconds):
                done = await anyio.run_process(
                    words,
                    cwd=directory,
                    env=self._environment,
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.STDOUT,
                )
        except TimeoutError:
            raise CannotDo(f"{words[-1]} did not end within {seconds:g} seconds.") from None
        except OSError as error:
            raise CannotDo(f"{words[-1]} cannot be run: {error.strerror}.") from None
        return done.returncode == 0, done.stdout[-OUTPUT_BYTES:].decode("utf-8", "replace")

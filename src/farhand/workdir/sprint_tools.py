"""What a sprint does in a worker's folder: runs the verifier, commits a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread

from farhand.model.errors import CannotDo
from farhand.model.present import Worker
from farhand.model.visible import visible
from farhand.workdir.plain_config import why_not_plain
from farhand.workdir.process_group import running_git, running_shell

VERIFIER_SECONDS = 1800.0
GIT_SECONDS = 120.0
OUTPUT_BYTES = 64 * 1024
LISTING_BYTES = 32 * 1024 * 1024
SUBJECT_CHARACTERS = 72
PROBLEM_CHARACTERS = 200
NO_AUTHOR = "git does not know in whose name. At the desk: git config --global user.name and user.email"
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
        self._environment = {**environment, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
        self._refusal = refusal

    async def verify(self, worker: Worker, command: str) -> tuple[bool, str]:
        """Whether the command succeeds in the worker's folder, and the end of what it printed.

        Cancelled, late, or when this process is killed, it ends at once with all that it has started."""
        if refusal := self._refusal(worker):
            return False, refusal
        try:
            running = running_shell(command, worker.directory, self._environment)
            return await _outcome(running, command, VERIFIER_SECONDS)
        except CannotDo as error:
            return False, error.text

    async def commit(self, worker: Worker, subject: str, trailer: str) -> tuple[str, str]:
        """Commits what changed there: the commit's id, or why there is none.

        Cancelled, late, or when this process is killed, git ends at once and leaves no lock behind."""
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
        _, status = await self._git(directory, "status", "--porcelain", "--ignore-submodules=all")
        if not status.strip():
            return ""
        title = " ".join(subject.split())[:SUBJECT_CHARACTERS]
        # For a submodule git would run git inside of it, by a configuration of the submodule's own.
        left_out = [f":(exclude,literal){path}" for path in await self._submodules(directory)]
        for words in (("add", "--all", "--", ".", *left_out), ("commit", "--quiet", "-m", title, "-m", trailer)):
            done, said = await self._git(directory, *words)
            if not done:
                return _problem(said) or f"git {words[0]} failed"
        return ""

    async def _submodules(self, directory: str) -> list[str]:
        done, listed = await self._git(directory, "ls-files", "--stage", "-z", most=LISTING_BYTES)
        if not done or len(listed) >= LISTING_BYTES:
            raise CannotDo("git could not list the files of the repository.")
        return [one.partition("\t")[2] for one in listed.split("\0") if one.startswith("160000 ")]

    async def _git(self, directory: str, *words: str, most: int = OUTPUT_BYTES) -> tuple[bool, str]:
        running = running_git([*RUNS_NOTHING, *words], directory, self._environment)
        return await _outcome(running, words[-1], GIT_SECONDS, most)


def _problem(said: str) -> str:
    """What git complains of, on one line; in plain words where its own are a lecture."""
    if "Please tell me who you are" in said:
        return NO_AUTHOR
    return " ".join(said.split())[:PROBLEM_CHARACTERS]


async def _outcome(
    running: AbstractAsyncContextManager[anyio.abc.Process], name: str, seconds: float, most: int = OUTPUT_BYTES
) -> tuple[bool, str]:
    """Whether it succeeded, and the end of what it printed: no more than that is ever held."""
    try:
        with anyio.fail_after(seconds):
            async with running as process:
                printed = await _end_of(process.stdout, most)
                code = await process.wait()
    except TimeoutError:
        raise CannotDo(f"{name} did not end within {seconds:g} seconds.") from None
    except OSError as error:
        raise CannotDo(f"{name} cannot be run: {error.strerror}.") from None
    except ValueError:
        # A character that no command line has.
        raise CannotDo(f"{visible(name)} cannot be run: no program takes such a character.") from None
    return code == 0, printed.decode("utf-8", "surrogateescape" if most == LISTING_BYTES else "replace")


async def _end_of(stream: anyio.abc.ByteReceiveStream | None, most: int) -> bytes:
    kept = bytearray()
    if stream is not None:
        async for piece in stream:
            kept += piece
            if len(kept) > 2 * most:
                del kept[:-most]
    return bytes(kept[-most:])

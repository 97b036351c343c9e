"""Runs git to read a repository: bounded in time, bounded in what is read of its answer, and ended with its caller."""

import shutil
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.abc

from farhand.model.errors import GitFailed, NoRepository
from farhand.workdir.repository import Repository, environment, mirror

T = TypeVar("T")
Other = TypeVar("Other")
SECONDS = 20.0
ANSWER_BYTES = 8 * 1024 * 1024
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"


@dataclass(frozen=True)
class GitAnswer:
    """What git wrote; `cut` says that there was more."""

    data: bytes
    cut: bool = False


@dataclass
class Git:
    """Git on one repository, through a folder of ours."""

    repository: Repository
    ours: Path
    # Where objects are found, and no other: without it the repository's own are found, too.
    objects: Path | None = None
    _program: str = field(default_factory=lambda: shutil.which("git", path=SYSTEM_PATH) or "")

    async def open(self) -> None:
        """Makes our folder what the repository is now."""
        await anyio.to_thread.run_sync(mirror, self.repository, self.ours)

    async def run(
        self,
        *words: str,
        index: Path | None = None,
        stdin: bytes = b"",
        most: int = ANSWER_BYTES,
        cwd: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> GitAnswer:
        """What git answers; raises GitFailed with its own words when it fails or takes too long."""
        if not self._program:
            raise NoRepository("git is not installed on the node's machine.")
        command = [self._program, "--no-pager", "--no-optional-locks", "--literal-pathspecs", *words]
        given = environment(self.repository, self.ours, index or self.repository.index, SYSTEM_PATH)
        if self.objects is not None:
            given["GIT_OBJECT_DIRECTORY"] = str(self.objects)
        given.update(variables or {})
        try:
            with anyio.fail_after(SECONDS):
                return await _communicate(command, given, cwd or self.repository.top, stdin, most)
        except TimeoutError:
            raise GitFailed(f"git {words[0]} took more than {SECONDS:.0f} seconds.") from None
        except OSError as error:
            raise GitFailed(f"git could not be run: {error}.") from None


async def together(one: Callable[[], Awaitable[T]], other: Callable[[], Awaitable[Other]]) -> tuple[T, Other]:
    """Both at the same time; raises the first error as it is."""
    first: list[T] = []
    second: list[Other] = []

    async def run_first() -> None:
        first.append(await one())

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_first)
            second.append(await other())
    except BaseExceptionGroup as group:
        raise _first_error(group) from None
    return first[0], second[0]


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first_error(found) if isinstance(found, BaseExceptionGroup) else found


async def _communicate(command: Sequence[str], given: dict[str, str], cwd: Path, stdin: bytes, most: int) -> GitAnswer:
    process = await anyio.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=given
    )
    async with process:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise GitFailed("git has no standard streams.")
        try:
            errors: list[bytes] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_feed, process.stdin, stdin)
                tasks.start_soon(_collect, process.stderr, errors)
                data, cut = await _read(process.stdout, most)
                if cut:
                    process.kill()
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
    if code and not cut:
        told = b"".join(errors).decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {command[4]}: {told[-1][:300] if told else 'failed'}.")
    return GitAnswer(data, cut)


async def _feed(stream: anyio.abc.ByteSendStream, data: bytes) -> None:
    try:
        if data:
            await stream.send(data)
        await stream.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        # It ended without reading all; its exit code tells.
        return


async def _collect(stream: anyio.abc.ByteReceiveStream, into: list[bytes]) -> None:
    kept = 0
    async for piece in stream:
        if kept < 65536:
            into.append(piece)
            kept += len(piece)


async def _read(stream: anyio.abc.ByteReceiveStream, most: int) -> tuple[bytes, bool]:
    data = bytearray()
    async for piece in stream:
        data += piece
        if len(data) > most:
            return bytes(data[:most]), True
    return bytes(data), False

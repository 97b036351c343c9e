"""An agent CLI called once for one message: its words, run with a limit, one call at a time for each worker."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import msgspec

LIMIT_SECONDS = 300.0


@dataclass(frozen=True)
class Read:
    """What a CLI's output says: the answer, the session that it belongs to, and what went wrong."""

    text: str = ""
    session: str = ""
    error: str = ""


T = TypeVar("T")


def parsed(raw: str, kind: type[T]) -> T | None:
    """A line of JSON as that kind; None when it is none."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None


@dataclass(frozen=True)
class Adapter:
    """One CLI. `words` are its command line for a message, a directory and a session; `read` understands its output."""

    source: str
    title: str
    program: str
    words: Callable[[str, str, str], list[str]]
    read: Callable[[str, str], Read]
    # The file in a worker's folder that is locked while the CLI runs, and the one that names its session.
    lock: str
    session_file: str = ""
    # The message goes in here, where the command line would spoil it.
    input: Callable[[str], str] = lambda _: ""
    variables: Mapping[str, str] | None = None
    # Words of the CLI that say that a session is gone for good.
    lost: str = ""


@dataclass(frozen=True)
class Ran:
    """How a call ended."""

    output: str
    errors: str
    problem: str = ""


def guarded(message: str) -> str:
    """The message as an argument: what begins with a hyphen would be taken for a flag."""
    return f" {message}" if message.startswith("-") else message


def answer(
    adapter: Adapter,
    message: str,
    folder: Path,
    directory: Path,
    environment: Mapping[str, str],
    limit_seconds: float = LIMIT_SECONDS,
) -> Read:
    """Calls the CLI while nobody else does so for this worker; a failure is told in a sentence."""
    with locked(folder / adapter.lock):
        known = folder / adapter.session_file if adapter.session_file else None
        session = known.read_text("utf-8").strip() if known is not None and known.exists() else ""
        ran = call(adapter, message, session, directory, environment, limit_seconds)
        if session and adapter.lost and adapter.lost in ran.errors:
            session, ran = "", call(adapter, message, "", directory, environment, limit_seconds)
        read = adapter.read(ran.output, ran.errors)
        if known is not None and read.session and read.session != session:
            keep(known, read.session)
    return told(adapter, read, ran.problem)


def told(adapter: Adapter, read: Read, problem: str) -> Read:
    """The answer, or why there is none."""
    if read.text and not problem:
        return Read(read.text, read.session)
    why = problem or read.error or "it said nothing"
    sentence = f"{adapter.title} failed: {why.rstrip('.')}."
    return Read(f"{read.text}\n\n{sentence}".strip(), read.session, sentence)


def call(
    adapter: Adapter,
    message: str,
    session: str,
    directory: Path,
    environment: Mapping[str, str],
    limit_seconds: float,
) -> Ran:
    """Runs the CLI to its end, with nothing at its input that it could wait for."""
    program = shutil.which(adapter.program, path=environment.get("PATH"))
    if program is None:
        return Ran("", "", f"there is no '{adapter.program}' on PATH")
    words = [program, *adapter.words(message, str(directory), session)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given.write(adapter.input(message).encode("utf-8", "replace"))
        given.seek(0)
        problem = _run(
            words, directory, {**environment, **(adapter.variables or {})}, given, output, errors, limit_seconds
        )
        output.seek(0)
        errors.seek(0)
        return Ran(output.read().decode("utf-8", "replace"), errors.read().decode("utf-8", "replace"), problem)


def _run(
    words: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    given: IO[bytes],
    output: IO[bytes],
    errors: IO[bytes],
    limit_seconds: float,
) -> str:
    try:
        process = subprocess.Popen(
            words,
            cwd=directory,
            env=environment,
            stdin=given,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        return f"it could not be started in {directory}: {error.strerror}"
    try:
        process.wait(limit_seconds)
        return ""
    except subprocess.TimeoutExpired:
        return f"it took longer than {limit_seconds:g} s and was stopped"
    finally:
        # Whatever the CLI has started ends with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock file; whoever else wants it waits."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def keep(path: Path, text: str) -> None:
    """Writes a small file for its owner alone, whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")

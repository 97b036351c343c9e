"""Runs a function in a forked, detached process, which goes on when this one is killed, and waits for its result."""

import os
import traceback
from collections.abc import Callable
from contextlib import suppress

import msgspec

from farhand.model.errors import FarhandError
from farhand.model.words import Word


class WorkEnded(Word):
    """How the work ended: the exit code, and a sentence when it did not go well."""

    code: int = 0
    error: str = ""


def run_detached(work: Callable[[], WorkEnded]) -> WorkEnded | None:
    """The result of the work; None when its process was killed."""
    reading, writing = os.pipe()
    worker = os.fork()
    if not worker:
        os.close(reading)
        _run_in_child(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(worker, 0)
    return msgspec.json.decode(said, type=WorkEnded) if said else None


def _run_in_child(work: Callable[[], WorkEnded], writing: int) -> None:
    """In the other process: leaves the terminal and the streams to the first one. Never returns."""
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        said = _run_caught(work)
        # Whoever waited may be gone.
        with suppress(BrokenPipeError):
            os.write(writing, msgspec.json.encode(said))
    finally:
        os._exit(0)


def _run_caught(work: Callable[[], WorkEnded]) -> WorkEnded:
    try:
        return work()
    except FarhandError as error:
        return WorkEnded(code=error.exit_code, error=error.text)
    except Exception:  # noqa: BLE001 - whoever waits is told
        return WorkEnded(code=1, error=traceback.format_exc())

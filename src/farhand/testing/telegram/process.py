"""Starts the fake Telegram as a process of its own, so that it outlives a node that is killed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def telegram_process() -> Iterator[str]:
    """The address of a fake Telegram that runs until the block is left (or its starter dies)."""
    command = [sys.executable, "-m", "farhand.testing.telegram", "--port", "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the fake Telegram did not start: exit code {process.wait()}")
        try:
            yield address
        finally:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()

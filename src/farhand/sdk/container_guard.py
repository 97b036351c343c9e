"""Becomes the engine's client that runs a container, and removes the container when that client is gone.

A program of its own on the standard library alone: `python container_guard.py NAME docker run …`. A client that is
killed leaves its container running; so a small process outside its group waits for its end.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time

# What describes this machine and not the command's wishes: an image has its own.
_OURS = frozenset(
    "CONTAINERS_CONF CONTAINERS_STORAGE_CONF CONTAINER_HOST DOCKER_CERT_PATH DOCKER_CONFIG DOCKER_CONTEXT DOCKER_HOST "
    "DOCKER_TLS_VERIFY HOME HOSTNAME LD_LIBRARY_PATH LD_PRELOAD OLDPWD PATH PWD SHELL SHLVL TEMP TMP TMPDIR".split()
)
# Only where the system cannot tell us of an end.
_POLL_SECONDS = 0.2


def main(name: str, command: list[str]) -> None:
    """Starts the watch, then becomes the client. The command gets its own variables, without their values in sight."""
    client = os.getpid()
    if os.fork() == 0:
        _watch(client, name, command[0])
    passed = [f"--env={each}" for each in os.environ if each not in _OURS]
    os.execv(command[0], [*command[:2], "--env=HOME=/tmp", *passed, *command[2:]])  # noqa: S606


def _watch(client: int, name: str, program: str) -> None:
    """In a group of its own and without the command's pipes, so that nothing that ends it ends the watch."""
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    _wait_for_end(client)
    os.execv(program, [program, "rm", "--force", name])  # noqa: S606


def _wait_for_end(client: int) -> None:
    if hasattr(os, "pidfd_open") and os.getppid() == client:
        with contextlib.suppress(ProcessLookupError):
            watch = select.poll()
            watch.register(os.pidfd_open(client), select.POLLIN)
            watch.poll()
    while os.getppid() == client:
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

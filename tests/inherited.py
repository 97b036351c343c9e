"""Makes the children of tests independent of how the run was started: with `nohup`, in the background, in a pipe."""

from __future__ import annotations

import os
import signal

import pytest

# What `nohup` and the background jobs of a shell ignore, and what their children would ignore, too.
IGNORED_BY_STARTERS = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM)


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """In the main process and in every worker, before the first test."""
    reset_dispositions()
    reset_input()


def reset_dispositions() -> None:
    """The run itself goes on ignoring a signal; a child gets the default, as `exec` resets what has a handler."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, IGNORED_BY_STARTERS)
    for number in IGNORED_BY_STARTERS:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def reset_input() -> None:
    """A pipe that nobody closes would be read for ever; a terminal stays, for a debugger."""
    if not os.isatty(0):
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

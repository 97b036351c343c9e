"""Builds the drivers of OpenCode."""

from __future__ import annotations

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.exec.driver import ExecOpenCodeDriver
from farhand.drivers.opencode.headless.driver import HeadlessOpenCodeDriver
from farhand.drivers.opencode.tmux.driver import TmuxOpenCodeDriver
from farhand.drivers.wires.context import DriverContext
from farhand.model.ports import Driver


def build(given: DriverContext) -> list[Driver]:
    """OpenCode without a terminal, which is the usual one, a process a turn, and in tmux."""
    environment = given.child(launch.passed_on(given.variables))
    folder = given.folder / launch.MANIFEST.backend
    return [
        HeadlessOpenCodeDriver(given.holders, environment, folder, given.ask_seconds),
        ExecOpenCodeDriver(given.holders, environment, folder),
        TmuxOpenCodeDriver(given.station, environment, given.ask_seconds),
    ]

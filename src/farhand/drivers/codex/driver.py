"""Builds the drivers of Codex."""

from __future__ import annotations

from farhand.drivers.codex.exec.driver import ExecCodexDriver
from farhand.drivers.codex.headless.driver import HeadlessCodexDriver
from farhand.drivers.codex.tmux.driver import TmuxCodexDriver
from farhand.drivers.wires.context import DriverContext
from farhand.model.ports import Driver


def build(context: DriverContext) -> list[Driver]:
    """Codex without a terminal, which is the usual one, with one, and a process a turn."""
    return [HeadlessCodexDriver(context), TmuxCodexDriver(context), ExecCodexDriver(context)]

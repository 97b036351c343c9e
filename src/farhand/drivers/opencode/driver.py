"""Builds the drivers of OpenCode."""

from __future__ import annotations

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.exec.driver import ExecOpenCodeDriver
from farhand.drivers.opencode.headless.driver import HeadlessOpenCodeDriver
from farhand.drivers.opencode.tmux.driver import TmuxOpenCodeDriver
from farhand.drivers.wires.context import DriverContext
from farhand.model.ports import Driver


def build(context: DriverContext) -> list[Driver]:
    """OpenCode without a terminal, which is the usual one, a process a turn, and in tmux."""
    environment = context.child(launch.passed_on(context.variables))
    folder, gate = context.folder / launch.MANIFEST.backend, context.folder_gate({"folder": launch.MANIFEST.folder})
    return [
        HeadlessOpenCodeDriver(context.holders, environment, folder, context.ask_seconds, gate, context.sandboxes),
        ExecOpenCodeDriver(context.holders, environment, folder, gate),
        TmuxOpenCodeDriver(context.tmux_host, environment, context.ask_seconds, gate),
    ]

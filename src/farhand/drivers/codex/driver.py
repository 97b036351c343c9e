"""Builds the drivers of Codex."""

from __future__ import annotations

from farhand.drivers.codex.exec import ExecCodexDriver
from farhand.drivers.codex.headless import HeadlessCodexDriver
from farhand.drivers.codex.terminal import InteractiveCodexDriver
from farhand.drivers.wires.given import Given
from farhand.model.ports import Driver


def build(given: Given) -> list[Driver]:
    """Codex without a terminal, which is the usual one, with one, and a process a turn."""
    return [HeadlessCodexDriver(given), InteractiveCodexDriver(given), ExecCodexDriver(given)]

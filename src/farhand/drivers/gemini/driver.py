"""The drivers of the Gemini CLI: over ACP, which is the usual one, a process a turn, and in its terminal."""

from __future__ import annotations

from farhand.drivers.gemini.exec.driver import ExecGeminiDriver
from farhand.drivers.gemini.headless.driver import HeadlessGeminiDriver
from farhand.drivers.gemini.tmux.driver import TmuxGeminiDriver
from farhand.drivers.wires.context import DriverContext
from farhand.model.ports import Driver


def build(context: DriverContext) -> list[Driver]:
    """Every way to run it."""
    return [HeadlessGeminiDriver(context), ExecGeminiDriver(context), TmuxGeminiDriver(context)]

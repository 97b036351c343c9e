"""Builds the drivers of Claude Code."""

from farhand.drivers.claude import launch
from farhand.drivers.claude.headless.driver import HeadlessClaudeDriver
from farhand.drivers.claude.tmux.driver import TmuxClaudeDriver
from farhand.drivers.wires.context import DriverContext
from farhand.model.ports import Driver


def build(given: DriverContext) -> list[Driver]:
    """Claude Code in tmux, as spec 2 has it, and without a terminal."""
    environment = given.child(launch.passed_on(given.variables))
    headless = HeadlessClaudeDriver(given.holders, environment, given.folder / "claude-headless", given.ask_seconds)
    return [TmuxClaudeDriver(given.tmux_host, environment), headless]

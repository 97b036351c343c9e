"""Builds the drivers of Claude Code."""

from farhand.drivers.claude import launch
from farhand.drivers.claude.headless.driver import HeadlessClaudeDriver
from farhand.drivers.claude.tmux.driver import TmuxClaudeDriver
from farhand.drivers.wires.context import DriverContext
from farhand.model.ports import Driver


def build(context: DriverContext) -> list[Driver]:
    """Claude Code in tmux, as spec 2 has it, and without a terminal."""
    environment = context.child(launch.agent_variables(context.variables))
    gate = context.folder_gate(launch.MANIFEST)
    headless = HeadlessClaudeDriver(
        context.holders, environment, context.folder / "claude-headless", context.ask_seconds, gate=gate
    )
    return [TmuxClaudeDriver(context.tmux_host, environment, gate=gate), headless]

"""Builds the drivers of the ACP agents that files in the node's folder describe."""

import structlog

from farhand.drivers.acp.schema import read_agent
from farhand.drivers.wires.acp.driver import AcpDriver
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.context import DriverContext
from farhand.model.errors import DriverError
from farhand.model.ports import Driver

log = structlog.get_logger("acp")


def build(context: DriverContext) -> list[Driver]:
    """One driver for each file; a file that describes no agent costs that agent alone."""
    drivers: list[Driver] = []
    for path in sorted((context.folder / "acp").glob("*.toml")):
        try:
            drivers.append(_driver(context, read_agent(path)))
        except DriverError as error:
            log.error("no ACP agent", file=str(path), error=str(error))
    return drivers


def _driver(context: DriverContext, agent: AcpAgent) -> AcpDriver:
    """The driver of one agent, with those of the node's variables that it names."""
    named = {name: context.variables[name] for name in agent.variables if name in context.variables}
    return AcpDriver(
        context.holders,
        agent,
        python=context.python,
        environment=context.child(named),
        ask_seconds=context.ask_seconds,
        gate=context.folder_gate(),
    )

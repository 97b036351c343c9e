"""Builds the drivers of ACP agents: those of the node's own files, and those of the catalogue that are installed."""

from farhand.drivers.acp.schema import catalogue, is_here, own_agents
from farhand.drivers.wires.acp.driver import AcpDriver
from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.context import DriverContext
from farhand.model.errors import DriverError
from farhand.model.logger import get_logger
from farhand.model.ports import Driver

log = get_logger("acp")


def build(context: DriverContext) -> list[Driver]:
    """One driver for each; what a person describes themselves stands for the catalogue's of the same name."""
    agents: dict[str, AcpAgent] = {}
    for agent in own_agents(context.folder):
        if isinstance(agent, DriverError):
            log.error("no ACP agent", error=agent.text)
        else:
            agents.setdefault(agent.backend, agent)
    for agent in catalogue():
        if agent.backend not in agents and is_here(agent, context.variables.get("PATH")):
            agents[agent.backend] = agent
    return [_driver(context, agent) for agent in agents.values()]


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

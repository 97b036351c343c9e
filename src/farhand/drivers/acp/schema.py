"""Reads the TOML file that describes an ACP agent."""

import tomllib
from pathlib import Path

import msgspec

from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.model.errors import DriverError


def read_agent(path: Path) -> AcpAgent:
    """The agent that a file describes. Raises DriverError with a sentence."""
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
        agent = msgspec.convert({"backend": path.stem, **fields}, AcpAgent)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DriverError(f"{path} does not describe an ACP agent: {error}") from error
    if not agent.command:
        raise DriverError(f"{path} does not describe an ACP agent: its command is empty.")
    return agent

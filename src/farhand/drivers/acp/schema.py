"""Reads what describes ACP agents: the catalogue in our manifest, and a person's own TOML files."""

import shutil
import tomllib
from pathlib import Path

import msgspec

from farhand.drivers.wires.acp.schema import AcpAgent
from farhand.drivers.wires.manifest import read_manifest
from farhand.model.errors import DriverError


def catalogue() -> list[AcpAgent]:
    """The agents that can be hired where their programs are."""
    manifest = read_manifest("farhand.drivers.acp")
    return [msgspec.convert({"backend": name, **fields}, AcpAgent) for name, fields in manifest["agents"].items()]


def is_here(agent: AcpAgent, path: str | None) -> bool:
    """Whether all of its programs are on that PATH."""
    return all(shutil.which(program, path=path) for program in (agent.command[0], *agent.needs))


def own_agents(folder: Path) -> list[AcpAgent | DriverError]:
    """The agents of a person's own files in the node's folder; a file that describes none is told, and costs that
    agent alone."""
    found: list[AcpAgent | DriverError] = []
    for path in sorted((folder / "acp").glob("*.toml")):
        try:
            found.append(read_agent(path))
        except DriverError as error:
            found.append(error)
    return found


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

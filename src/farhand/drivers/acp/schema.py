"""What an ACP agent's TOML file says: its command, the variables it needs, its names for our modes."""

import tomllib
from pathlib import Path

import msgspec

from farhand.model.errors import DriverError
from farhand.model.words import Mode, Word


class AcpAgent(Word):
    """One kind of agent."""

    backend: str
    command: tuple[str, ...]
    title: str = ""
    about: str = ""
    # The node's variables that reach the agent, by name; no other secret of the node does.
    variables: tuple[str, ...] = ()
    # Variables with fixed values.
    environment: dict[str, str] = {}
    # The agent's own names for our modes; a mode that is not here cannot be chosen.
    modes: dict[Mode, str] = {}
    models: bool = True
    images: bool = True


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

"""How one ACP agent is described: its command, the variables it needs, its names for our modes."""

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

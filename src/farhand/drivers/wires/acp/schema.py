"""How one ACP agent is described: its command, the variables it needs, its names for our modes, how it logs in."""

from farhand.model.words import Mode, Word


class AcpLogin(Word):
    """What shows that somebody is logged in: any of these files below HOME, or any of these variables."""

    files: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    how: str = ""


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
    # The same, for a worker that judges somebody's work: what it reads may be hostile, and must not be remembered.
    review_environment: dict[str, str] = {}
    # The agent's own names for our modes; a mode that is not here cannot be chosen.
    modes: dict[Mode, str] = {}
    # Its own usual mode is another one than our `default`, which is therefore set at every start.
    sets_default: bool = False
    # Whether it asks before it acts; one that does not is started in the mode `yolo` alone.
    asks: bool = True
    # Programs that its command runs, how it is installed, and the version that it was tried with.
    needs: tuple[str, ...] = ()
    install: str = ""
    tested: str = ""
    login: AcpLogin = AcpLogin()
    models: bool = True
    images: bool = True

"""The two files of a bridged project, as a driver sees them: what was read, what was said, where its agent sits."""

from pathlib import Path
from typing import Protocol

from farhand.model.words import Word

BACKEND = "bridge"


class BridgeAnswer(Word):
    """Something that the agent said and that nobody has passed on yet."""

    key: str
    text: str
    # Whether the bridge itself says so, about its files.
    is_notice: bool = False


class BridgeLook(Word):
    """How the files are now."""

    # The messages in the inbox, each with whether the agent has read it.
    inbox: dict[str, bool] = {}
    # Which of them our hooks have given to the agent: of those `busy` tells whether they are worked at.
    given: frozenset[str] = frozenset()
    answers: tuple[BridgeAnswer, ...] = ()
    # Whether something that was said has found no place in the outbox yet.
    has_more: bool = False
    # Whether a turn runs, and where the agent sits: tmux's socket, its pane, the agent's process, as its hooks told.
    busy: bool = False
    tmux: str = ""
    pane: str = ""
    agent: int = 0
    # What its CLI calls the event before a turn.
    event: str = ""


class BridgeFiles(Protocol):
    """The files of one project. Everything is done under the lock that the hooks take, too."""

    def attach(self) -> None:
        """The hooks tell from now on where the agent sits; raises DriverError where there is no bridge."""
        ...

    def look(self) -> BridgeLook:
        """How they are now."""
        ...

    def put(self, identity: str, text: str) -> None:
        """A message for the agent; one with that id that is there already is not put again."""
        ...

    def take_back(self, identity: str) -> bool:
        """Removes a message that the agent has not read; whether there was one."""
        ...

    def mark_sent(self, keys: tuple[str, ...]) -> None:
        """These answers were passed on."""
        ...


class OpensBridges(Protocol):
    """Opens the files of a project."""

    def __call__(self, project: Path) -> BridgeFiles:
        """Those of that folder."""
        ...

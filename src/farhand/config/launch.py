"""How a node was started, kept in its folder: other commands need its places, and `restart` its flags. No secrets."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.disk.atomic import write_private
from farhand.model import compat

if TYPE_CHECKING:
    # What is only looked up costs a command that looks nothing.
    from farhand.config.settings import Settings

LAUNCH_FILE = "run.json"


@dataclass(frozen=True)
class Launch:
    """What the node was started with: flags, folder, and where its workers' things are."""

    sessions: str = ""
    tmux_prefix: str = ""
    tmux_socket: str = ""
    bridge_url: str = ""
    directory: str = ""
    public_url: str = ""
    detached: bool = False
    flags: tuple[str, ...] = ()

    def keep(self, folder: Path) -> None:
        """Writes it down, for the owner alone."""
        write_private(folder / LAUNCH_FILE, json.dumps(asdict(self)))


def launch_of(settings: "Settings") -> Launch:
    """How a node with these settings is started."""
    return Launch(
        sessions=str(settings.sessions),
        tmux_prefix=settings.tmux_prefix,
        tmux_socket=settings.tmux_socket,
        bridge_url=settings.given_bridge_url,
        directory=str(settings.working_directory),
        public_url=settings.public_url,
        detached=settings.environment.get("FARHAND_DETACHED", "") != "",
        flags=settings.flags,
    )


def read_launch(folder: Path, node: str) -> Launch:
    """How the node of that folder was started last; its usual places if nobody knows."""
    usual = Launch(sessions=str(folder / compat.SESSIONS_FOLDER), tmux_prefix=compat.tmux_prefix(node))
    try:
        said = json.loads((folder / LAUNCH_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return usual
    if not isinstance(said, dict):
        return usual
    texts = {name: value for name, value in said.items() if name in _TEXTS and isinstance(value, str) and value}
    flags = said.get("flags")
    return Launch(
        **{"sessions": usual.sessions, "tmux_prefix": usual.tmux_prefix, **texts},
        detached=said.get("detached") is True,
        flags=tuple(one for one in flags if isinstance(one, str)) if isinstance(flags, list) else (),
    )


_TEXTS = ("sessions", "tmux_prefix", "tmux_socket", "bridge_url", "directory", "public_url")

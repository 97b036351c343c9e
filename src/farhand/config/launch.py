"""How a node was started, kept in its folder: other commands need its places, and `restart` its flags. No secrets."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from farhand.disk.atomic import write_private
from farhand.model import compat

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

"""Where all nodes of a person are, and each of them; loads nothing, for every command asks."""

from collections.abc import Mapping
from pathlib import Path

from farhand.model import compat


def home(environ: Mapping[str, str]) -> Path:
    """Where all nodes of this person are."""
    given = environ.get("FARHAND_HOME")
    return Path(given).expanduser() if given else Path(environ.get("HOME") or Path.home()) / compat.HOME_FOLDER


def nodes_folder(environ: Mapping[str, str]) -> Path:
    """The folder of all nodes."""
    return home(environ) / compat.NODES_FOLDER


def node_folder(node: str, environ: Mapping[str, str]) -> Path:
    """The folder of that node."""
    return nodes_folder(environ) / node


def tmux_server(socket: str) -> tuple[str, ...]:
    """The words that reach a tmux server: by a path, by a name as `tmux -L` has it, or the person's own."""
    if not socket:
        return ("tmux",)
    return ("tmux", "-S", socket) if "/" in socket else ("tmux", "-L", socket)

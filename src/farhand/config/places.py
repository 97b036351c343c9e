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

"""Tells whose the variables of a shell are: a worker's shell carries those of its node, and no other node uses them."""

import re
from collections.abc import Mapping
from pathlib import Path

from farhand.model import compat
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.names import normalize

# What says where one node is, and is wrong for every other.
NODE_VARIABLES = ("PORT", "SESSIONS_DIR", "TMUX_PREFIX", "BRIDGE_URL", "TUNNEL_URL")
# What has the node's folder in it; the second is in every shell of a worker.
_PATHS = ("SESSIONS_DIR", "FARHAND_SOCKET")
_PREFIX = lazy_pattern(re.escape(compat.TMUX_PREFIX) + r"([a-z0-9-]*[a-z0-9])-")


def owners(environ: Mapping[str, str], nodes: Path) -> set[str]:
    """The nodes that these variables speak of; empty when nothing tells. `nodes` is the folder of all nodes."""
    found = {normalize(environ.get("NODE_NAME", ""))}
    if match := _PREFIX.fullmatch(environ.get("TMUX_PREFIX", "").strip()):
        found.add(match[1])
    for name in _PATHS:
        path = Path(environ.get(name, "").strip() or "/").expanduser()
        if path.is_relative_to(nodes) and path != nodes:
            found.add(path.relative_to(nodes).parts[0])
    return found - {""}


def foreign(node: str, environ: Mapping[str, str], nodes: Path) -> list[str]:
    """The variables that are another node's and must not be used for this one."""
    if not owners(environ, nodes) - {node}:
        return []
    return [name for name in NODE_VARIABLES if name in environ]

"""Names of workers and nodes: what they are made of, and which are taken by commands."""

import re

from farhand.model.errors import BadName

LONGEST = 32

BOT_COMMANDS = frozenset(
    (
        "adopt all end focus help hire interrupt learn pause progress relaunch review settings sprint start stop "
        "team tune undo"
    ).split()
)
CLI_COMMANDS = frozenset(
    (
        "adapter adopt answer ask bench chat clean doctor end events fleet focus help hire hook hooks interrupt mcp "
        "pair relaunch restart run say sessions settings skills status stop team tui version webhook"
    ).split()
)
RESERVED = BOT_COMMANDS | CLI_COMMANDS | {"farhand", "manager", "me", "node", "nobody", "none", "self", "system"}

_STRIPPED = re.compile(r"[^a-z0-9-]")


def normalize(name: str) -> str:
    """The name in the form that is kept: lower case, `a-z0-9-` only, no hyphen at either end."""
    return _STRIPPED.sub("", name.lower()).strip("-")


def worker_name(name: str) -> str:
    """The normalized name of a worker, or BadName with what would have worked."""
    clean = normalize(name)
    if not clean:
        raise BadName("Name must use letters, numbers, and hyphens only.", name=name)
    if len(clean) > LONGEST:
        raise BadName(f"'{clean}' has {len(clean)} characters; {LONGEST} is the limit for a name.", name=name)
    if clean in RESERVED:
        raise BadName(f'Cannot use "{clean}" - reserved command. Choose another name.', name=name)
    return clean


def node_name(name: str) -> str:
    """The normalized name of a node, or BadName."""
    clean = normalize(name)
    if not clean or len(clean) > LONGEST:
        raise BadName(f"Invalid node name: {name}", name=name)
    return clean

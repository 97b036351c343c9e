"""Names of workers, nodes and messages: what they are made of, and which are taken by commands."""

import re

from farhand.model.errors import BadName

LONGEST = 32

BOT_COMMANDS = frozenset(
    (
        "adopt all end focus handback help hire interrupt learn pause progress relaunch retry review sessions settings "
        "sprint start stop team tune undo"
    ).split()
)
CLI_COMMANDS = frozenset(
    (
        "adapter adopt answer ask bench chat clean doctor end events fleet focus handback help hire hook hooks "
        "interrupt mcp pair relaunch restart retry run say sessions settings skills status stop team tui version "
        "webhook"
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


def again(message: str) -> str:
    """What a message is called that waits once more: no wire may take it for the one that it had before."""
    first, tilde, times = message.rpartition("~")
    return f"{first}~{int(times) + 1}" if tilde and _is_number(times) else f"{message}~2"


def origin(message: str) -> str:
    """What a message was called when it came."""
    first, tilde, times = message.rpartition("~")
    return first if tilde and _is_number(times) else message


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def node_name(name: str) -> str:
    """The normalized name of a node, or BadName."""
    clean = normalize(name)
    if not clean or len(clean) > LONGEST:
        raise BadName(f"Invalid node name: {name}", name=name)
    return clean

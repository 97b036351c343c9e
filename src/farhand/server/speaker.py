"""Who speaks over a socket: the transport says it, and nobody can speak as a channel that is not theirs."""

import pwd
import socket
import struct

from farhand.model.devices import VIA_PREFIX
from farhand.model.errors import BadInput, NotAllowed
from farhand.model.worker_keys import VIA_WORKERS

LONGEST_NAME = 32
# What the node itself, its sprints and reviews, its plain files and workers' programs speak as.
NODE_NAMES = frozenset({"node", "pipe", "review", "sprint", VIA_WORKERS})


def own_name(via: str, reserved: frozenset[str]) -> str:
    """The name that a client gives its messages; NotAllowed for one that belongs to a channel or a device of the node.

    Ids are deduplicated by this name: whoever could take another's could use up its ids."""
    if not (via.isascii() and via.replace("-", "").isalnum() and len(via) <= LONGEST_NAME):
        raise BadInput(f"A sender's name is 1 to {LONGEST_NAME} letters, digits and hyphens.")
    if via.lower() in reserved or via.lower().startswith(VIA_PREFIX):
        raise NotAllowed(f"Only the channel itself can speak as '{via}'.", via=via)
    return via


def peer_name(connection: socket.socket | None) -> str | None:
    """The user at the other end of a unix socket, as the kernel tells it; None where it does not."""
    if connection is None or not hasattr(socket, "SO_PEERCRED"):
        return None
    try:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, user, _ = struct.unpack("3i", credentials)
        return pwd.getpwuid(user).pw_name
    except OSError:
        return None
    except KeyError:
        return str(user)

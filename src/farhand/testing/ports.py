"""Ports for nodes that are killed and started again at the same place, while other tests open connections."""

import random
import socket

# Below 32768, where Linux takes the ports of outgoing connections from: one of those could take ours between two lives.
FIRST, LAST = 20_000, 32_000


def lasting_port() -> int:
    """A free port on loopback that nobody else is given by chance."""
    while True:
        port = random.SystemRandom().randrange(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port

"""`farhand stop`: stops a node and waits until it is gone; its agents live on."""

import argparse
import os
import signal
import sys
import time

from farhand.cli.node_choice import choose
from farhand.cli.options import add_node
from farhand.config.settings import node_folder
from farhand.model.errors import NodeError, NodeNotRunning
from farhand.store.folder import running

PATIENCE_SECONDS = 15.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `stop` takes."""
    add_node(parser)


def run(arguments: argparse.Namespace) -> int:
    """Stops it."""
    node = choose(arguments)
    folder = node_folder(node, os.environ)
    process = running(folder)
    if process is None:
        raise NodeNotRunning(f"Node '{node}' is not running.")
    os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while running(folder) == process:
        if time.monotonic() > deadline:
            raise NodeError(f"Node '{node}' (pid {process}) has not stopped within {PATIENCE_SECONDS:g} s.")
        time.sleep(0.02)
    sys.stdout.write(f"Node '{node}' stopped.\n")
    return 0

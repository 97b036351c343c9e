"""`farhand restart`: stops a node, leaves its agents alive, and runs it again as it was run before."""

import argparse
import os
import sys

from farhand.cli import run as running_command
from farhand.cli.end_node import end_bridge, end_tunnel
from farhand.cli.flags import command_parser
from farhand.cli.node_choice import choose
from farhand.config.launch import read_launch
from farhand.config.places import node_folder
from farhand.model.errors import NodeError

# Given now, the one puts the other of the last run aside.
OPPOSITES = {"sandbox": "no_sandbox", "no_sandbox": "sandbox", "no_tunnel": "reach"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `restart` takes: all that `run` does."""
    running_command.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Checks that it can run again before it stops it."""
    node = choose(arguments)
    folder = node_folder(node, os.environ)
    launch = read_launch(folder, node)
    merged = with_flags(arguments, launch.flags, detached=launch.detached)
    merged.node = node
    running_command.check(merged)
    if launch.directory:
        try:
            os.chdir(launch.directory)
        except OSError as error:
            raise NodeError(f"It ran in {launch.directory}, which cannot be used: {error.strerror}.") from None
    if end_bridge(node, folder) is not None:
        sys.stderr.write(f"Node '{node}' stopped; its agents live on.\n")
    end_tunnel(folder)
    return running_command.run(merged)


def with_flags(arguments: argparse.Namespace, flags: tuple[str, ...], *, detached: bool) -> argparse.Namespace:
    """What is given now, filled up with the flags of the last run."""
    parser = command_parser("farhand run", "", running_command)
    before, _ = parser.parse_known_args(list(flags))
    merged = argparse.Namespace(**vars(arguments))
    for name, value in vars(before).items():
        if value and not vars(merged).get(name) and not vars(merged).get(OPPOSITES.get(name, "")):
            setattr(merged, name, value)
    merged.detach = merged.detach or detached
    return merged

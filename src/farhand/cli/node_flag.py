"""`--node`, as the commands that speak to a node take it; loads nothing."""

import argparse

# The key of a node elsewhere, or of a device.
NODE_KEY_VARIABLE = "FARHAND_NODE_KEY"
WHICH_NODE = "the node's name (default: NODE_NAME, then the one that runs, then prod)"


def add_node(parser: argparse.ArgumentParser) -> None:
    """`--node` for a command that speaks to one."""
    parser.add_argument("-n", "--node", help=WHICH_NODE)

"""Which node a command means, and its own variables: the flag, NODE_NAME, the nodes that run, a question."""

import argparse
import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

from farhand.config.env_file import read_env_file
from farhand.config.node_variables import foreign
from farhand.config.places import node_folder, nodes_folder
from farhand.model import compat
from farhand.model.errors import BadUsage
from farhand.model.names import node_name, normalize
from farhand.store.folder import running

ENV_FILE = "env"


def known_nodes(environ: MutableMapping[str, str] | None = None) -> list[str]:
    """Every node that has a folder here."""
    folder = nodes_folder(os.environ if environ is None else environ)
    try:
        return sorted(
            entry.name for entry in os.scandir(folder) if entry.is_dir() and normalize(entry.name) == entry.name
        )
    except OSError:
        return []


def running_nodes(environ: MutableMapping[str, str] | None = None) -> list[str]:
    """Those of them that run."""
    environ = os.environ if environ is None else environ
    return [node for node in known_nodes(environ) if running(node_folder(node, environ)) is not None]


def choose(arguments: argparse.Namespace, environ: MutableMapping[str, str] | None = None) -> str:
    """The node that is meant; from here on the environment has its variables and no other node's."""
    environ = os.environ if environ is None else environ
    node = resolve(arguments, environ)
    _take_own(node, environ, set(arguments.from_env_file), verbose=arguments.verbose)
    return node


def resolve(arguments: argparse.Namespace, environ: MutableMapping[str, str]) -> str:
    """The node's name, by the flag, NODE_NAME, the only one that runs, a question on a terminal, or the default."""
    if arguments.node is not None or environ.get("NODE_NAME"):
        return node_name(arguments.node if arguments.node is not None else environ["NODE_NAME"])
    found = running_nodes(environ)
    if len(found) < 2:
        return found[0] if found else compat.DEFAULT_NODE
    if arguments.headless or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadUsage(
            "Multiple nodes running. Specify with --node <name> or --all", hints=(f"Running nodes: {' '.join(found)}",)
        )
    return _ask(found)


def _ask(nodes: list[str]) -> str:
    listed = "".join(f"  {number}) {node}\n" for number, node in enumerate(nodes, 1))
    sys.stderr.write(f"Several nodes are running:\n{listed}")
    while True:
        sys.stderr.write(f"Which one? [1-{len(nodes)}] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise BadUsage("No node was chosen.", hints=(f"Running nodes: {' '.join(nodes)}",))
        said = line.strip()
        if said in nodes:
            return said
        if said.isascii() and said.isdigit() and 1 <= int(said) <= len(nodes):
            return nodes[int(said) - 1]


def _take_own(node: str, environ: MutableMapping[str, str], given: set[str], *, verbose: bool) -> None:
    """Drops another node's variables, but for what the command's own env file says; adds those of the node's file."""
    inherited = {name: value for name, value in environ.items() if name not in given}
    dropped = foreign(node, inherited, nodes_folder(environ))
    for name in dropped:
        del environ[name]
    if dropped and verbose:
        sys.stderr.write(f"{', '.join(dropped)}: another node's, not used for '{node}'\n")
    for name, value in node_env(node, environ).items():
        if not environ.get(name):
            environ[name] = value


def env_path(node: str, environ: MutableMapping[str, str]) -> Path:
    """The file with that node's own variables, which `farhand setup` writes."""
    return node_folder(node, environ) / ENV_FILE


def node_env(node: str, environ: MutableMapping[str, str]) -> dict[str, str]:
    """The variables in that file; none without one."""
    path = env_path(node, environ)
    return read_env_file(path) if path.exists() else {}

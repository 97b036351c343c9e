"""The agent that a command is about: its first word, or `--backend NAME`, which is also called `--adapter`."""

import argparse
from collections.abc import Sequence

from farhand.model.errors import BadUsage

NAMED = "named_backend"


def add_agent(parser: argparse.ArgumentParser, about: str) -> None:
    """Takes the agent either way; call it before the command's other words are added."""
    parser.add_argument("backend", nargs="?", default="", help=about)
    parser.add_argument("--backend", "--adapter", dest=NAMED, metavar="BACKEND", default="", help="the same, as a flag")


def settle_agent(arguments: argparse.Namespace, following: Sequence[str], *, needed: bool = True) -> None:
    """With the flag, the first word is the one that else follows the agent, and so on: `following` in their order."""
    given = vars(arguments)
    named, first = given[NAMED], given["backend"]
    if named and first and named != first:
        words = [first, *(given[name] for name in following)]
        if words[-1]:
            raise BadUsage(f"Two agents are named: {first} and {named}.")
        given.update(zip(following, words, strict=False))
    given["backend"] = named or first
    if needed and not given["backend"]:
        raise BadUsage("Missing: backend", hints=("farhand agents lists them",))

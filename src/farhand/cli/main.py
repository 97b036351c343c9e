"""The command `farhand`: finds the command that is meant and loads only that one."""

import os
import sys
from importlib import import_module

from farhand.cli.slash_help import MIRRORED

COMMANDS = {
    "run": "start a node, and talk to its team here when this is a terminal",
    "chat": "talk to a node's team in this terminal",
    "say": "give a worker a message",
    **MIRRORED,
    "answer": "settle a question that waits",
    "ask": "ask an agent in this folder, without a node",
    "events": "print the journal, and follow it",
    "status": "tell how a node is",
    "stop": "stop a node; its agents live on",
    "clean": "forget who the manager is, so that somebody can register anew",
    "adapter": "call an agent CLI once for a worker and post its answer",
    "hook": "put hooks into an agent CLI's settings, take them out, try them",
}

USAGE = """usage: farhand <command> [options]

Run a team of coding agents from a phone.

commands:
{commands}

`farhand <command> --help` tells more. `-n NAME` or NODE_NAME names the node (default: prod).
Exit codes: 0 success, 1 runtime error, 2 wrong usage, 3 something is not configured, 4 something is not installed.
"""


def usage() -> str:
    """The help that needs nothing loaded."""
    return USAGE.format(commands="\n".join(f"  {name:<11}{text}" for name, text in COMMANDS.items()))


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in ("-h", "--help", "help"):
        sys.stdout.write(usage())
        return 0
    if given[0] in ("-V", "--version", "version"):
        from farhand import __version__

        sys.stdout.write(f"farhand {__version__}\n")
        return 0
    name = given[0]
    if name not in COMMANDS:
        sys.stderr.write(f"error: Unknown command: {name}\n→ farhand --help\n")
        return 2
    return _run(name, given[1:])


def _run(name: str, rest: list[str]) -> int:
    import argparse

    command = import_module(f"farhand.cli.{name}")
    parser = argparse.ArgumentParser(prog=f"farhand {name}", description=COMMANDS[name].capitalize() + ".")
    command.add_arguments(parser)
    try:
        parsed = parser.parse_args(rest)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    from farhand.model.errors import FarhandError

    try:
        return int(command.run(parsed))
    except FarhandError as error:
        sys.stderr.write(f"error: {error.text}\n")
        for line in error.details.get("hints", ()):
            sys.stderr.write(f"→ {line}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has enough of it; what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    raise SystemExit(main())

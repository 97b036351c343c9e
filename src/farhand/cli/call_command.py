"""Calls one command: the env file first, then its flags; whatever it raises becomes a sentence and an exit code."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from farhand.cli.flags import parse
from farhand.cli.global_flags import env_files
from farhand.config.env_file import is_shared, read_env_file
from farhand.model.errors import BadUsage, FarhandError, NodeError
from farhand.model.visible import for_terminal

# Commands whose output is what they are called for: --quiet leaves it.
ANSWERING = frozenset(
    "adapter agents ask chat completion digest doctor events inbox logs quiet".split()
    + "remote say sessions setup status tui".split()
)
FOLDER_HINTS = ("it is another user's, or closed to you; FARHAND_HOME says where nodes are kept",)
FOR_ALL = frozenset(("stop", "status"))


def call(name: str, about: str, command: ModuleType, before: Sequence[str], rest: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    verbose = not {"-v", "--verbose"}.isdisjoint([*before, *rest])
    try:
        read = source(env_files(list(before), list(rest)))
        arguments = parse(f"farhand {name}", about, command, before, rest)
        arguments.from_env_file = read
        return _obey(name, command, arguments)
    except FarhandError as error:
        return tell_error(error, verbose=verbose)
    except PermissionError as error:
        closed = f"{error.filename} cannot be used: {error.strerror}."
        return tell_error(NodeError(closed, hints=FOLDER_HINTS), verbose=verbose)
    except BaseExceptionGroup as group:
        # What went wrong in one of several tasks.
        told, others = group.split(FarhandError)
        if told is None or others is not None:
            raise
        return tell_error(_first(told), verbose=verbose)


def _first(group: BaseExceptionGroup[FarhandError]) -> FarhandError:
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


def source(paths: Sequence[str]) -> list[str]:
    """Puts the variables of these files into the environment, as a shell would; their names."""
    names: list[str] = []
    for path in paths:
        found = read_env_file(Path(path))
        if is_shared(Path(path)) and any(name.endswith(("TOKEN", "SECRET", "KEY")) for name in found):
            sys.stderr.write(f"⚠ {path} holds a secret and others may read it: chmod 600 {path}\n")
        os.environ.update(found)
        names += found
    return names


def _obey(name: str, command: ModuleType, arguments: argparse.Namespace) -> int:
    if arguments.all and name not in FOR_ALL and "all" not in own_flags(command):
        raise BadUsage("--all is for stop and status.", hints=(f"farhand {name} --node <name>",))
    if arguments.no_color:
        os.environ["NO_COLOR"] = "1"
    if not arguments.quiet or name in ANSWERING:
        return int(command.run(arguments))
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        return int(command.run(arguments))


def own_flags(command: ModuleType) -> set[str]:
    """Where the values of the command's own flags go."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return {action.dest for action in parser._actions}


def tell_error(error: FarhandError, *, verbose: bool = False) -> int:
    """Says what went wrong and what to do about it; the exit code."""
    # A node elsewhere, or an agent, may have written it.
    sys.stderr.write(f"error: {for_terminal(error.text)}\n")
    for line in error.details.get("hints", ()):
        sys.stderr.write(f"→ {for_terminal(str(line))}\n")
    if verbose:
        fields = {name: value for name, value in error.details.items() if name != "hints"}
        sys.stderr.write(for_terminal(f"  {error.code} {fields}\n"))
    return error.exit_code

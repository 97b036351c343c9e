"""The flags that every command takes, before or after its name, and a parser that complains in one sentence."""

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from farhand.cli.global_flags import GLOBAL_FLAGS
from farhand.model.errors import BadUsage

_INVALID = re.compile(r"argument (?P<name>\S+): invalid choice: (?P<value>.*) \(choose from (?P<known>.*)\)", re.DOTALL)


class CommandParser(argparse.ArgumentParser):
    """Takes flags as they are written, whole, and raises BadUsage with what is wrong."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raises instead of leaving."""
        raise BadUsage(_sentence(message), hints=(f"{self.prog} --help",))


def _sentence(message: str) -> str:
    unknown = message.removeprefix("unrecognized arguments: ")
    if unknown != message:
        first = unknown.split()[0] if unknown.split() else unknown
        return f"Unknown flag: {first.split('=')[0]}" if first.startswith("-") else f"Unexpected argument: {first}"
    if (missing := message.removeprefix("the following arguments are required: ")) != message:
        return f"Missing: {missing}"
    if match := _INVALID.fullmatch(message):
        return f"{match['name']} cannot be {match['value']}; one of {match['known']}"
    return message.removeprefix("argument ")


def add_global_flags(parser: argparse.ArgumentParser) -> None:
    """Adds those that the command has not defined itself, unseen in its help."""
    taken = parser._option_string_actions  # argparse has no other way to ask
    dests = {action.dest for action in parser._actions}
    for flag in GLOBAL_FLAGS:
        names = [name for name in flag.names if name not in taken]
        if not names:
            if flag.dest not in dests:
                parser.set_defaults(**{flag.dest: flag.default})
            continue
        kind: dict[str, Any] = {"action": "append"} if flag.many else {} if flag.value else {"action": "store_true"}
        parser.add_argument(*names, dest=flag.dest, default=flag.default, help=argparse.SUPPRESS, **kind)


def parse(prog: str, about: str, command: Any, before: Sequence[str], rest: Sequence[str]) -> argparse.Namespace:
    """What was given: flags before the command's name, then those behind it, which win."""
    first = CommandParser(prog="farhand", add_help=False)
    add_global_flags(first)
    given = first.parse_args(list(before))
    parser = command_parser(prog, about, command)
    own = {flag.dest for flag in GLOBAL_FLAGS} & {action.dest for action in parser._actions}
    # What stands before the command is kept where nothing behind it says otherwise.
    for flag in GLOBAL_FLAGS:
        if getattr(given, flag.dest) == flag.default and flag.dest in own:
            delattr(given, flag.dest)
    return parser.parse_args(list(rest), given)


def command_parser(prog: str, about: str, command: Any) -> CommandParser:
    """The parser of one command, with the flags of all."""
    parser = CommandParser(prog=prog, description=about, epilog="Flags of every command: farhand --help")
    command.add_arguments(parser)
    add_global_flags(parser)
    return parser

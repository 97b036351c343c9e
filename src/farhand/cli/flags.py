"""The flags that every command takes, before or after its name, and a parser that complains in one sentence."""

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from farhand.cli.agent_flag import NAMED
from farhand.cli.global_flags import GLOBAL_FLAGS, nearest
from farhand.model.errors import BadUsage
from farhand.model.lazy_pattern import lazy_pattern

UNKNOWN = "unrecognized arguments: "
_INVALID = lazy_pattern(
    r"argument (?P<name>\S+): invalid choice: (?P<value>.*) \(choose from (?P<known>.*)\)", re.DOTALL
)


class CommandParser(argparse.ArgumentParser):
    """Takes flags as they are written, whole, and raises BadUsage with what is wrong."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raises instead of leaving."""
        meant = self._meant(message)
        hints = (*([f"did you mean: {meant}?"] if meant else []), f"{self.prog} --help")
        raise BadUsage(_sentence(message, self._choices()), hints=hints)

    def _meant(self, message: str) -> str:
        unknown = message.removeprefix(UNKNOWN).split()
        is_flag = message.startswith(UNKNOWN) and unknown and unknown[0].startswith("--")
        return nearest(unknown[0].partition("=")[0], self._option_string_actions) if is_flag else ""

    def _choices(self) -> dict[str, str]:
        """The words that each argument without a flag takes, where they are a few."""
        return {
            str(action.metavar or action.dest): ", ".join(map(str, action.choices))
            for action in self._actions
            if action.choices and not action.option_strings
        }


def _sentence(message: str, choices: Mapping[str, str]) -> str:
    unknown = message.removeprefix(UNKNOWN)
    if unknown != message:
        first = unknown.split()[0] if unknown.split() else unknown
        return f"Unknown flag: {first.split('=')[0]}" if first.startswith("-") else f"Unexpected argument: {first}"
    if (missing := message.removeprefix("the following arguments are required: ")) != message:
        first, *others = missing.split(", ")
        return f"Missing: one of {choices[first]}" if first in choices else f"Missing: {', '.join([first, *others])}"
    if match := _INVALID.fullmatch(message):
        if match["name"] in choices:
            return f"{match['value']} is none of {choices[match['name']]}"
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
    # Where the first word may be left out, the others are known only when all flags are.
    is_mixed = any(action.dest == NAMED for action in parser._actions)
    return (parser.parse_intermixed_args if is_mixed else parser.parse_args)(list(rest), given)


def command_parser(prog: str, about: str, command: Any) -> CommandParser:
    """The parser of one command, with the flags of all."""
    parser = CommandParser(prog=prog, description=about, epilog="Flags of every command: farhand --help")
    command.add_arguments(parser)
    add_global_flags(parser)
    return parser

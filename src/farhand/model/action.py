"""What an agent asks leave for, whichever agent it is: the kind of it, and what it is done to. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from farhand.model.words import Word

HEADLINE_CHARACTERS: Final = 240


class ActionKind(StrEnum):
    """What would be done."""

    RUN = "run"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    READ = "read"
    FETCH = "fetch"
    # Any other tool, with its arguments as they are.
    CALL = "call"


class Action(Word):
    """What would be done, to what: the command, the address, the arguments, or the paths; raw and whole."""

    kind: ActionKind
    target: str = ""
    paths: tuple[str, ...] = ()
    # The tool, by the name that the agent has for it.
    tool: str = ""
    # Where those of the paths lead that a link leads out of the folder.
    leads: tuple[str, ...] = ()


_VERBS: Final = {
    ActionKind.RUN: "Run:",
    ActionKind.WRITE: "Write",
    ActionKind.EDIT: "Edit",
    ActionKind.DELETE: "Delete",
    ActionKind.READ: "Read",
    ActionKind.FETCH: "Fetch",
}


def run(command: str) -> Action:
    """A command for a shell."""
    return Action(kind=ActionKind.RUN, target=command)


def files(kind: ActionKind, *paths: str) -> Action:
    """Something done to files."""
    return Action(kind=kind, target=", ".join(paths), paths=paths)


def call(tool: str, arguments: str) -> Action:
    """A tool of which nothing is known but its name, with its arguments."""
    return Action(kind=ActionKind.CALL, target=arguments, tool=tool)


def headline(action: Action) -> str:
    """What would be done, in one line; what is cut off is counted."""
    verb = _VERBS.get(action.kind) or f"Use {action.tool or 'a tool'}:"
    return f"{verb} {on_one_line(action.target)}".strip().removesuffix(":")


def on_one_line(text: str, most: int = HEADLINE_CHARACTERS) -> str:
    """The text on one line, with its line ends to be seen, and with a count of what is cut off."""
    line = " ".join(" ⏎ ".join(part.strip() for part in text.strip().splitlines()).split())
    return line if len(line) <= most else f"{line[:most].rstrip()}… ({len(line) - most:,} characters more)"

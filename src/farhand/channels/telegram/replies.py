"""Telegram's menu of commands: the table's, then a shortcut for every worker. Pure."""

import re

from farhand.model import slash
from farhand.model.grammar import CHAT
from farhand.model.present import Present
from farhand.model.slash import Surface

MOST_COMMANDS = 100
COMMAND = re.compile(r"[a-z0-9_]{1,32}\Z")


def menu(present: Present, surface: Surface = CHAT) -> list[tuple[str, str]]:
    """The commands that the table offers in a menu, then a shortcut for every worker whose name Telegram can take."""
    names = ((name.replace("-", "_"), f"Talk to {name}") for name in sorted(present.workers))
    shortcuts = [(name, text) for name, text in names if COMMAND.match(name)]
    return [*slash.menu(surface), *shortcuts][:MOST_COMMANDS]

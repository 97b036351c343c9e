"""Telegram's menu of commands: ours, then a shortcut for every worker. Pure."""

import re

from farhand.model.present import Present

MENU = (
    ("team", "Show the team"),
    ("focus", "Choose whom to talk to"),
    ("progress", "How the focused worker stands"),
    ("learn", "Ask what was learned"),
    ("pause", "Stop what is running"),
    ("relaunch", "Restart a worker"),
    ("settings", "Show the settings"),
    ("hire", "Add a worker"),
    ("end", "Let a worker go"),
)
MOST_COMMANDS = 100
COMMAND = re.compile(r"[a-z0-9_]{1,32}\Z")


def menu(present: Present) -> list[tuple[str, str]]:
    """Telegram's menu: our commands, then a shortcut for every worker whose name Telegram can take."""
    names = ((name.replace("-", "_"), f"Talk to {name}") for name in sorted(present.workers))
    shortcuts = [(name, text) for name, text in names if COMMAND.match(name)]
    return [*MENU, *shortcuts][:MOST_COMMANDS]

"""What the channel itself says to the manager: short answers to commands, the team, the menu. Pure."""

import re

from farhand.channels.telegram.parse import Question
from farhand.model import commands
from farhand.model.commands import Accepted, Command
from farhand.model.present import Present

MENU = (
    ("team", "Show the team"),
    ("focus", "Choose whom to talk to"),
    ("hire", "Add a worker"),
    ("pause", "Stop what is running"),
    ("relaunch", "Restart a worker"),
    ("end", "Let a worker go"),
)
MOST_COMMANDS = 100
COMMAND = re.compile(r"[a-z0-9_]{1,32}\Z")


def said_of(command: Command, accepted: Accepted) -> str:
    """The answer to a command that facts will not answer by themselves."""
    name = accepted.worker.capitalize()
    match command:
        case commands.Focus():
            return f"Now talking to {name}."
        case commands.Relaunch():
            return f"Bringing {name} back online..."
        case _:
            return ""


def told(question: Question, present: Present, at: float) -> str:
    """The answer to a question."""
    if not present.workers:
        return "No team members yet. Add someone with /hire <name>."
    lines = [
        f"- {worker.name} ({', '.join(part for part in parts if part)})"
        for worker in present.workers.values()
        for parts in [
            (
                "focused" if worker.name == present.focus else "",
                worker.state_at(at),
                f"{len(worker.queue)} waiting" if worker.queue else "",
                f"backend={worker.backend}",
            )
        ]
    ]
    greeting = "I'm online and ready.\n" if question.about == "start" else ""
    return "\n".join([f"{greeting}Your team:", f"Focused: {present.focus or '(none)'}", "Workers:", *lines])


def menu(present: Present) -> list[tuple[str, str]]:
    """Telegram's menu: our commands, then a shortcut for every worker whose name Telegram can take."""
    names = ((name.replace("-", "_"), f"Talk to {name}") for name in sorted(present.workers))
    shortcuts = [(name, text) for name, text in names if COMMAND.match(name)]
    return [*MENU, *shortcuts][:MOST_COMMANDS]

"""What can go wrong between us and tmux, each a sentence for a person.

TmuxError
├── TmuxMissing     there is no tmux program
├── TmuxGone        the server or our client of it has ended
└── TmuxRefused     tmux did not accept a command
"""

from __future__ import annotations


class TmuxError(Exception):
    """Something about tmux went wrong."""


class TmuxMissing(TmuxError):
    """There is no tmux to run."""

    def __init__(self, program: str) -> None:
        super().__init__(f"There is no '{program}' on this machine's PATH: install the package tmux.")


class TmuxGone(TmuxError):
    """The tmux server has ended, or cut us off."""

    def __init__(self) -> None:
        super().__init__("The tmux server has ended; its sessions ended with it.")


class TmuxRefused(TmuxError):
    """tmux answered a command with an error."""

    def __init__(self, command: tuple[str, ...], answer: str) -> None:
        super().__init__(f"tmux did not accept '{command[0]}': {answer}")
        self.command = command
        self.answer = answer

"""What can go wrong between us and tmux, each a sentence for a person.

TmuxError
├── TmuxMissing     there is no tmux program
├── TmuxGone        the server or our client of it has ended
│   └── TmuxUnreachable     this user cannot use the server's socket
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

    def __init__(self, text: str = "The tmux server has ended; its sessions ended with it.") -> None:
        super().__init__(text)


class TmuxUnreachable(TmuxGone):
    """tmux could not get at its socket; whether a server runs there, nobody can tell."""

    def __init__(self, said: str) -> None:
        super().__init__(
            f"tmux cannot be used: {said.rstrip('.')}. Its socket must be in a folder of this user; "
            "FARHAND_TMUX_SOCKET names another one."
        )


class TmuxRefused(TmuxError):
    """tmux answered a command with an error."""

    def __init__(self, command: tuple[str, ...], answer: str) -> None:
        super().__init__(f"tmux did not accept '{command[0]}': {answer}")
        self.command = command
        self.answer = answer

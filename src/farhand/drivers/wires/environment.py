"""The environment of an agent's CLI: variables that every CLI may need, and secrets that none may see."""

from __future__ import annotations

from typing import Final

# Never in an agent's environment, whatever the tmux server has in its own.
SECRETS: Final = ("TELEGRAM_BOT_TOKEN", "TELEGRAM_WEBHOOK_SECRET")
# What a CLI runs git and editors with.
USUAL_VARIABLES: Final = frozenset("SSH_AUTH_SOCK GIT_SSH_COMMAND EDITOR VISUAL".split())


def without_secrets(words: list[str]) -> list[str]:
    """A command line that runs without the secrets, even in a shell that has them."""
    return ["env", *(word for name in SECRETS for word in ("-u", name)), *words]

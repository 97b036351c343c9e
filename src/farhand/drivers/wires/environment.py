"""The environment of an agent's CLI: variables that every CLI may need."""

from __future__ import annotations

from typing import Final

# What a CLI runs git and editors with.
USUAL_VARIABLES: Final = frozenset("SSH_AUTH_SOCK GIT_SSH_COMMAND EDITOR VISUAL".split())

"""The command line by which an agent's CLI runs our hook program."""

from __future__ import annotations

import shlex
from pathlib import Path


def hook_command(interpreter: str, program: Path, *words: str) -> str:
    """Runs the program in the place of the shell. Where it is not there it says nothing: Python would end with 2,
    which the CLIs take for a no of the hook's, and nobody would be asked."""
    run = shlex.join([interpreter, "-I", "-S", str(program), *words])
    return f"test ! -r {shlex.quote(str(program))} || exec {run}"

"""Completion in the shells that are here: what is offered comes from the parsers."""

import shutil
import subprocess
import sys

import pytest

from farhand.cli.completion import SHELLS
from farhand.cli.main import COMMANDS


def script(shell: str) -> str:
    command = [sys.executable, "-m", "farhand", "completion", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def offered(words: list[str]) -> list[str]:
    """What bash would offer for the last of these words."""
    typed = " ".join(f'"{word}"' for word in words)
    ask = f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _farhand; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script('bash')}\n{ask}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_offers_commands_their_flags_and_their_words() -> None:
    assert offered(["farhand", "rest"]) == ["restart"]
    assert set(offered(["farhand", ""])) >= set(COMMANDS)
    assert offered(["farhand", "stop", "--keep"]) == ["--keep-workers"]
    assert offered(["farhand", "-q", "stop", "--keep"]) == ["--keep-workers"]
    assert offered(["farhand", "hook", "un"]) == ["uninstall"]
    assert offered(["farhand", "status", "--env"]) == ["--env-file"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_every_command(shell: str) -> None:
    told = script(shell)
    assert all(name in told for name in COMMANDS)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=told, text=True, check=False).returncode == 0

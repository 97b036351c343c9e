"""Completion in the shells that are here: what is offered comes from the parsers."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS

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


def test_bash_offers_what_a_flag_takes() -> None:
    assert offered(["farhand", "hire", "ann", "--mode", "p"]) == ["plan"]
    assert offered(["farhand", "hire", "ann", "--backend", "cl"]) == ["claude", "cline"]
    assert offered(["farhand", "hire", "ann", "--adapter", "gem"]) == ["gemini"]
    assert offered(["farhand", "restart", "--reach", ""]) == ["auto", "tailscale", "cloudflared", "none"]
    # Whatever it is, a flag it is not.
    assert offered(["farhand", "hire", "ann", "--model", ""]) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_every_command(shell: str) -> None:
    told = script(shell)
    assert all(name in told for name in COMMANDS)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=told, text=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not here")
@pytest.mark.parametrize(
    ("typed", "whole"),
    [("farhand rest", "restart"), ("farhand stop --keep", "--keep-workers"), ("farhand hook un", "uninstall")],
)
def test_zsh_completes_at_its_own_prompt(tmp_path: Path, typed: str, whole: str) -> None:
    (tmp_path / "_farhand").write_text(script("zsh"))
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm", "HOME": str(tmp_path)}
        os.execlp("zsh", "zsh", "-f")
    prepare = (
        f"PS1=; autoload -Uz compinit; compinit -u -d {tmp_path}/kept; source {tmp_path}/_farhand; print ready$((1))\n"
    )
    try:
        os.write(terminal, prepare.encode())
        read_until(terminal, "ready1")
        os.write(terminal, f"{typed}\t".encode())
        read_until(terminal, whole)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def read_until(terminal: int, wanted: str) -> str:
    """What the terminal shows, up to what is waited for; without it, all that came before the safety net."""
    shown, deadline = "", time.monotonic() + SAFETY_SECONDS
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 0.5)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
        assert "unrecognized" not in shown, shown
    return shown


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not here")
def test_fish_offers_commands_their_flags_and_their_words() -> None:
    for typed, whole in (
        ("farhand rest", "restart"),
        ("farhand stop --keep", "--keep-workers"),
        ("farhand hook un", "uninstall"),
        ("farhand hire ann --mode p", "plan"),
    ):
        ask = f"{script('fish')}\ncomplete -C '{typed}'\n"
        done = subprocess.run(["fish", "--no-config"], input=ask, capture_output=True, text=True, check=True)
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [whole]

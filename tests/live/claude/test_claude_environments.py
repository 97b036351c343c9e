"""No program that the node starts ever gets a secret of the node: not in its environment, not on its command line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest

from farhand.store import folder
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import say, use
from farhand.testing.phone import Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")]
# What strace writes of one program that was started: its path, its words and its whole environment.
STARTED = re.compile(r'^execve\("([^"]+)", (.*)\) = 0$')
SECRET = "a-secret-of-the-webhook"


def started(trace: Path) -> list[tuple[str, str]]:
    """Every program that was started: its name, and all that it was given; each process has a file of its own."""
    files = sorted(trace.parent.glob(f"{trace.name}.*"), key=lambda one: int(one.suffix[1:]))
    lines = (line for one in files for line in one.read_text(errors="replace").splitlines())
    return [(Path(one[1]).name, one[2]) for one in map(STARTED.match, lines) if one]


def carriers(secrets: Iterable[str], home: Path) -> set[str]:
    """The running programs of that home that have a secret in their environment or on their command line."""
    wanted, found = [one.encode() for one in secrets], set()
    for entry in Path("/proc").iterdir():
        try:
            given = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if str(home).encode() in given and any(one in given for one in wanted):
                found.add((entry / "comm").read_text().strip())
        except OSError:
            continue
    return found


async def test_no_program_that_the_node_starts_gets_a_secret_of_it(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    trace = cli_env.folder / "started"
    watch = ["strace", "-ff", "--seccomp-bpf", "-qq", "-v", "-s", "100000", "-e", "trace=execve", "-e", "signal=none"]
    # Behind a shell, as `make`, `uv run` and many others start a node: that one keeps the token.
    starter = [*watch, "-o", str(trace), "/bin/sh", "-c", '"$@"; exit', "the-shell-above"]
    script = cli_env.model.script
    script.conversation("zz-tmux", use("Bash", command="git status; env", description="Look"), say("seen in tmux"))
    script.conversation("zz-held", use("Bash", command="git status; env", description="Look"), say("seen in a holder"))
    async with with_phone(cli_env, bot, starter, TELEGRAM_WEBHOOK_SECRET=SECRET) as phone:
        await works(phone, "ann", "", "zz-tmux", "seen in tmux")
        await works(phone, "bob", " --headless", "zz-held", "seen in a holder")
        key = folder.key(cli_env.folder / "farhand" / "nodes" / "test" / "key")
        secrets = [bot.token, bot.token.partition(":")[2], SECRET, key]
        running = await anyio.to_thread.run_sync(carriers, secrets, cli_env.folder)
    assert running <= {"strace", "sh"}
    programs = started(trace)
    given = [(name, words) for name, words in programs if any(secret in words for secret in secrets)]
    # The shell that was handed it, and the node itself, which has wiped it since.
    assert [name for name, _ in given][:1] == ["sh"]
    assert len(given) == 2
    assert "farhand" in given[1][1]
    assert {"tmux", "git", "claude"} <= {name for name, _ in programs}
    assert [words for _, words in programs if "farhand-hook" in words]
    assert [words for _, words in programs if "farhand.sandbox.holder" in words or "holder" in words]
    warned = next(line for line in (cli_env.folder / "node.log").read_text().splitlines() if "still in the env" in line)
    assert "sh (pid " in warned
    assert bot.token not in warned


async def works(phone: Phone, name: str, how: str, words: str, answer: str) -> None:
    """Hires somebody who asks, says yes, and waits for the answer."""
    await phone.manager.says(f"/hire {name} --ask{how}")
    await phone.reads(f"{name.capitalize()} is added")
    await phone.manager.says(f"@{name} {words}")
    await phone.manager.taps(await phone.asks("git status"), "Allow once")
    await phone.hears(answer)

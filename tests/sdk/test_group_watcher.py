"""What a command started ends with the agent's process, also when that is killed and can do nothing itself any more."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, sys
from pathlib import Path
from farhand.sdk.shell import WorkspaceShell

async def main() -> None:
    shell = WorkspaceShell(Path("."), {"PATH": "/usr/bin:/bin"})
    if sys.argv[1] == "left":
        print((await shell.exec("sleep 600 >/dev/null 2>&1 & echo $!")).stdout.strip(), flush=True)
    else:
        running = await shell.start("sleep 600 & echo $!; wait")
        async for line in running.lines():
            print(line, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
A_HANGING_TEST_ENDS_SECONDS = 300


def gone(descriptor: int) -> bool:
    """Waits for the end of a process."""
    watch = select.poll()
    watch.register(descriptor, select.POLLIN)
    return bool(watch.poll(A_HANGING_TEST_ENDS_SECONDS * 1000))


@pytest.mark.parametrize("how", ["running", "left"])
def test_a_killed_agent_leaves_no_process(how: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, how]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        descriptor = os.pidfd_open(int(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
    assert gone(descriptor)
    os.close(descriptor)


def test_what_a_hook_left_running_goes_on(home: Path) -> None:
    """A hook may start something that outlives the agent; the person who wrote it meant it to."""
    program = """
import asyncio
from farhand.sdk import Agent, FakeModel
answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}
model = FakeModel([{"method": "generateContentStream", "response": [answer]}])
asyncio.run(Agent(model=model).send("hi"))
"""
    settings = '{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "%s"}]}]}}'
    (home / ".gemini").mkdir(exist_ok=True)
    line = "sleep 600 >/dev/null 2>&1 & echo $! > left.txt"
    (home / ".gemini" / "settings.json").write_text(settings % line)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    subprocess.run([sys.executable, "-c", program], cwd=home, env=environ, check=True, timeout=120)
    left = int((home / "left.txt").read_text())
    os.kill(left, signal.SIGKILL)

"""`farhand remote` on a node's team, with an agent that has no terminal of its own, and when things go wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.conftest import PROGRAMS
from tests.live.nodes import Home

from farhand.testing.leftovers import nothing_new_runs, processes_of
from farhand.testing.models.gemini import FakeGemini
from farhand.testing.ports import lasting_port
from farhand.testing.remote_targets import open_target
from farhand.testing.tmux import Screen, terminal

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]
SAFETY_SECONDS = 240.0
# Every look is a start of curl.
LOOK_SECONDS = 0.2


class Place:
    """A home with a node, a terminal in it, and programs beside it."""

    def __init__(self, home: Home, screen: Screen) -> None:
        self.home, self._screen = home, screen

    async def farhand(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return await anyio.to_thread.run_sync(partial(self.home.farhand, *arguments))

    async def type(self, *arguments: str) -> None:
        line = f"clear; {' '.join(self.home.command(*arguments))}; echo left with $?"
        await anyio.to_thread.run_sync(self._screen.type, line)

    async def sees(self, text: str) -> str:
        return await anyio.to_thread.run_sync(self._screen.wait, lambda shown: text in shown, repr(text))

    async def press(self, *keys: str) -> None:
        for key in keys:
            await anyio.to_thread.run_sync(self._screen.press, key)


@asynccontextmanager
async def place(folder: Path, directory: Path, **variables: str) -> AsyncIterator[Place]:
    home = Home(folder, PS1="$ ", TMPDIR=str(folder), **variables)
    with terminal(directory, home.environment, columns=110, rows=40) as screen:
        try:
            opened = Place(home, screen)
            await opened.sees("$")
            yield opened
        finally:
            # It runs an event loop of its own.
            await anyio.to_thread.run_sync(home.end_agents)


async def curl(port: int, path: str) -> str:
    order = ["curl", "-sS", "--noproxy", "*", f"http://localhost:{port}{path}"]
    done = await anyio.run_process(order, check=False)
    return done.stdout.decode()


async def ready(port: int) -> None:
    """Returns when something can be said."""
    with anyio.fail_after(SAFETY_SECONDS):
        while '"ready":true' not in await curl(port, "/status"):  # noqa: ASYNC110
            await anyio.sleep(LOOK_SECONDS)


async def until_history(port: int, wanted: list[dict[str, str]]) -> None:
    """Returns when these are the last things that were said."""
    with anyio.fail_after(SAFETY_SECONDS):
        while json.loads(await curl(port, f"/history?limit={len(wanted)}")) != wanted:  # noqa: ASYNC110
            await anyio.sleep(LOOK_SECONDS)


async def test_it_joins_a_team_and_lives_on_there(short_folder: Path, tmux_server: tuple[str, ...]) -> None:
    if not (PROGRAMS / "claude").exists():
        pytest.skip("the agent CLIs are not installed: sh scripts/setup-tests.sh")
    async with open_target("claude", short_folder, tmux_server, ROOT) as target:
        own = {name: value for name, value in target.cli_env.environment.items() if name not in ("HOME", "TERM")}
        variables = {**own, "HOME": str(target.cli_env.home), "FARHAND_TMUX_SOCKET": str(short_folder / "workers")}
        for marker, text in (("zz-say", "Said elsewhere."), ("zz-url", "From far away."), ("zz-http", "Over HTTP.")):
            target.script.answers(marker, text)
        async with place(short_folder, target.cli_env.project, **variables) as person:
            await anyio.to_thread.run_sync(person.home.start)
            port = lasting_port()
            await person.type("remote", "--as", "ann", "--node", "test", "--port", str(port), "--", "claude")
            await person.sees("manual mode on")
            # The phone's way: what is said to the worker is in the terminal here.
            said = await person.farhand("say", "--node", "test", "-w", "ann", "--wait", "zz-say hello")
            assert said.stdout.strip() == "Said elsewhere."
            await person.sees("Said elsewhere.")
            # Both hear of the turn's end, the command and this terminal, and neither waits for the other.
            await until_history(
                port, [{"role": "user", "text": "zz-say hello"}, {"role": "model", "text": "Said elsewhere."}]
            )
            # A node elsewhere: the same commands, with its address and its key.
            folder = person.home.node_folder()
            person.home.environment["FARHAND_NODE_KEY"] = (folder / "key").read_text().strip()
            address = f"http://127.0.0.1:{(folder / 'port').read_text().strip()}"
            far = await person.farhand("say", "--url", address, "-w", "ann", "--wait", "zz-url hello")
            assert far.stdout.strip() == "From far away."
            events = await person.farhand("events", "--url", address, "-w", "ann")
            assert "From far away." in events.stdout
            # Who leaves leaves the agent where it is, and may come back.
            await person.press("C-b", "d")
            await person.sees("left with 0")
            assert await curl(port, "/status") == ""
            status = json.loads((await person.farhand("status", "--node", "test", "--json")).stdout)
            assert "ann" in json.dumps(status)
            await person.type("remote", "--as", "ann", "--node", "test")
            await person.sees("From far away.")
            await person.press("C-b", "d")
            await person.sees("left with 0")
            wrong = "remote", "--as", "bob", "--node", "test"
            await person.type(*wrong)
            await person.sees("No worker called 'bob'")
        target.cli_env.forget()
    subprocess.run(["tmux", "-S", str(short_folder / "workers"), "kill-server"], check=False, capture_output=True)


async def test_an_agent_without_a_terminal_is_shown_in_ours(short_folder: Path) -> None:
    port = lasting_port()
    async with place(short_folder, short_folder) as person:
        await person.type("remote", "--port", str(port), "--", "demo")
        await person.sees("Type a message")
        await person.press("hello", "Enter")
        await person.sees("I need no key")
        assert json.loads(await curl(port, "/history"))[0] == {"role": "user", "text": "hello"}
        await person.press("C-d")
        await person.sees("left with 0")


async def test_flags_and_the_exit_code_are_the_agents_own(short_folder: Path) -> None:
    if not (PROGRAMS / "gemini").exists():
        pytest.skip("the agent CLIs are not installed: sh scripts/setup-tests.sh")
    with FakeGemini() as model:
        variables = {**model.environ(), "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
        async with place(short_folder, short_folder, **variables) as person:
            await person.type("remote", "--", "gemini", "--no-such-flag")
            shown = await person.sees("\nleft with ")
            assert "left with 0" not in shown
            assert "Traceback" not in shown
            await person.type("remote", "--", "nobody")
            await person.sees("No backend called 'nobody'")
            await person.type("remote", "--port", "nonsense", "--", "gemini")
            await person.sees("--port is a number")
            await person.type("remote")
            await person.sees("Which agent?")


@pytest.mark.parametrize("agent", ["claude", "opencode", "demo"])
async def test_a_killed_one_leaves_nothing_running(
    short_folder: Path, tmux_server: tuple[str, ...], agent: str
) -> None:
    """Agents in a terminal of their own, and those that a holder keeps."""
    if agent != "demo" and not (PROGRAMS / agent).exists():
        pytest.skip("the agent CLIs are not installed: sh scripts/setup-tests.sh")
    async with open_target("claude" if agent == "demo" else agent, short_folder, tmux_server, ROOT) as target:
        own = {name: value for name, value in target.cli_env.environment.items() if name != "TERM"}
        port = lasting_port()
        async with place(short_folder, target.cli_env.project, **own) as person:
            before = processes_of(short_folder)
            await person.type("remote", "--port", str(port), "--", agent)
            await ready(port)
            started = processes_of(short_folder)
            assert len(started) > len(before) + 1
            # A child of its own has the same words until it runs another program.
            remote = min(pid for pid, words in started.items() if "farhand remote" in words and pid not in before)
            os.kill(remote, signal.SIGKILL)
            await person.sees("left with 137")
            await nothing_new_runs(short_folder, before)
            # The terminal is the shell's again.
            await person.press("echo still here", "Enter")
            await person.sees("\nstill here")


async def test_a_closed_terminal_ends_the_agent_even_where_its_files_are_gone(
    short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    if not (PROGRAMS / "claude").exists():
        pytest.skip("the agent CLIs are not installed: sh scripts/setup-tests.sh")
    async with open_target("claude", short_folder, tmux_server, ROOT) as target:
        own = {name: value for name, value in target.cli_env.environment.items() if name != "TERM"}
        port = lasting_port()
        before = processes_of(short_folder)
        async with place(short_folder, target.cli_env.project, **own) as person:
            await person.type("remote", "--port", str(port), "--", "claude")
            await ready(port)
            # As whoever tidies up a folder of temporary files does.
            for socket in short_folder.glob("farhand-remote-*/tmux"):
                socket.unlink()
        await nothing_new_runs(short_folder, before)

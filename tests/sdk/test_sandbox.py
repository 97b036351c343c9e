"""An agent's shell commands in a sandbox: what they reach, and that nothing runs where none can be made."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Sandbox, SandboxUnavailable, SessionContext, subagent, tool
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio
needs_bubblewrap = pytest.mark.skipif(
    bool(Sandbox().problem()), reason=f"no sandbox can be made here: {Sandbox().problem()}"
)


@needs_bubblewrap
async def test_commands_see_the_workspace_and_write_there_alone(make_agent: MakeAgent, home: Path) -> None:
    (home / "secret.txt").write_text("secret")
    session = make_agent(sandbox=True).session()
    shell = session.context.shell
    assert (await shell.exec("echo hello > made.txt && cat made.txt")).stdout == "hello\n"
    assert (session.cwd / "made.txt").read_text() == "hello\n"
    assert "No such file" in (await shell.exec(f"cat {home}/secret.txt")).stderr
    assert "Read-only" in (await shell.exec("touch /usr/made.txt")).stderr
    assert (await shell.exec("mount -t tmpfs none /usr")).exit_code != 0
    # Its own processes, and nobody else's.
    assert int((await shell.exec("ls -d /proc/[0-9]* | wc -l")).stdout) < 7
    await session.close()


@needs_bubblewrap
async def test_a_folder_behind_a_link_is_the_workspace_too(
    make_agent: MakeAgent, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)
    session = make_agent(sandbox=True, cwd=tmp_path / "link").session()
    assert (await session.context.shell.exec("touch made.txt && pwd")).exit_code == 0
    assert (project / "made.txt").exists()
    await session.close()


@needs_bubblewrap
@pytest.mark.parametrize("network", [False, True])
async def test_there_is_a_network_only_where_it_is_wanted(make_agent: MakeAgent, network: bool) -> None:
    session = make_agent(sandbox=Sandbox(network=network)).session()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ended = await session.context.shell.exec(f": < /dev/tcp/127.0.0.1/{port}")
    assert (ended.exit_code == 0) is network
    await session.close()


@needs_bubblewrap
async def test_more_folders_are_shown_or_opened(make_agent: MakeAgent, tmp_path: Path) -> None:
    shown, opened = tmp_path / "shown", tmp_path / "opened"
    shown.mkdir()
    opened.mkdir()
    (shown / "tool.txt").write_text("a tool")
    session = make_agent(sandbox=Sandbox(readable=(shown,), writable=(opened,))).session()
    shell = session.context.shell
    assert (await shell.exec(f"cat {shown}/tool.txt")).stdout == "a tool"
    assert (await shell.exec(f"touch {shown}/x")).exit_code != 0
    assert (await shell.exec(f"touch {opened}/x")).exit_code == 0
    await session.close()


@needs_bubblewrap
async def test_it_holds_for_the_built_in_tool_and_for_subagents_of_both_forms(
    fake: FakeGemini, make_agent: MakeAgent, home: Path
) -> None:
    (home / "secret.txt").write_text("a secret of mine")
    look = {"command": f"cat {home}/secret.txt"}
    whole = make_agent(builtin_tools=["run_shell_command"])
    agent = make_agent(
        sandbox=True,
        builtin_tools=["run_shell_command"],
        subagents=[
            subagent(name="plain", description="Looks.", instructions="Look."),
            subagent(name="whole", description="Looks.", agent=whole),
        ],
    )
    fake.expect(calls("run_shell_command", look))
    for name in ("plain", "whole"):
        fake.expect(calls("invoke_agent", {"agent_name": name, "prompt": "look"}))
        fake.expect(calls("run_shell_command", look), says("Nothing."))
    fake.expect(says("Nothing is there."))
    await agent.send("look")
    assert "a secret of mine" not in str([request.body for request in fake.requests])
    assert str([request.body for request in fake.requests]).count("No such file") >= 3


class Labelled:
    """An engine of one's own, as a container would be."""

    def __init__(self, problem: str = "") -> None:
        self._problem = problem

    def problem(self) -> str:
        return self._problem

    def wrap(self, argv: Sequence[str], *, cwd: Path, writable: Sequence[Path]) -> list[str]:
        return ["env", f"CONFINED_TO={cwd},{','.join(map(str, writable))}", *argv]


async def test_an_engine_of_ones_own_is_asked(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    @tool
    async def look(context: SessionContext) -> str:
        """Looks."""
        return (await context.shell.exec("echo $CONFINED_TO")).stdout

    fake.expect(calls("look", {}), says("Done."))
    result = await make_agent(tools=[look], sandbox=Labelled()).send("look")
    assert result.tool_calls[0].content == f"{project},{project}\n"


def test_where_none_can_be_made_nothing_runs(make_agent: MakeAgent) -> None:
    with pytest.raises(SandboxUnavailable, match="No sandbox can be made here: the engine is off"):
        make_agent(sandbox=Labelled("the engine is off"))
    with pytest.raises(SandboxUnavailable, match="give True, Sandbox"):
        make_agent(sandbox="please")


def test_without_bubblewrap_it_says_so(tmp_path: Path) -> None:
    program = "from farhand.sdk import Agent; Agent(sandbox=True)"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "SandboxUnavailable: No sandbox can be made here: bubblewrap (bwrap) is not installed, and" in ended.stderr

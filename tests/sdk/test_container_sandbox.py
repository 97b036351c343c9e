"""An agent's shell commands in a container: what they reach, and that no container outlives its command."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.live.sandbox.engines import variables
from tests.sdk.conftest import MakeAgent

from farhand.sdk import ContainerSandbox, SandboxUnavailable
from farhand.testing.sandbox_engines import IMAGE, SYSTEM

pytestmark = pytest.mark.anyio


@pytest.fixture
def container(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> ContainerSandbox:
    """One of podman, where it runs, whose programs are this machine's."""
    found = variables("podman", tmp_path_factory.getbasetemp())
    if "CONTAINERS_CONF" in found:
        monkeypatch.setenv("CONTAINERS_CONF", found["CONTAINERS_CONF"])
    system = tuple(each for each in SYSTEM if Path(each).is_dir())
    return ContainerSandbox(image=IMAGE, engine="podman", readable=system)


async def test_commands_see_the_workspace_and_write_there_alone(
    container: ContainerSandbox, make_agent: MakeAgent, home: Path
) -> None:
    (home / "secret.txt").write_text("secret")
    environ = {**os.environ, "HOME": str(home), "GREETING": "hello"}
    session = make_agent(sandbox=container, environ=environ).session()
    shell = session.context.shell
    assert (await shell.exec("echo $GREETING > made.txt && cat made.txt")).stdout == "hello\n"
    assert (session.cwd / "made.txt").stat().st_uid == os.geteuid()
    assert "No such file" in (await shell.exec(f"cat {home}/secret.txt")).stderr
    assert "Read-only" in (await shell.exec("touch /etc/made.txt")).stderr
    assert (await shell.exec("exit 3")).exit_code == 3
    assert (await shell.exec("cat /proc/net/dev | grep -c ':'")).stdout == "1\n"
    assert "CONTAINERS_CONF" not in (await shell.exec("env")).stdout
    process = await shell.start("read word; echo $word back")
    await process.write("there\n")
    assert (await process.wait()).stdout == "there back\n"
    await session.close()


async def test_a_command_that_is_ended_leaves_no_container(container: ContainerSandbox, make_agent: MakeAgent) -> None:
    session = make_agent(sandbox=container, environ=dict(os.environ)).session()
    process = await session.context.shell.start("echo it runs; sleep 600")
    async for line in process.lines():
        assert line == "it runs"
        break
    (name,) = podman("ps", "--quiet", "--filter=name=farhand-sdk-")
    await process.kill()
    await session.close()
    podman("wait", name)
    assert podman("ps", "--quiet", f"--filter=id={name}") == []


def podman(*words: str) -> list[str]:
    return subprocess.run(["podman", *words], capture_output=True, text=True, check=False).stdout.split()


# The engine's programs, played by a script: where none is installed, and which one is taken.


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs there are."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\nimport os, sys\n{text}\n")
    path.chmod(0o755)


def test_without_an_engine_it_says_so(programs: Path) -> None:
    assert ContainerSandbox().problem() == "neither docker nor podman is installed"
    assert ContainerSandbox(engine="podman").problem() == "no podman is installed"
    program(programs, "docker", "sys.exit('Cannot connect to the daemon.')")
    assert ContainerSandbox().problem() == "docker does not run (Cannot connect to the daemon.)"


def test_without_the_image_it_says_so(programs: Path) -> None:
    program(programs, "docker", "sys.exit(sys.argv[1] == 'image')")
    problem = ContainerSandbox(image="mine:1").problem()
    assert problem == "docker has no image 'mine:1' (`farhand sandbox build` makes one)"


def test_where_bubblewrap_is_missing_the_usual_sandbox_is_a_container(tmp_path: Path, programs: Path) -> None:
    """In a process of its own: whether bubblewrap runs is asked once in each."""
    program(programs, "docker", "sys.exit(0)")
    said = in_process("print(type(Agent(sandbox=True).sandbox).__name__)", tmp_path, programs)
    assert said == "ContainerSandbox\n"
    (programs / "docker").unlink()
    said = in_process("Agent(sandbox=True)", tmp_path, programs)
    sentence = "bubblewrap (bwrap) is not installed, and neither docker nor podman is installed."
    assert f"{SandboxUnavailable.__name__}: No sandbox can be made here: {sentence}" in said


def in_process(code: str, folder: Path, programs: Path) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", f"from farhand.sdk import Agent; {code}"],
        env={"PATH": str(programs), "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout or ended.stderr


CLIENT = """
match sys.argv[1]:
    case "run":
        print(sys.argv, flush=True)
        os.execv("/bin/sleep", ["sleep", "600"])
    case "rm":
        open(os.environ["REMOVED"], "w").write(" ".join(sys.argv[2:]))
"""


def test_a_client_that_is_killed_leaves_no_container(tmp_path: Path, programs: Path) -> None:
    """The engine is told to remove it by its name, though the whole group of the client was killed."""
    program(programs, "docker", CLIENT)
    removed = tmp_path / "removed"
    os.mkfifo(removed)
    wrapped = ContainerSandbox().wrap(["bash", "-c", "true"], cwd=tmp_path, writable=[tmp_path])
    environ = {"PATH": str(programs), "REMOVED": str(removed), "GREETING": "hello", "HOME": "/root"}
    with subprocess.Popen(
        wrapped, env=environ, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        words = ast.literal_eval(client.stdout.readline())
        os.killpg(client.pid, signal.SIGKILL)
        # Opening it waits for whoever writes.
        assert removed.read_text() == f"--force {words[words.index('--name') + 1]}"
    assert {"--env=GREETING", "--env=HOME=/tmp", "--network=none", "--read-only", "--pull=never"} <= set(words)
    assert not {"--env=HOME", "--env=PATH"} & set(words)
    assert words[-3:] == ["bash", "-c", "true"]

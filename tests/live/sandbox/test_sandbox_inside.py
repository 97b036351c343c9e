"""Under bubblewrap: abstract sockets of this machine, such as an X server's, and new namespaces are out of reach."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.live.sandbox.engines import variables

from farhand.cli.check_result import GOOD, WARNING
from farhand.cli.checks import bubblewrap_result
from farhand.config.sandbox import read_sandbox
from farhand.model.present import Worker
from farhand.roster import sandboxes_of
from farhand.sandbox import inside_start
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio
# Connects to the socket outside, then to one of its own: that must work on.
CONNECTS = """
import socket, sys
def connect(name):
    with socket.socket(socket.AF_UNIX) as end:
        try:
            end.connect(name)
            return "reached"
        except OSError as error:
            return type(error).__name__
own = socket.socket(socket.AF_UNIX)
own.bind("\\0" + sys.argv[1] + "-inside")
own.listen()
print(connect("\\0" + sys.argv[1]), connect("\\0" + sys.argv[1] + "-inside"))
"""

# Tries what leads into another namespace, then what every program does.
NAMESPACES = """
import ctypes, os, subprocess, threading
library = ctypes.CDLL(None, use_errno=True)
def tried(name, *words):
    answer = library.syscall(*words)
    return f"{name} {answer} {ctypes.get_errno()}"
numbers = {"x86_64": (272, 308), "aarch64": (97, 268)}[os.uname().machine]
told = [tried("unshare", numbers[0], 0x10000000), tried("setns", numbers[1], 0, 0), tried("clone3", 435, None, 0)]
thread = threading.Thread(target=told.append, args=("a thread",))
thread.start()
thread.join()
subprocess.run(["true"], check=True)
print(", ".join([*told, "a process"]))
"""


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the whole run."""
    return tmp_path_factory.getbasetemp()


@pytest.fixture
def outside() -> Iterator[str]:
    """The name of an abstract socket that somebody on this machine listens on."""
    with socket.socket(socket.AF_UNIX) as listener:
        name = f"farhand-test-{os.getpid()}-{os.urandom(4).hex()}"
        listener.bind(f"\0{name}")
        listener.listen()
        yield name


@pytest.mark.skipif(not inside_start.knows_scopes(), reason="this kernel has no scopes in Landlock")
async def test_an_abstract_socket_of_this_machine_is_out_of_reach(short_folder: Path, outside: str, base: Path) -> None:
    assert await run_inside(short_folder, base, CONNECTS, outside) == "PermissionError reached\n"


@pytest.mark.parametrize("network", ["host", "none"])
async def test_nobody_inside_makes_a_user_namespace(short_folder: Path, base: Path, network: str) -> None:
    told = await run_inside(short_folder, base, NAMESPACES, FARHAND_SANDBOX_NETWORK=network)
    assert told == "unshare -1 1, setns -1 1, clone3 -1 38, a thread, a process\n"


async def run_inside(folder_above: Path, base: Path, program: str, *words: str, **more: str) -> str:
    """What a Python program prints that is run for a worker under bubblewrap."""
    home = folder_above / "home"
    folder, project = home / ".claude/telegram/nodes/test", home / "project"
    for one in (folder / "hooks", project):
        one.mkdir(parents=True)
    environment = {**variables("bwrap", base), "PATH": os.environ["PATH"], "HOME": str(home), **more}
    settings = replace(
        settings_in(folder_above), folder=folder, environment=environment, sandbox=read_sandbox(environment)
    )
    worker = Worker(name="ann", since=1, backend="claude", directory=str(project))
    command = [sys.executable, "-ISc", program, *words]
    start = await sandboxes_of(settings).wrapped(worker, command, {"HOME": str(home)}, terminal=False)
    done = subprocess.run(start.argv, env=start.environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


def test_doctor_tells_where_the_kernel_has_it_not() -> None:
    assert bubblewrap_result("/b", is_closed=True, is_used=True).state == GOOD
    assert bubblewrap_result("/b", is_closed=False, is_used=False).state == GOOD
    told = bubblewrap_result("/b", is_closed=False, is_used=True)
    assert told.state == WARNING
    assert "abstract sockets" in told.told


def test_a_program_that_is_not_there_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "-IS", inside_start.__file__, "no-such-program"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (inside_start.NOT_RUN, "no-such-program: No such file or directory\n")

"""Under bubblewrap with this machine's network: its abstract sockets, such as an X server's, are out of reach."""

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
from farhand.sandbox import scoped_sockets
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


@pytest.fixture
def outside() -> Iterator[str]:
    """The name of an abstract socket that somebody on this machine listens on."""
    with socket.socket(socket.AF_UNIX) as listener:
        name = f"farhand-test-{os.getpid()}-{os.urandom(4).hex()}"
        listener.bind(f"\0{name}")
        listener.listen()
        yield name


@pytest.mark.skipif(not scoped_sockets.is_supported(), reason="this kernel has no scopes in Landlock")
async def test_an_abstract_socket_of_this_machine_is_out_of_reach(
    short_folder: Path, outside: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = short_folder / "home"
    folder, project = home / ".claude/telegram/nodes/test", home / "project"
    for one in (folder / "hooks", project):
        one.mkdir(parents=True)
    environment = {**variables("bwrap", tmp_path_factory.getbasetemp()), "PATH": os.environ["PATH"], "HOME": str(home)}
    settings = replace(
        settings_in(short_folder), folder=folder, environment=environment, sandbox=read_sandbox(environment)
    )
    worker = Worker(name="ann", since=1, backend="claude", directory=str(project))
    words = [sys.executable, "-ISc", CONNECTS, outside]
    start = await sandboxes_of(settings).wrapped(worker, words, {"HOME": str(home)}, terminal=False)
    done = subprocess.run(start.argv, env=start.environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("PermissionError reached\n", "")


def test_doctor_tells_where_the_kernel_has_it_not() -> None:
    assert bubblewrap_result("/b", is_closed=True, is_used=True).state == GOOD
    assert bubblewrap_result("/b", is_closed=False, is_used=False).state == GOOD
    told = bubblewrap_result("/b", is_closed=False, is_used=True)
    assert told.state == WARNING
    assert "abstract sockets" in told.told


def test_a_program_that_is_not_there_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "-IS", scoped_sockets.__file__, "no-such-program"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (scoped_sockets.NOT_RUN, "no-such-program: No such file or directory\n")

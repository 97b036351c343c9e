"""The person's tmux is out of reach in a sandbox, wherever its socket is, with a real tmux server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.live.sandbox.conftest import Engine

from farhand.config.sandbox import read_sandbox
from farhand.model.errors import DriverError
from farhand.model.present import Worker
from farhand.roster import sandboxes_of
from farhand.sandbox.plan import same
from farhand.sandbox.tmux_sockets import tmux_in_mounts
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio


async def said_inside(folder: Path, engine: Engine, script: str, directory: Path, **given: str) -> str:
    """What a shell prints in the sandbox of a worker in that folder, on a node with those variables."""
    home = folder / "home"
    (home / ".claude/telegram/nodes/test/hooks").mkdir(parents=True)
    environment = {"PATH": os.environ["PATH"], **engine.variables, **given, "HOME": str(home)}
    environment["SANDBOX_MOUNTS"] = ",".join((engine.variables["SANDBOX_MOUNTS"], *given.get("MOUNT", "").split()))
    settings = replace(
        settings_in(folder),
        folder=home / ".claude/telegram/nodes/test",
        environment=environment,
        sandbox=read_sandbox(environment),
        tmux_socket=given.get("FARHAND_TMUX_SOCKET", ""),
    )
    worker = Worker(name="ann", since=1, backend="claude", directory=str(directory))
    words = ["/usr/bin/env", "sh", "-c", script]
    inside = {"HOME": str(home), "PATH": os.environ["PATH"]}
    start = await sandboxes_of(settings).wrapped(worker, words, inside, terminal=False)
    return subprocess.run(start.argv, env=start.environment, stdout=subprocess.PIPE, text=True, check=True).stdout


@contextmanager
def tmux_server(variables: Mapping[str, str], *words: str) -> Iterator[str]:
    """A server of the person's; the path of its socket."""
    environment = {"PATH": os.environ["PATH"], **variables}
    tmux = ["tmux", "-f", os.devnull, *words]
    subprocess.run([*tmux, "new-session", "-d", "-s", "own", "cat"], env=environment, check=True)
    told = [*tmux, "display-message", "-p", "#{socket_path}"]
    try:
        yield subprocess.run(told, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    finally:
        subprocess.run([*tmux, "kill-server"], env=environment, check=True)


@pytest.mark.parametrize("named", [False, True])
async def test_a_tmux_server_below_a_mount_is_hidden(short_folder: Path, engine: Engine, named: bool) -> None:
    project, place = short_folder / "home" / "project", short_folder / "home" / "run"
    for one in (project, place):
        one.mkdir(parents=True)
    given = {"FARHAND_TMUX_SOCKET": str(place / "mine")} if named else {"TMUX_TMPDIR": str(place)}
    with tmux_server(given, *(("-S", str(place / "mine")) if named else ())) as socket:
        inside = [socket, socket.replace(str(short_folder / "home"), "/workspace")]
        script = "; ".join(f"tmux -S {one} new-window 'touch {short_folder}/ran'; ls {one}" for one in inside)
        assert await said_inside(short_folder, engine, f"{script}; true", project, **given) == ""
    assert not (short_folder / "ran").exists()


def test_all_of_tmp_is_no_folder_for_a_sandbox() -> None:
    with pytest.raises(DriverError, match="give ann a folder below it"):
        tmux_in_mounts([], "/tmp", [same("/tmp")], "ann")
    assert tmux_in_mounts(["/tmp/tmux-0"], "/tmp/shop", [same("/tmp/shop")], "ann") == []


@pytest.mark.parametrize("mount", ["/tmp", "ro:/tmp:/inside", "/:/machine"])
async def test_all_of_tmp_is_no_mount_of_a_sandbox(short_folder: Path, engine: Engine, mount: str) -> None:
    (short_folder / "project").mkdir()
    with pytest.raises(DriverError, match="sockets of tmux"):
        await said_inside(short_folder, engine, "true", short_folder / "project", MOUNT=mount)


async def test_a_socket_among_what_the_worker_works_on_is_refused(short_folder: Path, engine: Engine) -> None:
    project = short_folder / "home" / "project"
    project.mkdir(parents=True)
    with pytest.raises(DriverError, match="holds nothing else"):
        await said_inside(
            short_folder, engine, "true", project, FARHAND_TMUX_SOCKET=str(short_folder / "home" / "mine")
        )

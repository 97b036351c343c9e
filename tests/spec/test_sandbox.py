"""Spec 2, sandbox mode: workers in Docker, played by a program that does as Docker would and keeps its orders."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home
from tests.spec.promises import promise

from farhand.channels.kit import texts
from farhand.model.present import Present
from farhand.model.sandbox import IMAGE, Mount, SandboxView

# It answers as Docker's command does; a container is the program itself, with what it was started with in a file.
DOCKER = """#!{python} -IS
import json, os, sys
words = sys.argv[1:]
with open({orders!r}, "a") as file:
    file.write(json.dumps({{"words": words, "environment": dict(os.environ)}}) + "\\n")
if words[0] == "version":
    print("27.0")
elif words[0] == "ps":
    print("c0ffee")
elif words[0] == "run":
    at = words.index({image!r}) + 1
    os.execvpe(words[at], words[at:], os.environ)
"""


class PlayedDocker:
    """What a node told Docker."""

    def __init__(self, folder: Path, image: str) -> None:
        self._orders = folder / "orders.jsonl"
        self.folder = folder / "bin"
        self.folder.mkdir()
        program = self.folder / "docker"
        program.write_text(DOCKER.format(python=sys.executable, orders=str(self._orders), image=image))
        program.chmod(0o755)

    def orders(self, verb: str) -> list[dict[str, object]]:
        """All orders of that kind, the oldest first."""
        lines = self._orders.read_text().splitlines() if self._orders.exists() else []
        said = [json.loads(line) for line in lines]
        return [one for one in said if one["words"][0] == verb]

    def until(self, verb: str, holds: Callable[[list[dict[str, object]]], bool]) -> list[dict[str, object]]:
        """All orders of that kind, once they are so: a command returns when the node has taken it."""
        ends = time.monotonic() + SAFETY_SECONDS
        while not holds(found := self.orders(verb)):
            assert time.monotonic() < ends, found
            threading.Event().wait(0.05)
        return found

    def run(self) -> list[str]:
        """The words of the first start of a container."""
        words = self.until("run", bool)[0]["words"]
        assert isinstance(words, list)
        return words


@pytest.fixture
def docker(short_folder: Path) -> PlayedDocker:
    """A Docker that has the usual image."""
    return PlayedDocker(short_folder, IMAGE)


@pytest.fixture
def home(short_folder: Path, docker: PlayedDocker) -> Iterator[Home]:
    """A home where that Docker is the only engine, and the programs of this Python are mounted."""
    folder = short_folder / "home"
    folder.mkdir()
    python = os.path.dirname(sys.executable)  # noqa: PTH120 (not resolved: a venv's own)
    path = f"{docker.folder}:{python}:/usr/bin:/bin"
    made = Home(folder, PATH=path, SANDBOX_MOUNTS=f"ro:{sys.prefix}", FARHAND_SANDBOX_ENGINE="docker")
    yield made
    made.end_agents()


def mounts(words: list[str]) -> set[str]:
    """Every mount of a container, as it was ordered."""
    return {word.removeprefix("--mount=type=bind,") for word in words if word.startswith("--mount=")}


@promise("sandbox.1", "sandbox.2", "sandbox.3", "sandbox.5", "sandbox.6", "sandbox.7", "env.8", "env.17")
def test_with_the_variable_a_worker_runs_in_a_container(home: Home, docker: PlayedDocker) -> None:
    home.environment["SANDBOX_ENABLED"] = "1"
    home.start()
    assert home.farhand("hire", "ann", "--backend", "demo").returncode == 0
    assert "You said" in home.farhand("say", "ann", "hello", "--wait").stdout
    words, node = docker.run(), home.node_folder()
    assert IMAGE in words
    assert f"source={home.folder},target=/workspace" in mounts(words)
    assert words[words.index("--workdir") + 1] == str(home.folder)
    sessions, temporary = node / "sessions", home.folder / "temporary" / "test"
    assert f"source={sessions},target={sessions},readonly" in mounts(words)
    # Pipes of its own, where others find the team's: what comes through them is from this worker.
    (pipes,) = (node / "pipes").iterdir()
    assert f"source={pipes},target={temporary},readonly" in mounts(words)
    assert f"source={temporary}/ann/inbox,target={temporary}/ann/inbox,readonly" in mounts(words)
    assert f"--tmpfs={home.folder}/temporary:rw,mode=0755,size=16m" in words
    # Its own answers are all that it leaves there.
    own = node / "sessions" / "ann"
    assert f"source={own},target={own}" in mounts(words)
    assert f"source={node},target={node}" not in mounts(words)
    assert f"--tmpfs={home.folder}/farhand:rw,mode=0755,size=16m" in words
    assert "--add-host=host.docker.internal:host-gateway" in words
    environment = docker.orders("run")[0]["environment"]
    assert isinstance(environment, dict)
    port = environment["PORT"]
    assert environment["BRIDGE_URL"] == f"http://host.docker.internal:{port}"
    assert environment["BRIDGE_SESSION"] == "ann"
    assert environment["TMUX_PREFIX"] == "claude-test-"
    assert environment["SESSIONS_DIR"] == str(node / "sessions")
    assert environment["TMUX_FALLBACK"] == "1"
    named = {word.removeprefix("--env=") for word in words if word.startswith("--env=")}
    assert {"BRIDGE_URL", "PORT", "TMUX_PREFIX", "SESSIONS_DIR", "BRIDGE_SESSION", "TMUX_FALLBACK"} <= named


@promise("cli.27", "cli.29", "cli.30", "env.9", "env.10", "env.18", "sandbox.4")
def test_the_flags_say_image_and_mounts(short_folder: Path) -> None:
    docker = PlayedDocker(short_folder, "mine:2")
    folder, data, notes = short_folder / "home", short_folder / "data", short_folder / "notes"
    for one in (folder, data, notes):
        one.mkdir()
    path = f"{docker.folder}:{Path(sys.executable).parent}:/usr/bin:/bin"
    variables = {"SANDBOX_IMAGE": "other:1", "SANDBOX_MOUNTS": f"ro:{sys.prefix},{data}:/inside"}
    home = Home(folder, PATH=path, FARHAND_SANDBOX_ENGINE="docker", **variables)
    try:
        home.start("test", "--sandbox", "--sandbox-image", "mine:2", "--mount", str(data), "--mount-ro", str(notes))
        assert home.farhand("hire", "ann", "--backend", "demo").returncode == 0
        words = docker.run()
    finally:
        home.end_agents()
    assert {
        f"source={sys.prefix},target={sys.prefix},readonly",
        f"source={data},target=/inside",
        f"source={data},target={data}",
        f"source={notes},target={notes},readonly",
    } <= mounts(words)


@promise("cli.28")
def test_no_sandbox_wins_over_the_variable(home: Home, docker: PlayedDocker) -> None:
    home.environment["SANDBOX_ENABLED"] = "1"
    home.start("test", "--no-sandbox")
    assert home.farhand("hire", "ann", "--backend", "demo").returncode == 0
    assert home.farhand("hire", "bob", "--backend", "demo", "--sandbox").returncode == 0
    runs = docker.until("run", bool)
    assert [words["environment"]["BRIDGE_SESSION"] for words in runs] == ["bob"]  # type: ignore[index]


@promise("sandbox.8")
def test_the_container_is_removed_with_a_relaunch_and_with_the_end(home: Home, docker: PlayedDocker) -> None:
    home.start("test", "--sandbox")
    assert home.farhand("hire", "ann", "--backend", "demo").returncode == 0
    first = docker.run()
    name = first[first.index("--name") + 1]
    before = len(docker.orders("rm"))
    assert home.farhand("relaunch", "ann").returncode == 0
    assert "You said" in home.farhand("say", "ann", "again", "--wait").stdout
    removed = [order["words"] for order in docker.orders("rm")[before:]]
    assert ["rm", "--force", name] in removed
    assert home.farhand("end", "ann").returncode == 0
    left = home.node_folder() / "sandboxes"
    # Where its folder was is kept until the next one starts in a sandbox.
    orders = docker.until("rm", lambda _: not list(left.glob("*.json")))
    assert ["rm", "--force", "c0ffee"] in [order["words"] for order in orders]


def test_a_node_that_cannot_sandbox_does_not_run(home: Home) -> None:
    (Path(home.environment["PATH"].split(":")[0]) / "docker").write_text("#!/bin/sh\necho no daemon >&2; exit 1\n")
    told = home.farhand("run", "--sandbox", "--no-telegram", "--no-tunnel", "--headless")
    assert told.returncode == 4
    assert told.stderr.startswith("error: Workers cannot be sandboxed: docker does not run (no daemon).\n→ install")


@promise("texts.7")
def test_settings_and_the_greeting_tell_of_the_sandbox() -> None:
    view = SandboxView(
        image="i:1",
        home="/home/mo",
        mounts=(Mount(source="/a", target="/b"), Mount(source="/c", target="/c", read_only=True)),
    )
    told = texts.settings(Present(), texts.About(version="1", token="***", storage="/s", sandbox=view))
    assert told.partition("Workers: (none)\n\n")[2] == (
        "Sandbox: enabled (Docker isolation)\nImage: i:1\nDefault mount: /home/mo → /workspace\nExtra mounts:\n"
        "  /a → /b\n  /c → /c (ro)\n\nNote: Workers run in containers with access\nonly to mounted directories. "
        "System paths\noutside mounts are not accessible."
    )
    assert texts.online(Present(), view).endswith("\nSandbox: /home/mo → /workspace")


def test_the_dockerfile_is_printed_and_built_under_the_images_name(home: Home, docker: PlayedDocker) -> None:
    assert home.farhand("sandbox", "file").stdout.splitlines()[2:4] == [
        'ARG BASE="debian:bookworm-slim"',
        "FROM ${BASE}",
    ]
    assert home.farhand("sandbox", "build").returncode == 0
    words = docker.orders("build")[0]["words"]
    assert isinstance(words, list)
    assert shlex.join(words).startswith(f"build --tag {IMAGE} --file ")
    assert f"engine:  docker ({docker.folder}/docker)" in home.farhand("sandbox", "info").stdout

"""What is hidden from a sandboxed worker is not there, with the real podman: not as a copy, either."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.live.sandbox.engines import variables

from farhand.model.container import SandboxPlan, container_argv
from farhand.model.sandbox import Mount, SandboxEngine, SandboxLimits
from farhand.sandbox.bwrap import bwrap_argv
from farhand.sandbox.engine import call, find_engine
from farhand.sandbox.plan import pinned_mounts
from farhand.testing.sandbox_engines import IMAGE, SYSTEM


@pytest.mark.parametrize("with_socket", [False, True])
def test_a_hidden_folder_of_a_mounted_home_is_empty_inside(
    short_folder: Path, with_socket: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment = {**os.environ, **variables("podman", tmp_path_factory.getbasetemp())}
    hidden = short_folder / "hidden"
    hidden.mkdir()
    (hidden / "key").write_text("the-node's-key")
    (short_folder / "seen").write_text("seen")
    system = (Mount(source=one, target=one, read_only=True) for one in SYSTEM if Path(one).is_dir())
    plan = SandboxPlan(
        name=f"farhand-test-hidden-{os.getpid()}",
        argv=("/bin/sh", "-c", "cat hidden/* 2>/dev/null; ls -A hidden; cat seen"),
        directory="/workspace",
        mounts=(*system, Mount(source=str(short_folder), target="/workspace")),
        hidden=("/workspace/hidden",),
        limits=SandboxLimits(network="none"),
    )
    if with_socket:
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(hidden / "hub.sock"))
    podman = find_engine(SandboxEngine.PODMAN, environment)
    told = call([*container_argv(podman, IMAGE, plan, (os.getuid(), os.getgid()))], environment)
    assert (told.code, told.text) == (0, "seen")


@pytest.mark.parametrize("kind", ["bwrap", "podman"])
def test_what_is_hidden_cannot_be_moved_to_where_it_is_not(
    short_folder: Path, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment = {**os.environ, **variables(kind, tmp_path_factory.getbasetemp())}
    nodes = short_folder / ".claude" / "telegram"
    nodes.mkdir(parents=True)
    (nodes / "key").write_text("the-node's-key")
    home = (Mount(source=str(short_folder), target="/workspace"),)
    system = (Mount(source=one, target=one, read_only=True) for one in SYSTEM if Path(one).is_dir())
    plan = SandboxPlan(
        name=f"farhand-test-moved-{os.getpid()}",
        argv=("/bin/sh", "-c", "mv .claude .moved 2>/dev/null || echo refused; ls -A .claude/telegram"),
        directory="/workspace",
        mounts=(*system, *home, *pinned_mounts([str(nodes)], "/workspace", home)),
        hidden=("/workspace/.claude/telegram",),
        limits=SandboxLimits(network="none"),
    )
    found = find_engine(SandboxEngine(kind), environment)
    own = (os.getuid(), os.getgid())
    argv = bwrap_argv(found.program, plan) if kind == "bwrap" else container_argv(found, IMAGE, plan, own)
    told = call([*argv], environment)
    assert (told.code, told.text) == (0, "refused")
    assert (nodes / "key").exists()

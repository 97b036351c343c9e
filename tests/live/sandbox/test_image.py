"""Whether an engine runs, and whether the image of sandboxed workers is there, as the engine says it; here a program
that stands in for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.model.container import ContainerEngine
from farhand.model.errors import DriverError, ProgramMissing
from farhand.model.sandbox import SandboxEngine
from farhand.sandbox import engine as engines
from farhand.sandbox.engine import find_engine, need_image


def engine(folder: Path, script: str, name: str = "podman") -> ContainerEngine:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho x >> {folder}/calls\n{script}\n")
    program.chmod(0o755)
    return ContainerEngine(kind=SandboxEngine.PODMAN, program=str(program))


# A container of somebody else's that goes in that moment makes bwrap's mounts fail.
ONCE = "PATH=/usr/bin:/bin; mkdir {folder}/failed || exit 0; echo 'Error: {why}' >&2; exit 125"


def calls(folder: Path) -> int:
    told = folder / "calls"
    return len(told.read_text().split()) if told.exists() else 0


@pytest.mark.parametrize("words", ["Error: inspecting object: x: image not known", "Error: No such image: x"])
def test_an_image_that_is_not_there_is_told_at_once_with_what_to_do(tmp_path: Path, words: str) -> None:
    with pytest.raises(DriverError, match=r"There is no image 'x'.*podman pull x"):
        need_image(engine(tmp_path, f"echo '{words}' >&2; exit 125"), "x", {})
    assert calls(tmp_path) == 1


def test_an_engine_that_fails_once_is_asked_again(tmp_path: Path) -> None:
    need_image(engine(tmp_path, ONCE.format(folder=tmp_path, why="database is locked")), "x", {})
    assert calls(tmp_path) == 2


def test_an_engine_that_does_not_start_once_is_tried_again(tmp_path: Path) -> None:
    engine(tmp_path, ONCE.format(folder=tmp_path, why="Unable to apply mount flags"), "bwrap")
    assert find_engine(SandboxEngine.BWRAP, {"PATH": str(tmp_path)}).kind is SandboxEngine.BWRAP
    assert calls(tmp_path) == 2


def test_an_engine_that_hangs_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SECONDS", 0.5)
    engine(tmp_path, "PATH=/usr/bin:/bin; exec sleep 60", "bwrap")
    with pytest.raises(ProgramMissing):
        find_engine(SandboxEngine.BWRAP, {"PATH": str(tmp_path)})
    # On a busy machine it may be ended before it has told.
    assert calls(tmp_path) <= 1


def test_an_engine_that_goes_on_failing_says_why(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="does not say whether the image 'x' is there: Error: database is locked"):
        need_image(engine(tmp_path, "echo 'Error: database is locked' >&2; exit 125"), "x", {})

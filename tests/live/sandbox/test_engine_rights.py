"""An engine that this user may not use is told in one plain sentence, with what to do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from farhand.model.container import RIGHTS, engine_problem
from farhand.model.errors import ProgramMissing
from farhand.model.sandbox import SandboxEngine
from farhand.sandbox.engine import find_engine

ANOTHER = "setpriv --reuid=65534 --regid=65534 --clear-groups"


def test_podman_in_a_home_of_somebody_else(short_folder: Path) -> None:
    podman = shutil.which("podman")
    if podman is None:
        pytest.skip("podman is not installed here")
    home, programs = short_folder / "home", short_folder / "programs"
    home.mkdir(mode=0)
    programs.mkdir()
    # Root may enter every home: somebody else has to try.
    program = programs / "podman"
    program.write_text(f'#!/bin/sh\nexec {ANOTHER if os.geteuid() == 0 else "env"} {podman} "$@"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}
    with pytest.raises(ProgramMissing) as told:
        find_engine(SandboxEngine.PODMAN, environment)
    home.chmod(0o700)
    assert told.value.text.startswith("Workers cannot be sandboxed: this user may not use podman (")
    assert str(home) in told.value.text
    assert told.value.text.endswith("permission denied).")
    assert "level=" not in told.value.text
    assert told.value.details["hints"][0] == RIGHTS[SandboxEngine.PODMAN]


@pytest.mark.parametrize(
    ("kind", "said", "problem", "hint"),
    [
        (
            SandboxEngine.PODMAN,
            'time="2026-01-01T00:00:00Z" level=warning msg="no"\n'
            'time="2026-01-01T00:00:00Z" level=error msg="stat \\"/a b\\": permission denied"',
            'this user may not use podman (stat "/a b": permission denied)',
            RIGHTS[SandboxEngine.PODMAN],
        ),
        (
            SandboxEngine.DOCKER,
            "permission denied while trying to connect to the Docker daemon socket",
            "this user may not use docker (permission denied while trying to connect to the Docker daemon socket)",
            RIGHTS[SandboxEngine.DOCKER],
        ),
        (SandboxEngine.PODMAN, 'time="x" level=fatal msg="out of order"', "podman does not run (out of order)", ""),
        (SandboxEngine.DOCKER, "no daemon", "docker does not run (no daemon)", ""),
        (SandboxEngine.DOCKER, "", "docker does not run (no reason was given)", ""),
        (SandboxEngine.BWRAP, "bwrap: Permission denied", "this user may not use bwrap (bwrap: Permission denied)", ""),
    ],
)
def test_what_an_engine_says_is_told_in_plain_words(kind: SandboxEngine, said: str, problem: str, hint: str) -> None:
    assert engine_problem(kind, said) == (problem, hint)

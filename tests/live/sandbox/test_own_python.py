"""Our Python programs with another Python: which one is taken, whose `farhand` it runs, and what it says it lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from farhand.sandbox import module_runner
from farhand.sandbox.own_python import inside_argv
from farhand.sandbox.plan import USUAL_PATH

RELAY = "farhand.drivers.wires.acp.agent"


def runs(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
    """A folder with a `python3` that is not the image's."""
    program = tmp_path / "python3"
    program.write_text("#!/bin/sh\necho decoy\n")
    program.chmod(0o755)
    return tmp_path


@pytest.mark.skipif(shutil.which("python3", path=USUAL_PATH) is None, reason="this system has no python3")
def test_the_image_has_its_python_where_programs_of_a_system_are(decoy: Path) -> None:
    """A home that is mounted may have another, made for another system, first on the PATH."""
    argv = inside_argv((sys.executable, "-I", "-c", "import os; print(os.environ['PATH'])"))
    said = runs(*argv, PATH=f"{decoy}:{USUAL_PATH}")
    assert (said.stdout, said.stderr) == (f"{decoy}:{USUAL_PATH}\n", "")


def test_our_module_is_run_from_its_own_folder_whatever_else_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "farhand").mkdir()
    (tmp_path / "farhand" / "__init__.py").write_text("raise SystemExit('another farhand')\n")
    path = os.pathsep.join([str(tmp_path), sysconfig.get_path("purelib")])
    said = runs(sys.executable, "-S", module_runner.__file__, RELAY, "--help", PYTHONPATH=path)
    assert (said.returncode, said.stderr) == (0, "")
    assert "An ACP agent behind the line protocol." in said.stdout


def test_a_python_without_a_package_that_is_needed_says_which() -> None:
    said = runs(sys.executable, "-I", "-S", module_runner.__file__, RELAY, "--help")
    assert said.returncode == module_runner.NOT_RUN
    (sentence,) = said.stderr.splitlines()
    assert sentence.startswith("The image's python3 has no package 'msgspec', which this agent needs. Build the image ")


def test_a_module_that_fails_keeps_its_own_exit_code() -> None:
    said = runs(sys.executable, module_runner.__file__, RELAY, PYTHONPATH=sysconfig.get_path("purelib"))
    assert said.returncode == 2
    assert "the following arguments are required: command" in said.stderr

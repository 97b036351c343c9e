"""The containers of a test's node, and the engines that run here."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.conftest import PROGRAMS

from farhand.model.errors import ProgramMissing
from farhand.model.sandbox import SandboxEngine
from farhand.sandbox.engine import call
from farhand.testing import sandbox_engines


def variables(kind: str, folder: Path) -> dict[str, str]:
    """What a node with that engine is started with; skips where it does not run. `folder` is for its settings."""
    try:
        return sandbox_engines.variables(kind, folder, PROGRAMS)
    except ProgramMissing as error:
        pytest.skip(f"No sandbox of this kind runs here: {error.text}")


def containers(kind: str, node: Path, environment: dict[str, str]) -> list[str]:
    """The ids of all containers that the workers of the node with that folder have."""
    if kind == SandboxEngine.BWRAP:
        return []
    words = [kind, "ps", "--all", "--quiet", "--no-trunc", f"--filter=label=farhand.node={node}"]
    said = call(words, {**os.environ, **environment})
    assert said.code == 0, said.text
    return said.text.split()


def remove_containers(kind: str, node: Path, environment: dict[str, str]) -> None:
    """Whatever a test that failed has left."""
    for one in containers(kind, node, environment):
        call([kind, "rm", "--force", one], {**os.environ, **environment})


def image_python(folder: Path, packages: str = "") -> list[str]:
    """Mounts that give the image a `python3` of its own, with what our Dockerfile installs, or with that folder."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = packages or sysconfig.get_path("purelib")
    if sys.base_prefix == "/usr":
        return [f"ro:{packages}:/usr/local/lib/{version}/dist-packages"]
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    if not (programs / "python3").is_symlink():
        (programs / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    own = f"{sys.base_prefix}/lib/{version}/site-packages"
    return [f"ro:{sys.base_prefix}", f"ro:{programs}:/usr/local/bin", f"ro:{packages}:{own}"]

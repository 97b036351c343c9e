"""Engines of sandboxes for tests and figures: whichever run here, and an image without a program of its own."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from functools import cache
from pathlib import Path

from farhand.model.errors import ProgramMissing
from farhand.model.sandbox import SandboxEngine
from farhand.sandbox.engine import call, find_engine

IMAGE = "localhost/farhand-test-skeleton:2"
# Programs of this machine, read-only: no image can be fetched in a test.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
# For a root without CAP_SYS_RESOURCE on cgroups of both kinds.
CONF = """[containers]
default_ulimits = ["nofile=20000:20000","nproc=20000:20000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


@cache
def variables(kind: str, folder: Path, programs: Path) -> dict[str, str]:
    """What a node with that engine is started with, for agents' CLIs in `.cache/npm/node_modules/.bin`; raises
    ProgramMissing where it does not run. `folder` is for its settings."""
    engine = find_engine(SandboxEngine(kind), os.environ)
    cache_root = programs.parents[2]
    mounts = {str(one) for one in (cache_root, cache_root.resolve(), programs.resolve().parents[1])}
    node = {os.path.realpath(cache_root / "node" / "bin")}
    usual = {
        "SANDBOX_ENABLED": "1",
        "FARHAND_SANDBOX_ENGINE": kind,
        "FARHAND_SANDBOX_NETWORK": "host",
    }
    if kind == SandboxEngine.BWRAP:
        return {**usual, "SANDBOX_MOUNTS": ",".join(f"ro:{one}" for one in sorted(mounts | node))}
    found = {**usual, **_podman(engine.program, folder)}
    system = {one for one in SYSTEM if Path(one).is_dir()}
    return {**found, "SANDBOX_MOUNTS": ",".join(f"ro:{one}" for one in sorted(mounts | node | system))}


def _podman(program: str, folder: Path) -> dict[str, str]:
    """The image made, and with which settings podman runs it; raises ProgramMissing where it does with none."""
    conf = folder / "containers.conf"
    conf.write_text(CONF)
    why = ""
    for more in ({}, {"CONTAINERS_CONF": str(conf)}):
        environment = {**os.environ, **more}
        if call([program, "image", "inspect", IMAGE], environment).code:
            words = [program, "import", "-", IMAGE]
            subprocess.run(words, input=skeleton(), env=environment, capture_output=True, check=False)
        shell = ["--mount=type=bind,source=/usr,target=/usr,readonly", "--network=none", IMAGE, "/usr/bin/true"]
        libraries = [f"--volume={one}:{one}:ro" for one in SYSTEM[1:] if Path(one).is_dir()]
        said = call([program, "run", "--rm", *libraries, *shell], environment)
        if said.code == 0:
            return {**more, "SANDBOX_IMAGE": IMAGE}
        why = said.text.splitlines()[-1] if said.text else str(said.code)
    raise ProgramMissing(f"podman cannot run a container ({why}).")


def skeleton() -> bytes:
    """A tar of empty folders and the few files that programs look for."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name in (
            "bin",
            "dev",
            "etc",
            "lib",
            "lib64",
            "proc",
            "root",
            "run",
            "sbin",
            "sys",
            "tmp",
            "usr",
            "workspace",
        ):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            tar.addfile(folder)
        for name, text in (("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("etc/group", "root:x:0:\n")):
            file = tarfile.TarInfo(name)
            file.size, file.mode = len(text), 0o644
            tar.addfile(file, io.BytesIO(text.encode()))
    return made.getvalue()

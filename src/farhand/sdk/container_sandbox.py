"""The sandbox of an agent's shell commands in a container of Docker or podman: one for each command, gone with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from farhand.model.container import PROBES, ContainerEngine, SandboxPlan, container_argv, engine_problem
from farhand.model.sandbox import IMAGE, Mount, SandboxEngine, SandboxLimits

PROBE_SECONDS = 30.0
_GUARD = Path(__file__).with_name("container_guard.py")
# In this order: who has Docker running wants it.
_KINDS = (SandboxEngine.DOCKER, SandboxEngine.PODMAN)
_running: dict[tuple[str, str], ContainerEngine] = {}


@dataclass(frozen=True, slots=True)
class ContainerSandbox:
    """A sandbox by Docker or podman, with the programs of an image, which is never fetched unasked.

    The workspace can be written to under its own path, and so can `writable`; `readable` shows further folders. Without
    `network` there is none; with it, this machine's. `memory` and `cpus` are as the engine reads them (`2g`, `1.5`).
    """

    image: str = IMAGE
    engine: Literal["auto", "docker", "podman"] = "auto"
    network: bool = False
    readable: tuple[str | Path, ...] = ()
    writable: tuple[str | Path, ...] = ()
    memory: str = ""
    pids: int = 0
    cpus: str = ""

    def problem(self) -> str:
        """Why no container can be run here; empty when one can."""
        found, why = _find(self.engine)
        if found is None:
            return why
        if _call(found.program, "image", "inspect", self.image)[0]:
            return f"{found.kind} has no image '{self.image}' (`farhand sandbox build` makes one)"
        return ""

    def wrap(self, argv: Sequence[str], *, cwd: Path, writable: Sequence[Path]) -> list[str]:
        """The command in a container of its own, which a guard removes whatever becomes of the engine's client."""
        found, why = _find(self.engine)
        if found is None:
            raise OSError(f"No container can be run here: {why}.")
        plan = SandboxPlan(
            name=f"farhand-sdk-{uuid.uuid4().hex[:16]}",
            argv=tuple(argv),
            directory=os.path.realpath(cwd),
            mounts=(*_mounts(self.readable, read_only=True), *_mounts((*self.writable, *writable))),
            limits=SandboxLimits(
                memory=self.memory,
                pids=self.pids,
                cpus=self.cpus,
                network="host" if self.network else "none",
                read_only=True,
            ),
        )
        command = container_argv(found, self.image, plan, (os.geteuid(), os.getegid()))
        return [sys.executable, "-I", "-S", str(_GUARD), plan.name, *command]


def _mounts(folders: Sequence[str | Path], *, read_only: bool = False) -> list[Mount]:
    """Each under the name that it was given, also where that is a link here: an image may have no such link."""
    named = [str(Path(each).expanduser().absolute()) for each in folders]
    return [Mount(source=os.path.realpath(each), target=each, read_only=read_only) for each in named]


def _find(wanted: str) -> tuple[ContainerEngine | None, str]:
    """The engine that runs here, or why none does. One that ran once is not asked again."""
    path = os.environ.get("PATH", os.defpath)
    if (wanted, path) in _running:
        return _running[wanted, path], ""
    tried: list[str] = []
    for kind in _KINDS:
        program = shutil.which(kind.value, path=path) if wanted in ("auto", kind.value) else None
        if program is None:
            continue
        code, said = _call(program, *PROBES[kind])
        if code == 0:
            found = ContainerEngine(kind, program, rootless=kind is SandboxEngine.PODMAN and said == "true")
            _running[wanted, path] = found
            return found, ""
        tried.append("; ".join(filter(None, engine_problem(kind, said))))
    named = "neither docker nor podman" if wanted == "auto" else f"no {wanted}"
    return None, "; ".join(tried) or f"{named} is installed"


def _call(program: str, *words: str) -> tuple[int, str]:
    """Runs a small command of an engine; one that hangs is as good as one that is not there."""
    try:
        ended = subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return ended.returncode, (ended.stdout if ended.returncode == 0 else ended.stderr or ended.stdout).strip()

"""The sandbox of an agent's shell commands: bubblewrap where it is, a container otherwise, a refusal elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from farhand.sdk.errors import SdkError

# Secrets, sockets and other people's files: empty in a sandbox, but for what is bound into them again.
_HIDDEN = ("/home", "/root", "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/srv")  # noqa: S108
CHECK_SECONDS = 30.0
_NAMES = "/run/systemd/resolve"


class SandboxUnavailable(SdkError):
    """A sandbox was asked for where none can be made. Nothing runs without it."""

    kind = "sandbox"


@runtime_checkable
class ShellSandbox(Protocol):
    """Makes sandboxes. `problem` says why it cannot do so here, or nothing; `wrap` gives a command that runs in one."""

    def problem(self) -> str: ...
    def wrap(self, argv: Sequence[str], *, cwd: Path, writable: Sequence[Path]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox by bubblewrap: the system read-only, homes and temporary folders empty, no other process to be seen.

    The workspace can be written to, and so can `writable`; `readable` shows folders that would be hidden, such as a
    toolchain in your home. Without `network` there is none, not even this machine's own addresses.
    """

    network: bool = False
    readable: tuple[str | Path, ...] = ()
    writable: tuple[str | Path, ...] = ()

    def problem(self) -> str:
        """Why no sandbox can be made here; empty when one can."""
        return _problem()

    def wrap(self, argv: Sequence[str], *, cwd: Path, writable: Sequence[Path]) -> list[str]:
        """The command inside a sandbox of its own."""
        made = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *_hidden()]
        made += [*_isolated(), *(["--share-net"] if self.network else [])]
        if self.network and Path(_NAMES).is_dir():
            made += ["--ro-bind", _NAMES, _NAMES]
        for folder in _resolved(self.readable):
            made += ["--ro-bind", folder, folder]
        for folder in [*_resolved(self.writable), *_resolved(writable)]:
            made += ["--bind", folder, folder]
        # Where a link to it lies may be hidden.
        return [*made, "--chdir", os.path.realpath(cwd), "--", *argv]


def _isolated() -> list[str]:
    return ["--unshare-all", "--cap-drop", "ALL", "--hostname", "sandbox"]


def _hidden() -> list[str]:
    homes = [str(Path.home()), os.environ.get("HOME", "")]
    folders = dict.fromkeys(os.path.realpath(each) for each in (*_HIDDEN, *homes) if each and Path(each).is_dir())
    return [word for each in folders if each != "/" for word in ("--tmpfs", each)]


def _resolved(folders: Sequence[str | Path]) -> list[str]:
    return [os.path.realpath(Path(each).expanduser()) for each in folders]


@lru_cache(maxsize=1)
def _problem() -> str:
    if shutil.which("bwrap") is None:
        return "bubblewrap (bwrap) is not installed"
    command = Sandbox().wrap(["true"], cwd=Path("/"), writable=())
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start ({error})"
    said = (ended.stderr.strip().splitlines() or ["no reason was given"])[-1]
    return "" if ended.returncode == 0 else f"bubblewrap may not make one here ({said})"


def engine_of(given: object) -> ShellSandbox | None:
    """What `Agent(sandbox=…)` was given as an engine that works here. Raises SandboxUnavailable when it does not."""
    if given is None or given is False:
        return None
    if given is True:
        return _usual_engine()
    if not isinstance(given, ShellSandbox):
        raise SandboxUnavailable(f"sandbox is {given!r}: give True, Sandbox(…), or an object with problem and wrap.")
    if problem := given.problem():
        raise _unavailable(problem)
    return given


def _usual_engine() -> ShellSandbox:
    """bubblewrap, which needs no image; where it cannot be had, a container."""
    sandbox = Sandbox()
    without = sandbox.problem()
    if not without:
        return sandbox
    from farhand.sdk.container_sandbox import ContainerSandbox

    container = ContainerSandbox()
    if problem := container.problem():
        raise _unavailable(f"{without}, and {problem}")
    return container


def _unavailable(problem: str) -> SandboxUnavailable:
    return SandboxUnavailable(f"No sandbox can be made here: {problem}. Without `sandbox`, commands run unconfined.")

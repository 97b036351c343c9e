"""What a worker's sandbox is made of and how it is set; what is asked of whoever builds one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from farhand.model.compat import PRODUCT
from farhand.model.errors import SettingWrong
from farhand.model.words import Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from farhand.model.present import Worker

# The option of a worker that says whether it runs in a sandbox; without it the node decides.
OPTION: Final = "sandbox"
ON: Final = "on"
OFF: Final = "off"
IMAGE: Final = f"{PRODUCT}:latest"
# Where the home folder is inside, beside its own path.
WORKSPACE: Final = "/workspace"
# In a worker's own folder: its socket, the queue of its hooks' reports, and what else its agent may write.
SOCKET: Final = "node.sock"
SPOOL: Final = "spool"
PRIVATE: Final = "private"
# Beside them, where the agent cannot change a folder for a link: folders that are mounted at other places inside.
MOUNTED: Final = "mounted"
# In the node's folder: for each hiring in a sandbox, the pipes that are its own to the other workers.
PIPES_FOLDER: Final = "pipes"


class SandboxEngine(StrEnum):
    """What runs sandboxes."""

    AUTO = "auto"
    DOCKER = "docker"
    PODMAN = "podman"
    BWRAP = "bwrap"


class Mount(Word):
    """A folder or file of this machine, and where it is inside."""

    source: str
    target: str
    read_only: bool = False

    @property
    def shown(self) -> str:
        """For a person."""
        return f"{self.source} → {self.target}" + (" (ro)" if self.read_only else "")


class SandboxLimits(Word):
    """What a sandbox may use; empty and 0 are no limit."""

    memory: str = ""
    pids: int = 0
    cpus: str = ""
    # As the engine names networks: `none`, `host`, or one of its own; empty for its usual one.
    network: str = ""
    read_only: bool = False


class SandboxOptions(Word):
    """How the workers of a node are sandboxed."""

    enabled: bool = False
    engine: SandboxEngine = SandboxEngine.AUTO
    image: str = IMAGE
    mounts: tuple[Mount, ...] = ()
    limits: SandboxLimits = SandboxLimits()
    # Whether the home folder is inside.
    home: bool = True

    def wraps(self, options: Mapping[str, str]) -> bool:
        """Whether a worker with these options runs in a sandbox."""
        return options.get(OPTION, ON if self.enabled else OFF) == ON


class SandboxView(Word):
    """What is told of a node's sandbox."""

    image: str
    home: str
    mounts: tuple[Mount, ...] = ()


class SandboxedStart(Word):
    """How an agent is started: the command that wraps its own, that command's environment, and what the agent's
    process is called by itself."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    kind: str
    pid: int


def sender_folder(node: Path, hiring: str) -> Path:
    """Where the pipes are through which that hiring alone writes to the others."""
    return node / PIPES_FOLDER / hiring


class Sandboxes(Protocol):
    """Builds the sandboxes of a node's workers, and takes them away."""

    def is_for(self, worker: Worker) -> bool:
        """Whether this worker's agent runs in one."""
        ...

    async def kind(self, worker: Worker) -> SandboxEngine | None:
        """Which engine the worker's next start has; None without a sandbox."""
        ...

    def agent_pid(self, worker: Worker, outside: int) -> int:
        """The number that the agent's process has for itself; `outside` is the one of its command."""
        ...

    def socket(self, worker: Worker) -> Path:
        """The socket that this worker alone has."""
        ...

    def outside(self, worker: Worker, path: Path) -> Path:
        """Where a file is outside that the agent writes at that path."""
        ...

    async def wrapped(
        self, worker: Worker, argv: Sequence[str], environment: Mapping[str, str], *, terminal: bool
    ) -> SandboxedStart:
        """How the agent is started in its sandbox; what an earlier one has left is removed."""
        ...

    def not_wrapped(self, worker: Worker) -> None:
        """The agent is started without a sandbox."""
        ...

    def refuse_shared(self, worker: Worker) -> None:
        """Raises for a sandboxed worker whose agent others share."""
        ...

    async def need_loopback(self, worker: Worker) -> None:
        """Raises for a sandboxed worker whose agent we could not reach on this machine's loopback address."""
        ...

    async def clear(self, worker: Worker) -> None:
        """Removes the worker's sandboxes, whatever still runs in them."""
        ...

    def join(self, find: Callable[[str], Worker | None], port: int) -> None:
        """The node runs: this finds its workers by their hiring, and there it listens."""
        ...


def read_mounts(text: str, home: str) -> tuple[Mount, ...]:
    """`[ro:]<path>[:<path inside>]`, several with commas between; raises SettingWrong for what is no whole path."""
    return tuple(read_mount(part.strip(), home) for part in text.split(",") if part.strip())


def read_mount(text: str, home: str, *, read_only: bool = False) -> Mount:
    """One of them; a path alone is the same inside."""
    stripped = text.removeprefix("ro:")
    source, _, target = stripped.partition(":")
    source = home + source[1:] if source == "~" or source.startswith("~/") else source
    target = (target or source).rstrip("/") or "/"
    if not source.startswith("/") or not target.startswith("/") or ":" in target or target == "/":
        raise SettingWrong(
            f"A mount is [ro:]<path>[:<path inside>], whole paths, not '{text[:80]}'.", name="SANDBOX_MOUNTS"
        )
    return Mount(source=source.rstrip("/") or "/", target=target, read_only=read_only or stripped != text)

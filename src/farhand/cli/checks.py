"""What `farhand doctor` looks at: each check is one line with what to do, and some can be repaired."""

import platform
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from farhand.cli.agent_checks import AgentChecks
from farhand.cli.check_result import ABSENT, BAD, GOOD, WARNING, CheckResult
from farhand.cli.node_report import environ_of
from farhand.cli.telegram_checks import TelegramChecks
from farhand.config import run_as
from farhand.config.places import node_folder
from farhand.config.sandbox import read_sandbox
from farhand.disk.processes import read_identity
from farhand.manifests import channel_secrets
from farhand.model import compat
from farhand.model.errors import FarhandError, ProgramMissing
from farhand.model.reach import ReachMode, reach_mode
from farhand.model.sandbox import SandboxEngine
from farhand.model.variables import is_yes, port_number
from farhand.reach.choose import INSTALL
from farhand.reach.tailscale import Tailscale
from farhand.sandbox import inside_start
from farhand.sandbox.engine import call, find_engine
from farhand.sandbox.environment import without_secrets
from farhand.store.folder import running

LEAST_PYTHON = (3, 11)
LEAST_DISK = 1_000_000_000
FULL_DISK = 100_000_000
INOTIFY = Path("/proc/sys/fs/inotify")
LEAST_WATCHES = 8192
LEAST_INSTANCES = 128
TAILSCALE_SECONDS = 6.0
NO_TUNNEL = "Telegram is polled, which needs none"


class NodeChecks:
    """The checks of one node and of the machine that it runs on."""

    def __init__(self, node: str, environ: Mapping[str, str]) -> None:
        self._node = node
        self._environ = environ_of(node, environ)
        self._folder = node_folder(node, environ)

    def all(self) -> Iterator[CheckResult]:
        """Every check, in the order in which a start would need them."""
        yield self.python()
        yield self.tmux()
        yield from AgentChecks(self._environ, self._folder, Path.cwd()).all()
        yield self.port()
        yield from TelegramChecks(self._environ, self._folder).all()
        yield self.reach()
        yield self.containers()
        yield self.disk()
        yield from self.inotify()
        yield self.modes()
        yield from self.other_user()
        yield self.left_behind()

    def python(self) -> CheckResult:
        """The Python that runs this."""
        version = tuple(int(one) for one in platform.python_version_tuple()[:2])
        if version >= LEAST_PYTHON:
            return CheckResult("python", GOOD, platform.python_version())
        return CheckResult("python", BAD, platform.python_version(), "install Python 3.11 or later")

    def tmux(self) -> CheckResult:
        """tmux, in which interactive agents sit."""
        path = shutil.which("tmux", path=self._environ.get("PATH"))
        if path is None:
            return CheckResult("tmux", BAD, "not installed", "brew install tmux, or: sudo apt install tmux")
        done = subprocess.run([path, "-V"], capture_output=True, text=True, timeout=10, check=False)
        return CheckResult("tmux", GOOD, done.stdout.strip().removeprefix("tmux "))

    def port(self) -> CheckResult:
        """The port of the HTTP listener: free, or this very node's."""
        try:
            given = self._environ.get("PORT", "").strip()
            port = port_number(given) if given else compat.default_port(self._node)
        except FarhandError as error:
            return CheckResult("port", BAD, error.text, "correct PORT")
        if running(self._folder) is not None:
            return CheckResult("port", GOOD, "the node is running")
        if not port:
            return CheckResult("port", GOOD, "any that is free")
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                return CheckResult("port", BAD, f"{port} is already in use", "stop the other process or use --port")
        return CheckResult("port", GOOD, f"{port} is free")

    def reach(self) -> CheckResult:
        """The way in from outside: whether what was asked for by name is here, and the tailnet, if there is one."""
        path = self._environ.get("PATH")
        found = [one for one in ("cloudflared", "tailscale") if shutil.which(one, path=path)]
        try:
            mode = reach_mode(self._environ.get("FARHAND_REACH", ""))
        except FarhandError as error:
            return CheckResult("tunnel", BAD, error.text, "correct FARHAND_REACH")
        if mode in (ReachMode.CLOUDFLARED, ReachMode.TAILSCALE) and mode.value not in found:
            return CheckResult("tunnel", BAD, f"{mode.value} not installed", INSTALL[mode.value])
        if "tailscale" in found and mode in (ReachMode.TAILSCALE, ReachMode.AUTO) and not self._tailnet():
            state = BAD if mode is ReachMode.TAILSCALE else WARNING
            return CheckResult("tunnel", state, "tailscale is on no tailnet", "tailscale up")
        return CheckResult("tunnel", GOOD if found else ABSENT, ", ".join(found) or f"none: {NO_TUNNEL}")

    def _tailnet(self) -> str:
        """This machine's name on the tailnet; empty when it is on none."""
        import anyio

        program = shutil.which("tailscale", path=self._environ.get("PATH")) or ""
        return anyio.run(Tailscale(program, without_secrets(self._environ, channel_secrets()), TAILSCALE_SECONDS).name)

    def containers(self) -> CheckResult:
        """What would run sandboxed workers; it must be there only where all of them are to be sandboxed."""
        try:
            options, environ = read_sandbox(self._environ), without_secrets(self._environ, channel_secrets())
            engine = find_engine(options.engine, environ)
        except ProgramMissing as error:
            if self._is_sandboxed():
                return CheckResult("containers", BAD, error.text, error.details["hints"][0])
            return CheckResult("containers", ABSENT, f"{error.text} Needed only for workers in sandboxes.")
        except FarhandError as error:
            return CheckResult("containers", BAD, error.text, "correct it")
        if engine.kind is SandboxEngine.BWRAP:
            is_closed = options.limits.network == "none" or inside_start.knows_scopes()
            return bubblewrap_result(engine.program, is_closed=is_closed, is_used=self._is_sandboxed())
        if call([engine.program, "image", "inspect", options.image], environ).code == 0:
            return CheckResult("containers", GOOD, f"{engine.kind}, image {options.image}")
        state = BAD if options.enabled else ABSENT
        return CheckResult(
            "containers", state, f"{engine.kind}, without image {options.image}", "farhand sandbox build"
        )

    def _is_sandboxed(self) -> bool:
        return is_yes(self._environ.get("SANDBOX_ENABLED", ""))

    def disk(self) -> CheckResult:
        """Room for journal and agents' output."""
        at = next(path for path in (self._folder, *self._folder.parents) if path.exists())
        return disk_result(shutil.disk_usage(at).free, at)

    def inotify(self, limits: Path = INOTIFY) -> Iterator[CheckResult]:
        """How many files and folders may be watched; without it they are polled."""
        for name, least in (("max_user_watches", LEAST_WATCHES), ("max_user_instances", LEAST_INSTANCES)):
            path = limits / name
            if path.exists() and (limit := int(path.read_text())) < least:
                todo = f"sudo sysctl fs.inotify.{name}={least}"
                yield CheckResult("inotify", WARNING, f"{name} is {limit}", todo)
                return
        yield CheckResult("inotify", GOOD, "limits are wide enough")

    def modes(self) -> CheckResult:
        """The node's files are its owner's alone."""
        shared = [path for path in self._own_files() if path.lstat().st_mode & 0o077]
        if not shared:
            return CheckResult("files", GOOD, "closed to others" if self._folder.exists() else "none yet")
        names = ", ".join(path.name for path in shared[:3])

        def close() -> None:
            for path in shared:
                path.chmod(path.stat().st_mode & 0o700)

        return CheckResult("files", BAD, f"others may read {names}", "farhand doctor --fix", close)

    def _own_files(self) -> list[Path]:
        if not self._folder.exists():
            return []
        entries = [path for path in sorted(self._folder.iterdir()) if not path.is_symlink() and not path.is_socket()]
        return [self._folder, *entries]

    def other_user(self) -> Iterator[CheckResult]:
        """The user that agents run as, and what of the node it could reach; nothing where they run as the node."""
        name = self._environ.get(run_as.NAME, "")
        if not name:
            return
        try:
            user = run_as.agent_user(name)
        except FarhandError as error:
            yield CheckResult("run as", BAD, error.text, f"correct {run_as.NAME}")
            return
        found = run_as.findings(user, self._own_files()) if user else []
        for finding in found:
            yield CheckResult("run as", BAD, finding, "put it right, then run farhand doctor again")
        if not found:
            yield CheckResult("run as", GOOD, f"{name} reaches nothing of the node")

    def left_behind(self) -> CheckResult:
        """Pid files of processes that are gone."""
        stopped = running(self._folder) is None
        names = (compat.PID_FILE, compat.BRIDGE_PID_FILE, compat.TUNNEL_PID_FILE)
        stale = [path for name in names if (path := self._folder / name).exists() and read_identity(path) is None]
        if not stopped or not stale:
            return CheckResult("pid files", GOOD, "right")

        def remove() -> None:
            for path in stale:
                path.unlink(missing_ok=True)

        told = f"of a process that is gone: {', '.join(path.name for path in stale)}"
        return CheckResult("pid files", WARNING, told, "farhand doctor --fix", remove)


def disk_result(free: int, at: Path) -> CheckResult:
    """What is told of so many bytes that are free on the disk of that folder."""
    told = f"{free / 1e9:.1f} GB free"
    if free < LEAST_DISK:
        return CheckResult("disk", BAD if free < FULL_DISK else WARNING, told, f"make room on the disk of {at}")
    return CheckResult("disk", GOOD, told)


def bubblewrap_result(program: str, *, is_closed: bool, is_used: bool) -> CheckResult:
    """What is told of bubblewrap; also what it cannot keep an agent from, for nobody sees that by looking at it."""
    if is_closed or not is_used:
        return CheckResult("containers", GOOD, f"bubblewrap ({program})")
    told = (
        f"bubblewrap ({program}); agents reach this machine's abstract sockets, which Linux 6.12 would keep them from"
    )
    return CheckResult("containers", WARNING, told, "FARHAND_SANDBOX_NETWORK=none, or use Docker or podman")

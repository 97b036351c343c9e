"""What `farhand doctor` looks at: each check is one line with what to do, and some can be repaired."""

import platform
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from farhand.cli.agent_clis import agent_clis
from farhand.cli.bot_api import BotApi, BotApiError, TokenRefused, bot_api, token_of
from farhand.cli.node_report import environ_of, stop_hook
from farhand.config import run_as
from farhand.config.places import node_folder
from farhand.config.settings import port_number
from farhand.disk.processes import read_identity
from farhand.model import compat
from farhand.model.errors import FarhandError
from farhand.model.reach import ReachMode, reach_mode
from farhand.reach.choose import INSTALL
from farhand.reach.tailscale import Tailscale
from farhand.sandbox.environment import without_secrets
from farhand.store.folder import running

GOOD, ABSENT, WARNING, BAD = "good", "absent", "warning", "bad"
LEAST_PYTHON = (3, 11)
LEAST_DISK = 1_000_000_000
FULL_DISK = 100_000_000
LEAST_WATCHES = 8192
LEAST_INSTANCES = 128
MOST_SECONDS_APART = 60.0
TELEGRAM_SECONDS = 6.0
TAILSCALE_SECONDS = 6.0
NO_TUNNEL = "Telegram is polled, which needs none"


@dataclass(frozen=True)
class CheckResult:
    """One line: what was looked at, how it is, what to do, and what would repair it."""

    name: str
    state: str
    told: str
    todo: str = ""
    repair: Callable[[], None] | None = None


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
        yield from self.agents()
        yield self.hook()
        yield self.port()
        yield from self.telegram()
        yield self.reach()
        yield self.programs("containers", ("docker", "podman", "bwrap"), "needed only for workers in containers")
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

    def agents(self) -> Iterator[CheckResult]:
        """Each agent's CLI; one of them is enough."""
        found = agent_clis(self._environ)
        for cli in found:
            if not cli.path:
                yield CheckResult(cli.backend, ABSENT, "not installed", cli.install)
            elif cli.logged_in is False:
                yield CheckResult(cli.backend, WARNING, cli.line, cli.how_to_log_in)
            else:
                yield CheckResult(cli.backend, GOOD, cli.line)
        if not any(cli.path for cli in found):
            yield CheckResult("agents", WARNING, "no agent CLI is installed", "install one, or try: farhand run --demo")

    def hook(self) -> CheckResult:
        """The Stop hook in the agent's own settings: whole, absent, or half there. Workers bring hooks of their own."""
        settings, programs, entry = stop_hook(self._environ)
        if programs == entry:
            told = "installed" if entry else "not installed: only sessions that you start yourself would need it"
            return CheckResult("hook", GOOD if entry else ABSENT, told)
        return CheckResult("hook", WARNING, f"half installed in {settings}", "farhand hook install")

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

    def telegram(self) -> Iterator[CheckResult]:
        """The bot, its webhook, whether somebody else hears in its place, and the clock."""
        if not token_of(self._environ):
            todo = "farhand setup, or set TELEGRAM_BOT_TOKEN"
            yield CheckResult("token", WARNING, "TELEGRAM_BOT_TOKEN not set", todo)
            return
        api = bot_api(self._environ, TELEGRAM_SECONDS)
        try:
            me = api.call("getMe")
        except TokenRefused as error:
            yield CheckResult("token", BAD, error.text, "take the token that @BotFather gave you")
            return
        except FarhandError as error:
            yield CheckResult("token", BAD, error.text, "is this machine online? a proxy is set with HTTPS_PROXY")
            return
        yield CheckResult("token", GOOD, f"@{me.get('username')}, id:{me.get('id')}")
        yield self._clock(api)
        yield from self._receiving(api)

    def _clock(self, api: BotApi) -> CheckResult:
        apart = abs(time.time() - api.answered_at) if api.answered_at else 0.0
        if apart > MOST_SECONDS_APART:
            told = f"{apart:.0f} s apart from Telegram's"
            return CheckResult("clock", WARNING, told, "timedatectl set-ntp on")
        return CheckResult("clock", GOOD, "right")

    def _receiving(self, api: BotApi) -> Iterator[CheckResult]:
        try:
            url = str(api.call("getWebhookInfo").get("url") or "")
            wanted = self._environ.get("TUNNEL_URL", "").strip()
            if url and url.rstrip("/") != wanted.rstrip("/"):
                yield CheckResult("webhook", BAD, f"set elsewhere: {url}", "farhand webhook delete")
                return
            yield CheckResult("webhook", GOOD, "set" if url else "not set: Telegram is polled")
            if not url and running(self._folder) is None:
                api.call("getUpdates", timeout=0, limit=1)
                yield CheckResult("polling", GOOD, "nobody else polls this bot")
        except BotApiError as error:
            conflict = error.details.get("status") == 409
            todo = "stop the other program, or give this node a bot of its own" if conflict else "try again"
            yield CheckResult("polling", BAD, "another program polls this bot" if conflict else error.text, todo)

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
        return anyio.run(Tailscale(program, without_secrets(self._environ), TAILSCALE_SECONDS).name)

    def programs(self, name: str, wanted: tuple[str, ...], without: str) -> CheckResult:
        """Programs of which any is enough, and none is needed."""
        found = [one for one in wanted if shutil.which(one, path=self._environ.get("PATH"))]
        return CheckResult(name, GOOD if found else ABSENT, ", ".join(found) or f"none: {without}")

    def disk(self) -> CheckResult:
        """Room for journal and agents' output."""
        at = next(path for path in (self._folder, *self._folder.parents) if path.exists())
        free = shutil.disk_usage(at).free
        told = f"{free / 1e9:.1f} GB free"
        if free < LEAST_DISK:
            return CheckResult("disk", BAD if free < FULL_DISK else WARNING, told, f"make room on the disk of {at}")
        return CheckResult("disk", GOOD, told)

    def inotify(self) -> Iterator[CheckResult]:
        """How many files and folders may be watched; without it they are polled."""
        for name, least in (("max_user_watches", LEAST_WATCHES), ("max_user_instances", LEAST_INSTANCES)):
            path = Path("/proc/sys/fs/inotify") / name
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

"""Tailscale Serve as a way in: for the person's own devices alone, with a name and a certificate that stay.

What somebody else serves is left alone: another port is taken, and only what leads to this node is taken away again.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import write_private
from farhand.model.compat import SERVE_FILE, TUNNEL_URL_FILE
from farhand.model.errors import ReachFailed

PROGRAM = "tailscale"
COMMAND_SECONDS = 20.0
# Those that Tailscale itself uses, the usual one first.
PORTS = (443, 8443, 10000)
LONGEST_REASON = 300


class _Self(msgspec.Struct):
    dns_name: str = msgspec.field(name="DNSName", default="")


class _Status(msgspec.Struct):
    state: str = msgspec.field(name="BackendState", default="")
    own: _Self = msgspec.field(name="Self", default_factory=_Self)


class _ServeHandler(msgspec.Struct):
    proxy: str = msgspec.field(name="Proxy", default="")


class _Site(msgspec.Struct):
    handlers: dict[str, _ServeHandler] = msgspec.field(name="Handlers", default_factory=dict)


class Served(msgspec.Struct):
    """What this machine serves on the tailnet, as `tailscale serve status --json` tells it."""

    tcp: dict[str, msgspec.Raw] | None = msgspec.field(name="TCP", default=None)
    web: dict[str, _Site] | None = msgspec.field(name="Web", default=None)
    foreground: dict[str, msgspec.Raw] | None = msgspec.field(name="Foreground", default=None)


def port_of(served: Served, target: str) -> int | None:
    """The port that leads to that target and nowhere else; None when none does."""
    for site, what in (served.web or {}).items():
        if [one.proxy for one in what.handlers.values()] == [target]:
            return int(site.rpartition(":")[2])
    return None


def free_port(served: Served) -> int | None:
    """The first port that nobody serves anything on; None when all are taken."""
    taken = {int(port) for port in served.tcp or {}} | {int(site.rpartition(":")[2]) for site in served.web or {}}
    return next((port for port in PORTS if port not in taken), None)


def address(name: str, port: int) -> str:
    """Where the node is found on the tailnet."""
    return f"https://{name.rstrip('.')}" + ("" if port == 443 else f":{port}")


class Tailscale:
    """The command `tailscale`; every call has an end."""

    def __init__(self, program: str, environment: Mapping[str, str], seconds: float = COMMAND_SECONDS) -> None:
        self._program = program
        self._environment = dict(environment)
        self._seconds = seconds

    async def name(self) -> str:
        """This machine's name on the tailnet; empty when it is on none."""
        try:
            status = msgspec.json.decode(await self._call("status", "--json"), type=_Status)
        except (ReachFailed, msgspec.MsgspecError):
            return ""
        return status.own.dns_name if status.state == "Running" else ""

    async def served(self) -> Served:
        """What is served now. Raises ReachFailed."""
        said = await self._call("serve", "status", "--json")
        try:
            return msgspec.json.decode(said.strip() or b"{}", type=Served)
        except (msgspec.MsgspecError, ValueError):
            raise ReachFailed("What Tailscale says of its Serve settings cannot be read.") from None

    async def serve(self, port: int, target: str) -> None:
        """Leads that port to the target, until it is told otherwise. Raises ReachFailed."""
        await self._call("serve", "--bg", f"--https={port}", target)

    async def unserve(self, port: int) -> None:
        """Serves nothing more on that port. Raises ReachFailed."""
        await self._call("serve", f"--https={port}", "off")

    async def _call(self, *words: str) -> bytes:
        """What it prints. It may wait for ever (for a consent in the browser), and says so before."""
        try:
            done = await anyio.to_thread.run_sync(self._run, words, abandon_on_cancel=True)
        except OSError as error:
            raise ReachFailed(f"tailscale cannot be started: {error.strerror}.") from None
        except subprocess.TimeoutExpired as error:
            raise ReachFailed(
                f"tailscale {words[0]} does not come back.{_reason(error.stdout, error.stderr)}"
            ) from None
        if done.returncode:
            raise ReachFailed(f"tailscale {words[0]} refuses.{_reason(done.stdout, done.stderr)}")
        return done.stdout

    def _run(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [self._program, *words],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=self._seconds,
            check=False,
        )


def _reason(*said: bytes | None) -> str:
    """What it said, on one line."""
    text = " ".join(b" ".join(one for one in said if one).decode("utf-8", "replace").split())
    return f" It says: {text[:LONGEST_REASON]}" if text else ""


class TailscaleWay:
    """This node on the person's tailnet."""

    name = "tailscale"
    is_public = False

    def __init__(self, tailscale: Tailscale, folder: Path, target: str) -> None:
        self._tailscale = tailscale
        self._folder = folder
        self._target = target

    async def open(self) -> str:
        """Serves this node, or finds that it is served already. Raises ReachFailed."""
        name = await self._tailscale.name()
        if not name:
            raise ReachFailed("This machine is on no tailnet: run `tailscale up`.")
        served = await self._tailscale.served()
        port = port_of(served, self._target)
        if port is None:
            port = free_port(served)
            if port is None:
                taken = ", ".join(str(one) for one in PORTS)
                raise ReachFailed(f"Tailscale serves something else on {taken} already; it is left alone.")
            # Written down before it is so: a node that is killed in between leaves nothing that nobody knows.
            write_private(self._folder / SERVE_FILE, f"{port}\n{self._target}\n")
            await self._tailscale.serve(port, self._target)
        write_private(self._folder / SERVE_FILE, f"{port}\n{self._target}\n")
        url = address(name, port)
        write_private(self._folder / TUNNEL_URL_FILE, url)
        return url

    async def ended(self) -> str:
        """There is no process of ours that could end."""
        await anyio.sleep_forever()
        return ""

    async def check(self) -> str:
        """Whether the node is still served."""
        try:
            if not await self._tailscale.name():
                return "This machine is no longer on the tailnet."
            served = await self._tailscale.served()
        except ReachFailed as error:
            return error.text
        return "" if port_of(served, self._target) is not None else "Tailscale does not serve this node any more."

    async def close(self) -> None:
        """Takes away what leads to this node; what somebody has put in its place stays."""
        await close_served(self._tailscale, self._folder)


async def close_served(tailscale: Tailscale, folder: Path) -> bool:
    """Closes what a node of that folder has served, if it still leads there; whether it did."""
    try:
        port, target = (folder / SERVE_FILE).read_text("utf-8").split()
        number = int(port)
    except (OSError, ValueError):
        return False
    closed = False
    try:
        if port_of(await tailscale.served(), target) == number:
            await tailscale.unserve(number)
            closed = True
    except ReachFailed:
        # Tailscale is gone or refuses: there is nothing more that could be done about it.
        closed = False
    for name in (SERVE_FILE, TUNNEL_URL_FILE):
        (folder / name).unlink(missing_ok=True)
    return closed

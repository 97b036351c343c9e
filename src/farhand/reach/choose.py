"""Which way in a node takes: what the person has set up themselves first, then what is there, then none."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from farhand.model import compat
from farhand.model.errors import ProgramMissing
from farhand.model.ports import Clock
from farhand.model.reach import ReachMode
from farhand.reach import cloudflared
from farhand.reach.probe import Probe, probe
from farhand.reach.process import TunnelProcess
from farhand.reach.tailscale import PROGRAM, Tailscale, TailscaleWay, close_served
from farhand.reach.way import CloudflaredWay, Way

INSTALL = {
    cloudflared.PROGRAM: "brew install cloudflared (or use --no-tunnel)",
    PROGRAM: "https://tailscale.com/download (or use --reach none)",
}


@dataclass(frozen=True)
class ReachOptions:
    """What the choice depends on."""

    mode: ReachMode
    folder: Path
    # Where the tunnel leads to.
    target: str
    # The address that the person has given, and the tunnel of cloudflared that it belongs to, if farhand shall run it.
    public_url: str = ""
    tunnel_name: str = ""
    # Whether something here is called from outside: otherwise nobody is let in who was not asked for.
    wants_public: bool = True
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def check_programs(mode: ReachMode, tunnel_name: str, public_url: str, path: str | None) -> None:
    """Raises ProgramMissing when the way that was asked for by name needs a program that is not here."""
    wanted = ""
    if mode is ReachMode.TAILSCALE:
        wanted = PROGRAM
    elif mode is ReachMode.CLOUDFLARED and (tunnel_name or not public_url):
        wanted = cloudflared.PROGRAM
    if wanted and shutil.which(wanted, path=path) is None:
        raise ProgramMissing(f"{wanted} not installed", hints=(INSTALL[wanted],))


async def choose(options: ReachOptions, clock: Clock, probing: Probe = probe) -> Way | None:
    """The way, or None where the node is to be reached from here alone, or at an address that the person keeps up."""
    path = options.environment.get("PATH")
    cloudflare, tailscale = shutil.which(cloudflared.PROGRAM, path=path), shutil.which(PROGRAM, path=path)
    if options.mode is ReachMode.NONE:
        return None
    if options.mode is not ReachMode.TAILSCALE and options.tunnel_name and options.public_url and cloudflare:
        words = cloudflared.named_arguments(options.tunnel_name, options.target)
        return _tunnel(options, clock, probing, (cloudflare, *words), options.public_url.rstrip("/"))
    if tailscale and options.mode in (ReachMode.AUTO, ReachMode.TAILSCALE):
        command = Tailscale(tailscale, options.environment)
        if options.mode is ReachMode.TAILSCALE or await command.name():
            return TailscaleWay(command, options.folder, options.target)
    is_wanted = options.mode is ReachMode.CLOUDFLARED or (options.mode is ReachMode.AUTO and options.wants_public)
    if cloudflare and is_wanted and not options.public_url:
        return _tunnel(options, clock, probing, (cloudflare, *cloudflared.quick_arguments(options.target)), "")
    return None


async def close_left_behind(options: ReachOptions, way: Way | None) -> None:
    """Closes what an earlier run of another kind has left open."""
    if not isinstance(way, CloudflaredWay):
        await TunnelProcess(options.folder, (cloudflared.PROGRAM,), {}).end()
        if not isinstance(way, TailscaleWay):
            (options.folder / compat.TUNNEL_URL_FILE).unlink(missing_ok=True)
    program = shutil.which(PROGRAM, path=options.environment.get("PATH"))
    if program and not isinstance(way, TailscaleWay) and (options.folder / compat.SERVE_FILE).exists():
        await close_served(Tailscale(program, options.environment), options.folder)


def _tunnel(
    options: ReachOptions, clock: Clock, probing: Probe, command: tuple[str, ...], named: str
) -> CloudflaredWay:
    # cloudflared takes TUNNEL_… variables for settings of its own.
    environment = {name: value for name, value in options.environment.items() if not name.startswith("TUNNEL_")}
    process = TunnelProcess(options.folder, command, environment)
    return CloudflaredWay(process, options.folder, clock, probing, named)

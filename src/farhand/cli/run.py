"""`farhand run`: starts a node, and a conversation with its team when this is a terminal."""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from farhand.cli.bot_api import BotApiError, bot_api, token_of
from farhand.cli.detach import DETACHED, run_behind
from farhand.cli.earlier_bridge import check_not_running, earlier_team, free_webhook, tell
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.cli.prompts import Prompts
from farhand.config.places import node_folder
from farhand.config.process import make_undumpable, start_without_pauses
from farhand.config.sandbox import read_sandbox
from farhand.config.secret_files import secret_in_file
from farhand.config.settings import Settings, read_settings
from farhand.model.earlier_bridge import EarlierTeam
from farhand.model.errors import NodeRunning, PortTaken, ProgramMissing, SettingMissing, SettingWrong
from farhand.model.reach import ReachMode, reach_mode
from farhand.model.sandbox import IMAGE, SandboxEngine, SandboxOptions, read_mount
from farhand.model.variables import port_number
from farhand.model.words import replace as change
from farhand.store.database import has_events
from farhand.store.folder import running

STORE_FILE = "farhand.db"
# Without a network nobody waits longer.
TOKEN_SECONDS = 5.0
# The flags that `restart` gives again.
KEPT = ("no_telegram", "no_tunnel", "demo", "end_workers", "verbose", "sandbox", "no_sandbox")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `run` takes."""
    add_node(parser)
    parser.add_argument("-p", "--port", help="the HTTP port (default: prod 8081, dev 8082, test 8095, else 8080)")
    parser.add_argument("--no-telegram", action="store_true", help="run without the Telegram channel")
    parser.add_argument("--no-tunnel", action="store_true", help="no tunnel and no webhook: Telegram is polled")
    parser.add_argument("--tunnel-url", help="use this public address for the webhook")
    parser.add_argument(
        "--reach", choices=[mode.value for mode in ReachMode], help="the way in from outside (default: auto)"
    )
    parser.add_argument("--headless", action="store_true", help="ask nothing, show no conversation")
    parser.add_argument("--detach", action="store_true", help="run behind, and come back when it is ready")
    parser.add_argument("--demo", action="store_true", help="put a demo worker on an empty team")
    app = parser.add_mutually_exclusive_group()
    app.add_argument("--open", action="store_true", help="open the phone app in the browser of this machine")
    app.add_argument("--chat", action="store_true", help="talk in this terminal and open no browser (the default)")
    parser.add_argument("--end-workers", action="store_true", help="end the agents, too, when the node is left")
    sandbox = parser.add_mutually_exclusive_group()
    sandbox.add_argument("--sandbox", action="store_true", help="workers run in containers: Docker, podman or bwrap")
    sandbox.add_argument("--no-sandbox", action="store_true", help="workers run as they are")
    parser.add_argument("--sandbox-image", help=f"the image of their containers (default: {IMAGE})")
    parser.add_argument("--mount", action="append", metavar="PATH", help="a folder that is inside, too; [from:]to")
    parser.add_argument("--mount-ro", action="append", metavar="PATH", help="the same, read-only")
    parser.add_argument("-q", "--quiet", action="store_true", help="log errors only")
    parser.add_argument("-v", "--verbose", action="store_true", help="log everything")


def run(arguments: argparse.Namespace) -> int:
    """Runs the node until it is told to stop."""
    arguments.node = choose(arguments)
    check(arguments)
    folder = node_folder(arguments.node, os.environ)
    if (process := running(folder)) is not None:
        raise already_running(arguments.node, process)
    check_not_running(arguments.node, folder)
    if arguments.detach:
        # Behind, nobody can be asked any more.
        if not (arguments.tunnel_url or os.environ.get("TUNNEL_URL", "").strip()):
            _free_webhook(arguments, folder / STORE_FILE, token_of(os.environ), asks=_is_seen(arguments))
        return run_behind(arguments, flags_of(arguments))
    return _run_here(arguments)


def already_running(node: str, process: int) -> NodeRunning:
    """What a second run is told, and where to go instead."""
    return NodeRunning(
        f"Node '{node}' is already running (pid {process}).", hints=(f"farhand chat --node {node}",), node=node
    )


def check(arguments: argparse.Namespace) -> None:
    """Raises when something is not there that the node needs."""
    if arguments.port is not None:
        port_number(arguments.port)
    if backend := os.environ.get("FARHAND_HIRE_BACKEND", "").strip().lower():
        from farhand.cli.agent_clis import check_backend

        check_backend(backend, node_folder(arguments.node, os.environ), "FARHAND_HIRE_BACKEND")
    sandbox = sandbox_of(arguments, os.environ)
    if sandbox.enabled:
        check_sandbox(sandbox, os.environ)
    if not arguments.no_telegram and not _has_chat(os.environ):
        raise SettingMissing(
            "TELEGRAM_BOT_TOKEN not set", hints=("set it, or try farhand without it: farhand run --no-telegram --demo",)
        )
    if not arguments.no_tunnel:
        _check_reach(arguments)
    if shutil.which("tmux") is None and not arguments.demo and not arguments.no_telegram:
        raise tmux_missing()
    is_new = not has_events(node_folder(arguments.node, os.environ) / STORE_FILE)
    if not arguments.no_telegram and is_new and token_of(os.environ):
        _check_token()


def _has_chat(environ: Mapping[str, str]) -> bool:
    """Whether a chat is switched on by its token."""
    from farhand.manifests import channel_tokens

    return any(environ.get(name, "").strip() or secret_in_file(name, environ) for name in channel_tokens())


def _check_token() -> None:
    """Raises at a node's first start when Telegram does not know the token; a node that has lived tells it in time, for
    it may have other ways to be reached."""
    with suppress(BotApiError):
        bot_api(os.environ, TOKEN_SECONDS).call("getMe")


def sandbox_of(arguments: argparse.Namespace, environ: Mapping[str, str]) -> SandboxOptions:
    """How workers are sandboxed: the flags, over the variables."""
    options, home = read_sandbox(environ), environ.get("HOME", "/")
    added = [read_mount(one, home) for one in arguments.mount or ()]
    added += [read_mount(one, home, read_only=True) for one in arguments.mount_ro or ()]
    return change(
        options,
        enabled=(options.enabled or arguments.sandbox) and not arguments.no_sandbox,
        image=arguments.sandbox_image or options.image,
        mounts=(*options.mounts, *added),
    )


def check_sandbox(sandbox: SandboxOptions, environ: Mapping[str, str]) -> None:
    """Raises when nothing here can run sandboxes: no worker must run outside of one unseen."""
    from farhand.sandbox.bwrap import check_limits
    from farhand.sandbox.engine import find_engine

    if environ.get("FARHAND_RUN_AS", "").strip():
        raise SettingWrong(
            "Workers run in sandboxes or as another user, not both.", hints=("unset FARHAND_RUN_AS or SANDBOX_ENABLED",)
        )
    if find_engine(sandbox.engine, environ).kind is SandboxEngine.BWRAP:
        check_limits(sandbox.limits)


def _check_reach(arguments: argparse.Namespace) -> None:
    """Raises when the way in that was asked for by name needs a program that is not here."""
    mode = reach_mode(arguments.reach or os.environ.get("FARHAND_REACH", ""))
    if mode in (ReachMode.TAILSCALE, ReachMode.CLOUDFLARED):
        from farhand.reach.choose import check_programs

        url = arguments.tunnel_url or os.environ.get("TUNNEL_URL", "").strip()
        check_programs(mode, os.environ.get("FARHAND_TUNNEL_NAME", "").strip(), url, os.environ.get("PATH"))


def tmux_missing() -> ProgramMissing:
    """tmux is where agents sit that one can sit down at."""
    others = () if sys.platform == "darwin" else ("or: sudo apt install tmux",)
    return ProgramMissing("tmux not installed", hints=("brew install tmux", *others))


def flags_of(arguments: argparse.Namespace) -> list[str]:
    """The flags by which the same node is run again; nothing secret is among them."""
    flags = [f"--{name.replace('_', '-')}" for name in KEPT if vars(arguments)[name]]
    flags += [f"--port={arguments.port}"] if arguments.port is not None else []
    flags += [f"--reach={arguments.reach}"] if arguments.reach else []
    flags += [f"--sandbox-image={arguments.sandbox_image}"] if arguments.sandbox_image else []
    flags += [f"--mount={one}" for one in arguments.mount or ()]
    flags += [f"--mount-ro={one}" for one in arguments.mount_ro or ()]
    return flags + ([f"--tunnel-url={arguments.tunnel_url}"] if arguments.tunnel_url else [])


def _run_here(arguments: argparse.Namespace) -> int:
    start_without_pauses()
    from farhand.manifests import channel_secrets

    settings = read_settings(
        node=arguments.node,
        port=None if arguments.port is None else port_number(arguments.port),
        headless=arguments.headless,
        demo=arguments.demo,
        quiet=arguments.quiet,
        verbose=arguments.verbose,
        tunnel_url=arguments.tunnel_url or "",
        tunnel=not arguments.no_tunnel,
        reach=arguments.reach or "",
        secret_names=channel_secrets(),
        environ=os.environ,
    )
    settings = replace(
        settings,
        flags=tuple(flags_of(arguments)),
        ends_workers=arguments.end_workers,
        opens_app=arguments.open,
        sandbox=sandbox_of(arguments, os.environ),
    )
    talks = _is_seen(arguments)
    settings = replace(settings, earlier=_take_over(settings, arguments, asks=talks))
    try:
        _serve(settings, talks=talks, without=frozenset({"telegram"} if arguments.no_telegram else ()))
    except PortTaken as error:
        error.details.setdefault("hints", ("Stop the other process or use: --port <other-port>",))
        raise
    finally:
        if settings.ends_workers and running(settings.folder) is None:
            from farhand.cli.end_node import end_agents

            end_agents(settings.node, settings.folder)
    return 0


def _take_over(settings: Settings, arguments: argparse.Namespace, *, asks: bool) -> EarlierTeam:
    """What another bridge has left is found and told; its webhook is asked about, unless this node sets its own."""
    team = earlier_team(settings)
    tell(team, keyless=settings.keyless_tcp)
    if not settings.public_url:
        _free_webhook(arguments, settings.store, settings.secrets.get("TELEGRAM_BOT_TOKEN", ""), asks=asks)
    return team


def _free_webhook(arguments: argparse.Namespace, store: Path, token: str, *, asks: bool) -> None:
    if not arguments.no_telegram:
        free_webhook(store, token, Prompts(asks=asks), force=arguments.force)


def _is_seen(arguments: argparse.Namespace) -> bool:
    """Whether somebody sits before it."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not arguments.headless


def _serve(settings: Settings, *, talks: bool, without: frozenset[str]) -> None:
    import anyio

    from farhand import roster
    from farhand import run as node_run

    make_undumpable()
    node_run.set_up_logs(settings, show=not talks and DETACHED not in os.environ)
    serve = node_run.run_with_conversation if talks else node_run.run_until_signal
    anyio.run(serve, settings, roster.drivers(settings), partial(roster.build_channels, without=without))

"""`farhand run`: starts a node, and a conversation with its team when this is a terminal."""

import argparse
import os
import sys
from functools import partial

from farhand.cli.node_choice import choose
from farhand.cli.options import add_node
from farhand.config.process import make_undumpable
from farhand.config.settings import Settings, port_number, read_settings
from farhand.model.errors import PortTaken, SettingMissing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `run` takes."""
    add_node(parser)
    parser.add_argument("-p", "--port", help="the HTTP port (default: prod 8081, dev 8082, test 8095, else 8080)")
    parser.add_argument("--no-telegram", action="store_true", help="run without the Telegram channel")
    parser.add_argument("--no-tunnel", action="store_true", help="no tunnel and no webhook: Telegram is polled")
    parser.add_argument("--tunnel-url", help="use this public address for the webhook")
    parser.add_argument("--headless", action="store_true", help="ask nothing, show no conversation")
    parser.add_argument("--demo", action="store_true", help="put a demo worker on an empty team")
    parser.add_argument("-q", "--quiet", action="store_true", help="log errors only")
    parser.add_argument("-v", "--verbose", action="store_true", help="log everything")


def run(arguments: argparse.Namespace) -> int:
    """Runs the node until it is told to stop."""
    from farhand.roster import channel_secrets

    settings = read_settings(
        node=choose(arguments),
        port=None if arguments.port is None else port_number(arguments.port),
        headless=arguments.headless,
        demo=arguments.demo,
        quiet=arguments.quiet,
        verbose=arguments.verbose,
        tunnel_url=arguments.tunnel_url or "",
        tunnel=not arguments.no_tunnel,
        secret_names=channel_secrets(),
        environ=os.environ,
    )
    if "TELEGRAM_BOT_TOKEN" not in settings.secrets and not arguments.no_telegram:
        raise SettingMissing(
            "TELEGRAM_BOT_TOKEN not set", hints=("set it, or try farhand without it: farhand run --no-telegram --demo",)
        )
    talks = sys.stdin.isatty() and sys.stdout.isatty() and not settings.headless
    try:
        _serve(settings, talks=talks, without=frozenset({"telegram"} if arguments.no_telegram else ()))
    except PortTaken as error:
        error.details["hints"] = ("Stop the other process or use: --port <other-port>",)
        raise
    return 0


def _serve(settings: Settings, *, talks: bool, without: frozenset[str]) -> None:
    import anyio

    from farhand import roster
    from farhand import run as running

    make_undumpable()
    running.set_up_logs(settings, show=not talks)
    serve = running.run_with_conversation if talks else running.run_until_signal
    anyio.run(serve, settings, roster.drivers(settings), partial(roster.build_channels, without=without))

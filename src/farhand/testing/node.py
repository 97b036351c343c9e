"""A node in a process of its own, with the scripted agent, for tests to kill."""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from farhand import app
from farhand.config import logs
from farhand.drivers.demo.driver import DemoDriver
from farhand.model import road
from farhand.model.ports import Channel
from farhand.sandbox.environment import child_environment
from farhand.sandbox.holders import LocalHolders
from farhand.testing import agent, kills
from farhand.testing.house import settings_in
from farhand.testing.ledger import LedgerChannel

BACKEND = "scripted"


def telegram(parts: app.Parts, bot: str, *, public: bool) -> Channel:
    """Telegram at that address, without limits that would make a test wait."""
    from farhand.channels.telegram.channel import TelegramChannel, TelegramOptions

    address, _, token = bot.partition(",")
    options = TelegramOptions(
        token=token,
        folder=parts.settings.folder,
        api_url=address,
        public_url=f"http://127.0.0.1:{parts.port}" if public else "",
        chat_per_second=10_000,
        chat_burst=1000,
        per_second=10_000,
    )
    return TelegramChannel(options, parts.hub, parts.outbox, parts.clock, parts.announce)


def main() -> None:
    """Runs the node until it is stopped or killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="where node, ledger and sent messages are")
    parser.add_argument("--kill-at", default="", help="place:count")
    parser.add_argument("--telegram", default="", help="address and token of a bot, with a comma between")
    parser.add_argument("--port", type=int, default=0, help="the node's port; with --public its webhook is there")
    parser.add_argument("--public", action="store_true", help="webhook instead of polling")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if arguments.kill_at:
        road.post(kills.read(arguments.kill_at))
    settings = replace(settings_in(folder), quiet=True, port=arguments.port)
    folder.mkdir(parents=True, exist_ok=True)
    logs.set_up(None, quiet=True)
    driver = DemoDriver(
        LocalHolders(settings.holders),
        python=sys.executable,
        environment=child_environment(os.environ, {}),
        program=Path(agent.__file__),
        arguments=[str(folder / "prompts")],
        backend=BACKEND,
    )

    def channels(parts: app.Parts) -> list[Channel]:
        if arguments.telegram:
            return [telegram(parts, arguments.telegram, public=arguments.public)]
        return [LedgerChannel(parts.hub, parts.outbox, parts.clock, folder / "sent")]

    anyio.run(app.run_until_signal, settings, {BACKEND: driver}, channels)


if __name__ == "__main__":
    main()

"""A node in a process of its own, with the scripted agent, for tests to kill."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from farhand.config import logs
from farhand.drivers.demo.driver import DemoDriver
from farhand.model import road
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.run import run_until_signal
from farhand.sandbox.environment import child_environment
from farhand.sandbox.holders import LocalHolders
from farhand.testing import agent, kills
from farhand.testing.house import settings_in
from farhand.testing.ledger import LedgerChannel

BACKEND = "scripted"


def telegram(context: ChannelContext, bot: str, *, public: bool) -> Channel:
    """Telegram at that address, without limits that would make a test wait."""
    from farhand.channels.kit.surface import RateLimits
    from farhand.channels.telegram.channel import TelegramChannel
    from farhand.channels.telegram.settings import TelegramSettings

    address, _, token = bot.partition(",")
    limits = RateLimits(chat_per_second=10_000, chat_burst=1000, per_second=10_000)
    url = f"http://127.0.0.1:{context.port}" if public else ""
    settings = TelegramSettings(token=token, api_url=address, limits=limits)
    return TelegramChannel(settings, replace(context, public_url=url))


def whatsapp(context: ChannelContext, number: str) -> Channel:
    """WhatsApp at that address, without limits that would make a test wait."""
    from farhand.channels.kit.surface import RateLimits
    from farhand.channels.whatsapp.phone_number import WhatsAppChannel
    from farhand.channels.whatsapp.settings import WhatsAppSettings, identity

    address, phone_id, token, secret, manager = number.split(",")
    settings = WhatsAppSettings(
        token=token,
        phone_id=phone_id,
        app_secret=secret,
        manager=identity(manager),
        api_url=address,
        limits=RateLimits(chat_per_second=10_000, chat_burst=1000, per_second=10_000),
    )
    return WhatsAppChannel(settings, replace(context, public_url=f"http://127.0.0.1:{context.port}"))


def push(context: ChannelContext, service: str) -> Channel:
    """Web push to that service alone."""
    from farhand.channels.push.channel import build

    (made,) = build(replace(context, variables={"FARHAND_PUSH_SERVICES": service}))
    return made


def main(words: Sequence[str] | None = None) -> None:
    """Runs the node until it is stopped or killed, with these arguments or with those of the process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="where node, ledger and sent messages are")
    parser.add_argument("--kill-at", default="", help="place:count")
    parser.add_argument("--telegram", default="", help="address and token of a bot, with a comma between")
    parser.add_argument("--whatsapp", default="", help="address, phone id, token, app secret and manager of a number")
    parser.add_argument("--push", default="", help="address of a push service")
    parser.add_argument("--port", type=int, default=0, help="the node's port; with --public its webhook is there")
    parser.add_argument("--public", action="store_true", help="webhook instead of polling")
    arguments = parser.parse_args(words)
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

    def channels(context: ChannelContext) -> list[Channel]:
        if arguments.telegram:
            return [telegram(context, arguments.telegram, public=arguments.public)]
        if arguments.whatsapp:
            return [whatsapp(context, arguments.whatsapp)]
        if arguments.push:
            return [push(context, arguments.push)]
        return [LedgerChannel(context, folder / "sent")]

    anyio.run(run_until_signal, settings, {BACKEND: driver}, channels)


if __name__ == "__main__":
    main()

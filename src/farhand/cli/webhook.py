"""`farhand webhook`: sets the bot's webhook, shows it, deletes it."""

import argparse
import os
import sys

from farhand.channels.telegram.state_files import TelegramStored
from farhand.cli.bot_api import BotApi, bot_api
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.config.places import node_folder
from farhand.model.errors import BadUsage
from farhand.model.visible import visible
from farhand.store import folder as node_folders

# What the node wants to hear of, as its own webhook has it.
ALLOWED_UPDATES = ("message", "edited_message", "callback_query")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `webhook` takes."""
    add_node(parser)
    parser.add_argument("what", metavar="URL|info|delete", help="the public address to set, or what to do")


def run(arguments: argparse.Namespace) -> int:
    """Does it."""
    node = choose(arguments)
    if arguments.what not in ("info", "delete") and not arguments.what.startswith("https://"):
        raise BadUsage(
            f"A webhook is an https:// address, not '{visible(arguments.what)}'.",
            hints=("farhand webhook <url>|info|delete",),
        )
    api = bot_api()
    match arguments.what:
        case "info":
            sys.stdout.write(info(node, api))
        case "delete":
            api.call("deleteWebhook")
            sys.stdout.write("Webhook deleted\n")
        case url:
            _set(node, api, url)
    return 0


def _set(node: str, api: BotApi, url: str) -> None:
    """Sets it with the secret that the node wants to hear with every update."""
    folder = node_folder(node, os.environ)
    node_folders.make(folder)
    stored = TelegramStored(folder)
    secret = stored.webhook_secret(os.environ.get("TELEGRAM_WEBHOOK_SECRET", "").strip())
    sys.stdout.write(f"Setting webhook for node '{node}': {url}\n")
    api.call("setWebhook", url=url, secret_token=secret, allowed_updates=ALLOWED_UPDATES)
    stored.keep_webhook_url(url)
    sys.stdout.write("Webhook configured\n")


def info(node: str, api: BotApi) -> str:
    """Where the webhook leads, how much waits for it, and what went wrong there last."""
    found = api.call("getWebhookInfo")
    url = str(found.get("url") or "")
    if not url:
        return f"Node: {node}\nNo webhook configured\n"
    lines = [f"Node: {node}", f"URL:     {visible(url)}", f"Pending: {found.get('pending_update_count', 0)}"]
    if found.get("last_error_message"):
        lines.append(f"Error:   {visible(str(found['last_error_message']))}")
    return "\n".join(lines) + "\n"

"""`farhand whatsapp`: sets the business number up for a node, and tells how it stands."""

import argparse
import os
import sys
from collections.abc import Mapping

from farhand.channels.whatsapp.settings import WhatsAppSettings, read_settings
from farhand.channels.whatsapp.templates import standing, template
from farhand.cli.graph_api import GraphApi
from farhand.config.secret_files import secret_in_file
from farhand.model.errors import SettingMissing
from farhand.model.visible import visible

SECRETS = ("WHATSAPP_TOKEN", "WHATSAPP_APP_SECRET")
NEWCOMER = "docs/how-to/whatsapp.md tells where to get them"
APPROVED = "APPROVED"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `whatsapp` takes."""
    parser.add_argument(
        "what",
        choices=("setup", "status"),
        help="setup: subscribe the app to the account and hand the template in; status: tell how all stands",
    )


def run(arguments: argparse.Namespace) -> int:
    """Does it. Both can be said as often as one likes."""
    settings = settings_of(os.environ)
    api = GraphApi(settings)
    if arguments.what == "setup":
        set_up(settings, api)
    sys.stdout.write("\n".join(status_lines(settings, api)) + "\n")
    return 0


def settings_of(environ: Mapping[str, str]) -> WhatsAppSettings:
    """What is set; the secrets may stand in files. Raises SettingMissing without a token."""
    found = {name: environ.get(name, "").strip() or secret_in_file(name, environ) for name in SECRETS}
    settings = read_settings({**environ, **found})
    if settings is None:
        raise SettingMissing("WHATSAPP_TOKEN not set", hints=(NEWCOMER,))
    return settings


def set_up(settings: WhatsAppSettings, api: GraphApi) -> None:
    """Subscribes the app to what comes in for the account, and hands the template in unless it is there."""
    if not settings.waba_id:
        raise SettingMissing("WHATSAPP_WABA_ID not set: the id of the WhatsApp Business account", hints=(NEWCOMER,))
    api.call("POST", f"{settings.waba_id}/subscribed_apps", {})
    sys.stdout.write("The app hears of this account's messages.\n")
    if not template_standing(settings, api):
        api.call("POST", f"{settings.waba_id}/message_templates", template(settings.template, settings.language))
        sys.stdout.write(f"The template '{settings.template}' is handed in; Meta mostly approves it within minutes.\n")


def template_standing(settings: WhatsAppSettings, api: GraphApi) -> str:
    """How the template stands at Meta; empty if it has none."""
    listed = api.call("GET", f"{settings.waba_id}/message_templates?name={settings.template}&limit=100")
    return standing(listed, settings.template, settings.language)


def status_lines(settings: WhatsAppSettings, api: GraphApi) -> list[str]:
    """The number, its webhook and its template, and what is left to do."""
    fields = "display_phone_number,verified_name,webhook_configuration"
    about = api.call("GET", f"{settings.phone_id}?fields={fields}")
    webhook = about.get("webhook_configuration")
    where = webhook.get("phone_number", "") if isinstance(webhook, dict) else ""
    number, name = (visible(str(about.get(one, "?"))) for one in ("display_phone_number", "verified_name"))
    lines = [
        f"Number:   {number} ({name})",
        f"Webhook:  {visible(str(where)) or 'none; a running node registers its own'}",
        f"Manager:  {settings.manager.chat or 'nobody is set; the node shows a code that pairs one'}",
    ]
    if not settings.waba_id:
        return [*lines, "Template: unknown without WHATSAPP_WABA_ID"]
    stands = template_standing(settings, api)
    todo = (
        "" if stands == APPROVED else "; until it is approved, what comes after a day of silence waits for you to write"
    )
    return [*lines, f"Template: {settings.template} ({settings.language}): {stands.lower() or 'none'}{todo}"]

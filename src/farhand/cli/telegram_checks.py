"""What `farhand doctor` looks at of Telegram: the bot, its webhook, whether somebody else hears in its place."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from farhand.channels.telegram.state_files import WEBHOOK_FILE
from farhand.cli.bot_api import BotApi, BotApiError, TokenRefused, bot_api, token_of
from farhand.cli.check_result import BAD, GOOD, WARNING, CheckResult
from farhand.cli.quick_status import quick_status
from farhand.model.errors import FarhandError
from farhand.store.folder import running

MOST_SECONDS_APART = 60.0
TELEGRAM_SECONDS = 10.0
# In this time a program that was ended in its poll asks again.
POLL_SECONDS = 4


class TelegramChecks:
    """The checks of one node's bot."""

    def __init__(self, environ: Mapping[str, str], folder: Path, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._environ = environ
        self._folder = folder
        self._said = (quick_status(folder) or {}) if running(folder) is not None else {}

    def all(self) -> Iterator[CheckResult]:
        """Every one; without a token only what the running node says of its own."""
        if not token_of(self._environ):
            yield self._without_token()
            return
        try:
            api = bot_api(self._environ, TELEGRAM_SECONDS)
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

    def _without_token(self) -> CheckResult:
        health = self._said.get("channels", {}).get("telegram")
        if health is None:
            return CheckResult(
                "token", WARNING, "TELEGRAM_BOT_TOKEN not set", "farhand setup, or set TELEGRAM_BOT_TOKEN"
            )
        is_well = str(health).startswith(("polling", "webhook"))
        return CheckResult("token", GOOD if is_well else BAD, f"known to the running node alone: {health}")

    def _clock(self, api: BotApi) -> CheckResult:
        apart = abs(self._now() - api.answered_at) if api.answered_at else 0.0
        if apart > MOST_SECONDS_APART:
            told = f"{apart:.0f} s apart from Telegram's"
            return CheckResult("clock", WARNING, told, "timedatectl set-ntp on")
        return CheckResult("clock", GOOD, "right")

    def _receiving(self, api: BotApi) -> Iterator[CheckResult]:
        try:
            url = str(api.call("getWebhookInfo").get("url") or "")
            if url and not is_own_webhook(url, self._folder, self._environ):
                yield CheckResult("webhook", BAD, f"set elsewhere: {url}", "farhand webhook delete")
                return
            yield CheckResult("webhook", GOOD, f"this node's: {url}" if url else "not set: Telegram is polled")
            if running(self._folder) is not None:
                yield from self._receive_state()
            elif not url:
                # Of two that poll, Telegram ends the one that came first: the other asks again, and is seen by that.
                api.call("getUpdates", timeout=POLL_SECONDS, limit=1)
                yield CheckResult("polling", GOOD, "nobody else polls this bot")
        except BotApiError as error:
            conflict = error.details.get("status") == 409
            todo = "stop the other program, or give this node a bot of its own" if conflict else "try again"
            yield CheckResult("polling", BAD, "another program polls this bot" if conflict else error.text, todo)

    def _receive_state(self) -> Iterator[CheckResult]:
        """What the running node says of its own hearing."""
        receive = self._said.get("hearing", {}).get("telegram")
        if not receive:
            return
        deaf = receive.get("deaf_since")
        told = str(self._said.get("channels", {}).get("telegram", "")) if deaf else "the node hears Telegram"
        yield CheckResult("hearing", BAD if deaf else GOOD, told or "deaf", "farhand status" if deaf else "")


def is_own_webhook(url: str, folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether the address is the one that is set, or that the node of that folder itself has set."""
    own, kept = [environ.get("TUNNEL_URL", "").strip()], folder / WEBHOOK_FILE
    own += [kept.read_text("utf-8").strip()] if kept.exists() else []
    return url.rstrip("/") in (one.rstrip("/") for one in own)

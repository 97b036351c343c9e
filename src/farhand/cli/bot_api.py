"""The Bot API for a command that makes a call or two: no event loop, no library, and no token in any error."""

import json
import os
from collections.abc import Mapping
from typing import Any

from farhand.config.secret_files import secret_in_file
from farhand.model.errors import ChannelError, SettingMissing
from farhand.model.lazy_pattern import lazy_pattern

API_URL = "https://api.telegram.org"
SECONDS = 15.0
LARGEST = 4_000_000
NEWCOMER = "make a bot with @BotFather on Telegram, or: farhand setup"
NO_NETWORK = "is this machine on the network? farhand doctor looks"
TOKEN = lazy_pattern(r"[0-9]+:[!-~]+")


class TokenRefused(SettingMissing):
    """Telegram does not know the bot's token."""

    code = "token_refused"


class BotApiError(ChannelError):
    """Telegram refused a call or could not be reached."""

    code = "bot_api"


class BotApi:
    """One bot, by its token."""

    def __init__(self, token: str, address: str = API_URL, seconds: float = SECONDS) -> None:
        self._token = token
        self._address = address.rstrip("/")
        self._seconds = seconds
        # What the clock said at the other end, at the last answer; 0 when it did not say.
        self.answered_at = 0.0

    def call(self, method: str, **fields: Any) -> Any:
        """The result of one method; raises TokenRefused or BotApiError."""
        # Loaded here: a command that asks nothing of Telegram does not pay for it.
        import http.client
        import urllib.error
        import urllib.request

        body = json.dumps(fields).encode()
        url = f"{self._address}/bot{self._token}/{method}"
        try:
            request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310
            with urllib.request.urlopen(request, timeout=self._seconds) as answer:  # noqa: S310
                said = json.loads(answer.read(LARGEST))
                self.answered_at = _seconds(answer.headers.get("Date", ""))
        except urllib.error.HTTPError as error:
            raise self._refusal(error.code, error.read(LARGEST)) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise BotApiError(f"Telegram cannot be reached: {self._clean(error)}", hints=(NO_NETWORK,)) from None
        if not isinstance(said, dict) or said.get("ok") is not True:
            raise BotApiError("Telegram's answer cannot be read.")
        return said.get("result")

    def _refusal(self, code: int, body: bytes) -> SettingMissing | BotApiError:
        if code in (401, 404):
            return TokenRefused("Telegram refuses the bot token.", hints=(NEWCOMER,))
        try:
            why = str(json.loads(body).get("description", ""))
        except (ValueError, AttributeError):
            why = ""
        return BotApiError(f"Telegram refused it ({code}): {self._clean(why or 'no reason given')}", status=code)

    def _clean(self, error: object) -> str:
        reason = vars(error).get("reason", error) if isinstance(error, OSError) else error
        told = (reason.strerror or reason) if isinstance(reason, OSError) else reason
        return str(told).replace(self._token, "<token>")


def _seconds(date: str) -> float:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return 0.0


def token_of(environ: Mapping[str, str]) -> str:
    """The bot's token, if one is set: in the variable, in the file that is named, or as systemd's credential."""
    return environ.get("TELEGRAM_BOT_TOKEN", "").strip() or secret_in_file("TELEGRAM_BOT_TOKEN", environ)


def bot_api(environ: Mapping[str, str] | None = None, seconds: float = SECONDS) -> BotApi:
    """The bot that is set; raises SettingMissing without one, TokenRefused where it cannot be one."""
    environ = os.environ if environ is None else environ
    token = token_of(environ)
    if not token:
        raise SettingMissing("TELEGRAM_BOT_TOKEN not set", hints=(NEWCOMER,))
    if not TOKEN.fullmatch(token):
        raise TokenRefused(
            "TELEGRAM_BOT_TOKEN is no bot token: one is a number, a colon and letters, 123456:ABC-DEF.",
            hints=(NEWCOMER,),
        )
    return BotApi(token, environ.get("TELEGRAM_API_URL", "").strip() or API_URL, seconds)

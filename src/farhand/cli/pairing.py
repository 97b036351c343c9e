"""Pairs a phone before there is a node: shows a code and its link, and waits until somebody sends it to the bot."""

import hmac
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

from farhand.channels.kit.who_may_speak import ALPHABET, CODE_CHARACTERS, WRONG_CODES, as_qr
from farhand.cli.bot_api import BotApi
from farhand.model.errors import NodeError
from farhand.model.visible import visible

WAIT_SECONDS = 600.0
POLL_SECONDS = 20


def new_code() -> str:
    """A code that nobody guesses and everybody can type."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))


class PhonePairing:
    """One pairing: the first private chat that sends the code is the manager's."""

    def __init__(self, api: BotApi, username: str, tell: Callable[[str], None]) -> None:
        self._api = api
        self._username = username
        self._tell = tell
        self._wrong = 0
        self._code = ""

    def run(self, seconds: float = WAIT_SECONDS) -> str:
        """Shows the code and waits; the chat that sent it. What it heard meanwhile is confirmed and goes no further."""
        self._show()
        deadline = time.monotonic() + seconds
        offset: int | None = None
        while time.monotonic() < deadline:
            asked = {"timeout": POLL_SECONDS, "allowed_updates": ["message"]}
            for update in self._api.call("getUpdates", **asked, **({} if offset is None else {"offset": offset})):
                offset = int(update["update_id"]) + 1
                if chat := self._heard(update.get("message") or {}):
                    self._api.call("getUpdates", offset=offset, timeout=0)
                    return chat
        raise NodeError("No phone was paired in time.", hints=("farhand setup again, or give --admin <chat id>",))

    def _show(self) -> None:
        self._code = new_code()
        link = f"https://t.me/{self._username}?start={self._code}"
        self._tell(f"Open this on your phone and press Start:\n{as_qr(link)}\n{link}")
        self._tell(f"or send @{self._username} this code: {self._code}")

    def _heard(self, message: dict[str, Any]) -> str:
        """The chat, if this message is the code in a private chat. After too many wrong ones there is a new code."""
        chat = message.get("chat") or {}
        text = str(message.get("text") or "").strip()
        said = text.removeprefix("/start").strip().upper()
        if chat.get("type") != "private" or not said:
            return ""
        if hmac.compare_digest(said.encode(), self._code.encode()):
            name = str((message.get("from") or {}).get("first_name") or "somebody")
            self._tell(f"Paired with {visible(name)}.")
            return str(int(chat["id"]))
        self._wrong += 1
        if self._wrong % WRONG_CODES == 0:
            self._tell("Too many wrong codes: here is a new one.")
            self._show()
        return ""


def show(text: str) -> None:
    """To the person at this terminal, and to nobody else."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()

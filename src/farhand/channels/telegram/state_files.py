"""The few small files that the channel keeps in the node's folder: atomic, and readable by their owner alone."""

import secrets
from pathlib import Path

from farhand.channels.telegram.settings import IS_CHAT, manager_of
from farhand.disk.atomic import write_private
from farhand.model.channel_ports import Manager
from farhand.model.compat import ADMIN_CHAT_FILE, LAST_CHAT_FILE

WEBHOOK_FILE = "webhook_url"
SECRET_FILE = "webhook_secret"  # noqa: S105
BOT_ID_FILE = "bot_id"
BOT_NAME_FILE = "bot_username"


class TelegramStored:
    """What must outlive the node and is no fact of the team."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def write(self, name: str, text: str) -> None:
        """Replaces the file at once, and on the disk."""
        write_private(self._folder / name, text, sync=True)

    def read_manager(self) -> Manager:
        """Whom the files of this or an earlier bridge name; one without a chat when they name nobody."""
        text = self.read(LAST_CHAT_FILE) or self.read(ADMIN_CHAT_FILE)
        return manager_of(text) if IS_CHAT.fullmatch(text) else Manager()

    def write_manager(self, manager: Manager) -> None:
        """For other programs to read; the node itself believes its store."""
        self.write(LAST_CHAT_FILE, manager.chat)

    def webhook_url(self) -> str:
        return self.read(WEBHOOK_FILE)

    def keep_webhook_url(self, url: str) -> None:
        if self.webhook_url() != url:
            self.write(WEBHOOK_FILE, url)

    def webhook_secret(self, given: str) -> str:
        """The secret that was set, or one of our own: a webhook without one does not exist here."""
        if given:
            return given
        secret = self.read(SECRET_FILE)
        if not secret:
            secret = secrets.token_urlsafe(32)
            self.write(SECRET_FILE, secret)
        return secret

    def keep_bot(self, bot_id: int, username: str) -> None:
        self.write(BOT_ID_FILE, str(bot_id))
        self.write(BOT_NAME_FILE, username)

"""The few small files that the channel keeps in the node's folder: atomic, and readable by their owner alone."""

import secrets
from pathlib import Path

import msgspec

from farhand.disk.atomic import write_private
from farhand.model.words import Word

VERIFY_FILE = "whatsapp_verify_token"
STATE_FILE = "whatsapp_state"


class WhatsAppState(Word):
    """What is known of the manager's chat beside who they are."""

    # Whom the rest is about: of another manager it says nothing.
    chat: str = ""
    number: str = ""
    bsuid: str = ""
    # When they wrote last, in seconds since 1970, by WhatsApp's own clock: the window is open for a day after that.
    heard_at: float = 0.0
    # WhatsApp said that the window is closed, although nobody would have thought so.
    closed: bool = False


class WhatsAppStored:
    """What must outlive the node and is no fact of the team."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._state = self._read_state()

    def state(self, chat: str) -> WhatsAppState:
        """What is known of that chat."""
        return self._state if self._state.chat == chat else WhatsAppState(chat=chat)

    def keep(self, state: WhatsAppState) -> None:
        """Keeps it: on the disk when this returns."""
        if state != self._state:
            write_private(self._folder / STATE_FILE, msgspec.json.encode(state), sync=True)
            self._state = state

    def verify_token(self, given: str) -> str:
        """The token that was set, or one of our own."""
        path = self._folder / VERIFY_FILE
        if given:
            return given
        try:
            if known := path.read_text("utf-8").strip():
                return known
        except (OSError, UnicodeDecodeError):
            pass
        made = secrets.token_urlsafe(24)
        write_private(path, made, sync=True)
        return made

    def _read_state(self) -> WhatsAppState:
        try:
            return msgspec.json.decode((self._folder / STATE_FILE).read_bytes(), type=WhatsAppState)
        except (OSError, msgspec.MsgspecError):
            return WhatsAppState()

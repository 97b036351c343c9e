"""Who may speak to the team: the chat that is set, or the first one that wrote, kept for ever after."""

import os
from pathlib import Path

from farhand.channels.telegram.words import Chat, Person
from farhand.model.errors import SettingWrong


class Admin:
    """The manager's chat. Whoever else writes is ignored in silence."""

    def __init__(self, kept: Path, preset: str = "") -> None:
        self._kept = kept
        if preset and not preset.lstrip("-").isdigit():
            raise SettingWrong(f"ADMIN_CHAT_ID must be a number, not '{preset}'.", name="ADMIN_CHAT_ID")
        self.chat: int | None = int(preset) if preset else _read(kept)

    def may(self, chat: Chat, person: Person | None) -> bool:
        """Whether this chat is the manager's. The first that writes becomes it, which is kept before it is obeyed."""
        if person is None or person.is_bot:
            return False
        if self.chat is None:
            if chat.type != "private":
                # A group can add the bot without its maker's knowledge: only a person can become the manager.
                return False
            _write(self._kept, str(chat.id))
            self.chat = chat.id
        return chat.id == self.chat


def _read(kept: Path) -> int | None:
    try:
        text = kept.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.lstrip("-").isdigit() else None


def _write(kept: Path, text: str) -> None:
    """Replaces the file at once, readable by its owner alone."""
    fresh = kept.with_name(f"{kept.name}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(kept)

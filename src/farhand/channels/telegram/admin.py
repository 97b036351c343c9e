"""Who may speak to the team: the chat that is set, or the first person that wrote, kept for ever after."""

from farhand.channels.telegram.kept import Kept
from farhand.channels.telegram.words import Chat, Person
from farhand.model.errors import SettingWrong


class Admin:
    """The manager's chat. Whoever else writes is ignored in silence."""

    def __init__(self, kept: Kept, preset: str = "") -> None:
        self._kept = kept
        if preset and not (preset.lstrip("-").isascii() and preset.lstrip("-").isdigit()):
            raise SettingWrong(f"ADMIN_CHAT_ID must be a number, not '{preset}'.", name="ADMIN_CHAT_ID")
        self.chat: int | None = int(preset) if preset else kept.admin()

    def may(self, chat: Chat, person: Person | None) -> bool:
        """Whether this chat is the manager's. The first that writes becomes it, which is kept before it is obeyed."""
        if person is None or person.is_bot:
            return False
        if self.chat is None:
            if chat.type != "private":
                # Anybody can add a bot to a group: only a person can become the manager.
                return False
            self._kept.keep_admin(chat.id)
            self.chat = chat.id
        return chat.id == self.chat

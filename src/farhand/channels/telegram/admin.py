"""Who may speak to the team: the chat that is set, the first person that wrote, or the first that sent the code."""

import hmac
import io
import secrets
from collections.abc import Callable

from farhand.channels.telegram.stored import TelegramStored
from farhand.channels.telegram.words import TelegramChat, TelegramPerson
from farhand.model.errors import SettingWrong

# No letter or digit that looks like another one.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_CHARACTERS = 8
# After so many wrong codes there is a new one, so that nobody can go through them all.
WRONG_CODES = 10


def as_qr(link: str) -> str:
    """The link as a code that a phone reads off a dark terminal."""
    import segno

    drawn = io.StringIO()
    segno.make(link, micro=False).terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue().rstrip("\n")


class Pairing:
    """The code that the terminal shows, and that the first who writes must send."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._wrong = 0
        self._bot = ""
        self.code = ""

    def begin(self, bot: str = "") -> None:
        """Shows a code, and the link that sends it once the bot's name is known."""
        self._bot = bot or self._bot
        self.code = self.code or "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        told = f"To become the manager, send this code to the bot: {self.code}"
        if self._bot:
            link = f"https://t.me/{self._bot}?start={self.code}"
            told += f"\nor open {link}\n{as_qr(link)}"
        self._show(told)

    def is_right(self, text: str) -> bool:
        """Whether the text is the code, alone or behind `/start`."""
        words = text.split()
        given = "".join(words[1:] if words[:1] and words[0].lower().startswith("/start") else words)
        if hmac.compare_digest(given.upper().encode(), self.code.encode()) and self.code:
            return True
        self._wrong += 1
        if self._wrong >= WRONG_CODES:
            self._wrong, self.code = 0, ""
            self.begin()
        return False


class Admin:
    """The manager's chat. Whoever else writes is ignored in silence."""

    def __init__(self, kept: TelegramStored, preset: str = "", pairing: Pairing | None = None) -> None:
        self._kept = kept
        if preset and not (preset.lstrip("-").isascii() and preset.lstrip("-").isdigit()):
            raise SettingWrong(f"ADMIN_CHAT_ID must be a number, not '{preset}'.", name="ADMIN_CHAT_ID")
        self.chat: int | None = int(preset) if preset else kept.admin()
        self._pairing = pairing if self.chat is None else None

    def announce_code(self, bot: str = "") -> None:
        """Shows the code, while one is wanted."""
        if self._pairing is not None and self.chat is None:
            self._pairing.begin(bot)

    def may(self, chat: TelegramChat, person: TelegramPerson | None, text: str = "") -> bool:
        """Whether this chat is the manager's. The first that writes becomes it, which is kept before it is obeyed."""
        if person is None or person.is_bot:
            return False
        if self.chat is None:
            if chat.type != "private":
                # Anybody can add a bot to a group: only a person can become the manager.
                return False
            if self._pairing is not None and not self._pairing.is_right(text):
                return False
            self._kept.keep_admin(chat.id)
            self.chat = chat.id
        return chat.id == self.chat

"""Who may speak to the team: the chat that is set, the first person that wrote, or the first that sent the code."""

import hmac
import io
import secrets
import sys
from collections.abc import Callable, Collection
from typing import Protocol

from farhand.channels.kit.surface import ChatMessage, ChatTap
from farhand.model.channel_ports import Manager, Managers
from farhand.model.logger import get_logger

log = get_logger("chat")
# A message this much older than the node's start was waiting there before anybody was waited for.
BACKLOG_SECONDS = 60.0
# No letter or digit that looks like another one.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_CHARACTERS = 8
# After so many wrong codes a chat is not listened to any more. The code itself stays: a stranger who guesses must not
# change it under the fingers of its owner, and nobody comes through 31 to the power of 8.
WRONG_CODES = 10
MOST_CHATS = 10_000


class StoresManager(Protocol):
    """Where it stands who the manager is, over a restart."""

    def manager(self) -> Manager:
        """Who it is; one without a chat while nobody is."""
        ...

    def keep_manager(self, manager: Manager) -> None:
        """Keeps it: on the disk when this returns."""
        ...


class ManagerFiles(Protocol):
    """The plain files that say who the manager is: written for other programs."""

    def read_manager(self) -> Manager:
        """Whom they name; one without a chat when they name nobody."""
        ...

    def write_manager(self, manager: Manager) -> None:
        """Writes them anew."""
        ...


class StoredManager:
    """Keeps the manager of one channel in the node's store. Files are believed once: when the store has never heard of
    a manager. Whoever rewrites one later changes nothing."""

    def __init__(
        self, managers: Managers, channel: str, preset: Manager | None = None, files: ManagerFiles | None = None
    ) -> None:
        self._managers = managers
        self._channel = channel
        self._preset = preset
        self._files = files

    def manager(self) -> Manager:
        """Who it is: the one that is set, or the one that the store has; one without a chat while nobody is."""
        stored = self._managers.manager(self._channel)
        found = self._preset or stored
        if found is None:
            found = self._files.read_manager() if self._files else Manager()
        if stored is None or stored.chat != found.chat:
            self._managers.keep_manager(self._channel, found)
        return found

    def keep_manager(self, manager: Manager) -> None:
        """Keeps it: on the disk when this returns."""
        self._managers.keep_manager(self._channel, manager)
        if self._files:
            self._files.write_manager(manager)


def show_on_terminal(text: str) -> None:
    """Shows something to the person at the node's terminal, and to nobody else: not even to the log."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def as_qr(link: str) -> str:
    """The link as a code that a phone reads off a dark terminal."""
    import segno

    drawn = io.StringIO()
    segno.make(link, micro=False).terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue().rstrip("\n")


def way_in(link: str) -> str:
    """What the terminal shows while nobody is the manager and no code is wanted."""
    return f"Open {link} on your phone and press Start: whoever writes first is the manager.\n{as_qr(link)}"


class Pairing:
    """The code that the terminal shows, and that the first who writes must send."""

    def __init__(self, show: Callable[[str], None] = show_on_terminal) -> None:
        self._show = show
        self._wrong: dict[str, int] = {}
        self._link = ""
        self.code = ""

    def begin(self, link: str = "") -> None:
        """Shows a code, and the link that sends it: `link` with the code behind it, once it is known."""
        self._link = link or self._link
        self.code = self.code or "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        text = f"To become the manager, send this code to the bot: {self.code}"
        if self._link:
            text += f"\nor open {self._link}{self.code}\n{as_qr(f'{self._link}{self.code}')}"
        self._show(text)

    def is_right(self, text: str, chat: str = "") -> bool:
        """Whether the text is the code, alone or behind `/start`, and its chat has not guessed too often."""
        if self._wrong.get(chat, 0) >= WRONG_CODES:
            return False
        words = text.split()
        given = "".join(words[1:] if words[:1] and words[0].lower().startswith("/start") else words)
        if hmac.compare_digest(given.upper().encode(), self.code.encode()) and self.code:
            return True
        if text.strip():
            self._wrong[chat] = self._wrong.pop(chat, 0) + 1
        if len(self._wrong) > MOST_CHATS:
            del self._wrong[next(iter(self._wrong))]
        return False


class WhoMaySpeak:
    """The manager's chat. Whoever else writes is ignored in silence."""

    def __init__(
        self,
        stored: StoresManager,
        pairing: Pairing | None = None,
        people: Collection[str] = (),
        since: float = 0.0,
    ) -> None:
        self._since = since
        self._stored = stored
        # Who may speak where others can write, too; a chat's number says nothing about who writes there.
        self._people = people
        self.manager = stored.manager()
        self._pairing = None if self.chat else pairing
        # The id of the message with the code that made somebody the manager: it says nothing else.
        self.code_message = ""

    @property
    def chat(self) -> str:
        """The manager's chat; empty while nobody is known."""
        return self.manager.chat

    def show_code(self, link: str = "") -> None:
        """Shows the code, while one is wanted."""
        if self._pairing is not None and not self.chat:
            self._pairing.begin(link)

    @property
    def wants_code(self) -> bool:
        """Whether the first who writes must send a code."""
        return self._pairing is not None and not self.chat

    def is_manager(self, person: str) -> bool:
        """Whether that person speaks for the manager: in a group, one of those who are named."""
        if not self.chat or not person:
            return False
        own = self.manager.person or self.chat
        return person == own or (own.startswith("-") and person in self._people)

    def may(self, said: ChatMessage | ChatTap) -> bool:
        """Whether this came from the manager's chat. The first that writes becomes it, which is kept before it is
        obeyed."""
        if not said.from_person:
            return False
        if not self.chat:
            if not said.private or not isinstance(said, ChatMessage):
                # Anybody can add a bot to a group: only a person can become the manager. And whoever was it before
                # has buttons of ours; nobody can tell when one was tapped.
                return False
            if said.foreign or 0 < said.at < self._since - BACKLOG_SECONDS:
                log.warning("nobody becomes manager by this", chat=said.chat, foreign=said.foreign)
                return False
            if self._pairing is not None and not self._pairing.is_right(said.text, said.chat):
                return False
            self.code_message = said.id if self._pairing is not None else ""
            manager = Manager(chat=said.chat, person=said.person, name=said.who)
            self._stored.keep_manager(manager)
            self.manager = manager
        if said.chat != self.chat or (said.private and self.manager.person not in ("", said.person)):
            return False
        if not said.private and said.person not in self._people:
            log.warning("not obeyed in a group", chat=said.chat, person=said.person)
            return False
        return True

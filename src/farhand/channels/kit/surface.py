"""What a text chat must be able to do, and what people do there in words that every chat shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from farhand.channels.kit.card import Card
from farhand.model.errors import ChannelError
from farhand.model.facts import Event
from farhand.model.store_ports import Parcel, Waiting
from farhand.model.view import TurnView
from farhand.model.words import Word


class SentFile(Word):
    """A file that came with a message; `reference` is what the surface calls it."""

    reference: str
    name: str
    media_type: str
    size: int = 0

    @property
    def is_image(self) -> bool:
        """Whether it is a picture, sent as one or as a file."""
        return self.media_type.startswith("image/")


class QuotedMessage(Word):
    """The message that a message replies to."""

    reference: str
    text: str = ""
    # Whether we wrote it, or somebody else did: neither is so where the person who replies did.
    ours: bool = False
    foreign: bool = False


class ChatMessage(Word):
    """Something that somebody wrote."""

    # The id of the command that it becomes: the same message has the same id whenever it is delivered again.
    id: str
    chat: str
    # What the surface calls it, for replies.
    reference: str = ""
    text: str = ""
    # The text beside a file.
    caption: str = ""
    # The name of the person that wrote it.
    who: str = ""
    # The person, as the surface knows them; names can be chosen, this cannot.
    person: str = ""
    # Whether it came from a person; bots and nameless senders are never obeyed.
    from_person: bool = True
    # Somebody else's words, brought along: forwarded, or written by a bot. They are never a command.
    foreign: bool = False
    # Whether the person is alone with us in that chat.
    private: bool = True
    # The worker in whose part of the chat it was written; empty for the team's.
    topic: str = ""
    # When it was written, in seconds since 1970; 0 where nobody tells.
    at: float = 0.0
    quoted: QuotedMessage | None = None
    file: SentFile | None = None
    # Whether the file is a recording of a voice.
    spoken: bool = False
    # For an edit: the hub's id of the message that was edited.
    edits: str = ""


class ChatTap(Word):
    """A tap on a button; `data` is what the button carried (`kit/tap_data.py`)."""

    id: str
    chat: str
    data: str
    # What the surface calls the message under which the button is.
    reference: str = ""
    who: str = ""
    person: str = ""
    from_person: bool = True
    private: bool = True


class NotFetched(ChannelError):
    """A file cannot be downloaded."""

    code = "not_fetched"


def no_own_limit(_chat: str) -> float | None:
    """Every chat is like the others."""
    return None


@dataclass(frozen=True)
class RateLimits:
    """How fast a surface may be written to."""

    # Messages a second to one chat, how many may go there at once before that, and messages a second over all chats.
    chat_per_second: float = 1.0
    chat_burst: int = 20
    per_second: float = 30.0
    # The least time between two edits of progress.
    edit_seconds: float = 1.0
    # Messages a second that the service takes at most for this chat; None where it is like the others.
    own_limit: Callable[[str], float | None] = no_own_limit


class ChatSurface(Protocol):
    """One account on one chat service. `kit/chat.py` makes a channel of it."""

    @property
    def name(self) -> str:
        """The channel's name, as `Sender.via` has it."""
        ...

    @property
    def title(self) -> str:
        """The service's name, as people write it."""
        ...

    @property
    def outbox(self) -> str:
        """The name of its queue and cursor in the store: another one for each account."""
        ...

    def render(self, card: Card, chat: str) -> Sequence[Parcel]:
        """The parcels that show a card in a chat, the first under the card's own key.

        Pure: the same card makes the same parcels."""
        ...

    async def send(self, waiting: Waiting) -> str:
        """Sends a parcel and returns what the surface calls it; raises `SendLater`, `SendRefused`, `SendUncertain`."""
        ...

    def counts(self, parcel: Parcel) -> bool:
        """Whether sending it counts against the surface's rate limits."""
        ...

    def failure(self, waiting: Waiting, why: str) -> str:
        """What the manager reads in place of a parcel that was given up; empty if nothing is missed."""
        ...

    async def send_now(self, chat: str, text: str) -> None:
        """Tries once to send a text past the queue; a failure is logged."""
        ...

    async def show_typing(self, chat: str) -> None:
        """Shows for some seconds that an answer is being written; a failure is logged."""
        ...

    async def answer_tap(self, tap: str, text: str) -> None:
        """Shows the person who tapped a few words; a failure is logged."""
        ...

    async def download(self, file: SentFile) -> bytes:
        """The content of a file that came in; raises `NotFetched`."""
        ...


class SeesEvents(Protocol):
    """Wants to see every event that the chat lays out, in order."""

    def see(self, event: Event, turn: TurnView | None) -> None:
        """One event, with its turn as it stands after it. Returns at once."""
        ...


class ShowsCards(Protocol):
    """Puts cards into the queue of a chat."""

    async def show(self, card: Card, chat: str = "") -> None:
        """To that chat, or to the manager's, if there is one."""
        ...


class KnowsManager(Protocol):
    """Knows which chat is the manager's."""

    @property
    def chat(self) -> str:
        """The manager's chat; empty while nobody is known."""
        ...


def is_command(message: ChatMessage, name: str, *, alone: bool = False) -> bool:
    """Whether the message is that slash command, or nothing but that."""
    words = message.text.split()
    is_ours = bool(words) and words[0].partition("@")[0].lower() == f"/{name}"
    return is_ours and not (alone and len(words) > 1) and not message.foreign and not message.edits

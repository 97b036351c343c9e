"""The words between the fake and those who test with it: what a chat shows, what was called, what goes wrong."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

FaultKind = Literal["status", "hang", "cut", "garbage"]


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What shall go wrong with the next calls of a method (`*` is every method, `download` a file's download)."""

    method: str
    kind: FaultKind
    after_effect: bool = False
    times: int = 1
    code: int = 502
    description: str = "Bad Gateway"
    retry_after: int | None = None
    seconds: float = 0.0
    # Only calls whose text has this in it.
    contains: str = ""


class ShownButton(msgspec.Struct, frozen=True):
    """A button under a message."""

    text: str
    data: str = ""
    url: str = ""


class ShownMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it stands in a chat now; `versions` are the texts it had before."""

    chat_id: int
    message_id: int
    from_bot: bool
    sender: str
    text: str
    entities: tuple[dict[str, Any], ...] = ()
    buttons: tuple[tuple[ShownButton, ...], ...] = ()
    silent: bool = False
    deleted: bool = False
    reply_to: int | None = None
    thread: int | None = None
    reactions: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    photo: bool = False
    document: str = ""
    date: float = 0.0

    @property
    def buzzed(self) -> bool:
        """Whether the manager's phone made itself heard for it."""
        return self.from_bot and not self.silent

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(button.text for row in self.buttons for button in row)


class ChangedMessages(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a chat that have changed since a test looked, and the number of the newest change."""

    newest: int
    messages: tuple[ShownMessage, ...]


class ShownTopic(msgspec.Struct, frozen=True, kw_only=True):
    """A topic of a chat."""

    name: str
    closed: bool = False


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the Bot API by the bot: what it asked, and how it ended (`hung`, `cut`, or a status)."""

    number: int
    method: str
    parameters: dict[str, Any]
    outcome: str
    had_effect: bool
    at: float
    ended: float


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """What became of something a person did: the update that tells the bot of it."""

    update_id: int
    chat_id: int
    message_id: int
    query_id: str = ""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages a second are let through before a 429; zero is without limit."""

    per_chat: float = 0.0
    overall: float = 0.0
    burst: int = 3


class BotStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How the bot stands with Telegram."""

    token: str
    bot_id: int
    username: str
    revoked: bool
    pending: int
    polling: bool
    next_update_id: int
    webhook_url: str = ""
    webhook_secret: str = ""
    max_connections: int = 0
    allowed_updates: tuple[str, ...] | None = None
    commands: tuple[str, ...] = ()
    answered_queries: dict[str, str] = {}
    version: int = 0

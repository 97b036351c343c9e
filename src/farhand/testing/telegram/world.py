"""One bot's Telegram: its chats, messages, files, updates and webhook, kept in memory."""

from __future__ import annotations

import itertools
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from farhand.testing.telegram.bell import Bell
from farhand.testing.telegram.errors import Refusal, bad_request, too_many
from farhand.testing.telegram.words import (
    BotStatus,
    ChangedMessages,
    Fault,
    Rates,
    RecordedCall,
    ShownButton,
    ShownMessage,
    Spoken,
)

# What Telegram leaves out unless it is asked for by name.
UNASKED = {"chat_member", "message_reaction", "message_reaction_count"}

CHANGES = itertools.count(1)


@dataclass
class FakeChat:
    """A chat as the bot knows it, and all that was ever said there."""

    about: dict[str, Any]
    messages: dict[int, FakeMessage] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    # Whether the bot has the right to make topics there.
    makes_topics: bool = True
    blocked: bool = False
    last_id: int = 0
    allowance: float = 0.0
    counted_at: float = 0.0


@dataclass
class FakeMessage:
    """A message and its past."""

    payload: dict[str, Any]
    silent: bool = False
    deleted: bool = False
    reactions: tuple[str, ...] = ()
    versions: list[str] = field(default_factory=list)
    # When it was last changed, as a number that only grows.
    changed: int = field(default=0, init=False)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        super().__setattr__("changed", next(CHANGES))

    @property
    def text(self) -> str:
        return str(self.payload.get("text", self.payload.get("caption", "")))


@dataclass
class StoredFile:
    """A file that Telegram keeps."""

    content: bytes
    path: str
    size: int


@dataclass
class FakeWebhook:
    """Where updates are pushed to."""

    url: str
    secret: str
    max_connections: int
    last_error: str = ""
    last_error_date: int = 0


@dataclass
class FakeQuery:
    """A tap on a button that waits to be answered."""

    payload: dict[str, Any]
    stale: bool = False
    answer: str | None = None


class World:
    """Everything Telegram knows about one bot."""

    def __init__(self, token: str, username: str) -> None:
        self.token = token
        self.bot_id = int(token.split(":", maxsplit=1)[0])
        self.username = username
        self.revoked = False
        # Whether private chats with this bot have topics.
        self.private_topics = False
        self.chats: dict[int, FakeChat] = {}
        self.pending: deque[dict[str, Any]] = deque()
        self.past: dict[int, dict[str, Any]] = {}
        self.next_update_id = 100_000
        self.allowed: tuple[str, ...] | None = None
        self.webhook: FakeWebhook | None = None
        self.poll_number = 0
        self.polling = 0
        self.commands: dict[str, list[dict[str, Any]]] = {}
        self.menu_buttons: dict[str, dict[str, Any]] = {}
        self.files: dict[str, StoredFile] = {}
        self.queries: dict[str, FakeQuery] = {}
        self.calls: list[RecordedCall] = []
        self.faults: list[Fault] = []
        self.rates = Rates()
        self.overall = FakeChat({})
        self.bell = Bell()
        self.released = Bell()
        self.numbers = itertools.count(1)

    def me(self) -> dict[str, Any]:
        return {"id": self.bot_id, "is_bot": True, "first_name": "Farhand", "username": self.username}

    # Chats and messages

    def chat(self, chat_id: object) -> FakeChat:
        if isinstance(chat_id, str) and chat_id.lstrip("-").isdigit():
            chat_id = int(chat_id)
        found = self.chats.get(chat_id) if isinstance(chat_id, int) else None
        if found is None:
            raise bad_request("chat not found")
        if found.blocked:
            raise Refusal(403, "Forbidden: bot was blocked by the user")
        return found

    def message(self, chat: FakeChat, message_id: object, purpose: str) -> FakeMessage:
        found = chat.messages.get(message_id) if isinstance(message_id, int) else None
        if found is None or found.deleted:
            raise bad_request(f"message to {purpose} not found")
        return found

    def private_chat(self, person: dict[str, Any]) -> FakeChat:
        """The chat between a person and the bot; it is there once they have spoken."""
        chat_id = int(person["id"])
        if chat_id not in self.chats:
            names = ("id", "first_name", "username")
            about: dict[str, Any] = {str(key): person[key] for key in names if key in person}
            self.chats[chat_id] = FakeChat({**about, "type": "private"})
        return self.chats[chat_id]

    def put(self, chat: FakeChat, payload: dict[str, Any], *, silent: bool = False) -> FakeMessage:
        chat.last_id += 1
        payload = {"message_id": chat.last_id, "date": int(time.time()), "chat": chat.about, **payload}
        message = FakeMessage(payload, silent=silent)
        chat.messages[chat.last_id] = message
        self.bell.ring()
        return message

    def spend(self, chat: FakeChat) -> None:
        """Counts a message against the limits, and refuses it when there were too many."""
        now = time.monotonic()
        for counted, rate in ((chat, self.rates.per_chat), (self.overall, self.rates.overall)):
            if not rate:
                continue
            burst = float(self.rates.burst) if counted is chat else max(1.0, rate)
            earned = (now - counted.counted_at) * rate
            counted.allowance = burst if not counted.counted_at else min(burst, counted.allowance + earned)
            counted.counted_at = now
            if counted.allowance < 1:
                raise too_many(1)
            counted.allowance -= 1

    # Updates

    def tell(self, kind: str, what: dict[str, Any]) -> int:
        """Puts an update where the bot will find it, and says its number."""
        number = self.next_update_id
        update: dict[str, Any] = {"update_id": number, kind: what}
        self.next_update_id += 1
        self.past[number] = update
        wanted = kind not in UNASKED if not self.allowed else kind in self.allowed
        if wanted:
            self.pending.append(update)
        self.bell.ring()
        return number

    def forget_before(self, offset: int) -> None:
        kept = (
            list(self.pending)[offset:] if offset < 0 else [one for one in self.pending if one["update_id"] >= offset]
        )
        if len(kept) != len(self.pending):
            self.pending = deque(kept)
            self.bell.ring()

    # Faults and calls

    def fault_for(self, method: str, parameters: dict[str, Any]) -> Fault | None:
        """The fault that meets this call, which is then used up by one."""
        for place, fault in enumerate(self.faults):
            fits = fault.method.lower() in {"*", method.lower()}
            if not fits or fault.contains not in str(parameters.get("text", parameters.get("caption", ""))):
                continue
            if fault.times > 1:
                self.faults[place] = Fault(**{**_fields(fault), "times": fault.times - 1})
            elif fault.times == 1:
                del self.faults[place]
            self.bell.ring()
            return fault
        return None

    def note(self, method: str, parameters: dict[str, Any], outcome: str, had_effect: bool, at: float) -> None:
        number = len(self.calls)
        self.calls.append(
            RecordedCall(
                number=number,
                method=method,
                parameters=parameters,
                outcome=outcome,
                had_effect=had_effect,
                at=at,
                ended=time.time(),
            )
        )
        self.bell.ring()

    # What tests look at

    def shown(self, chat: FakeChat) -> list[ShownMessage]:
        return [self._shown(message) for message in chat.messages.values()]

    def changed(self, chat: FakeChat, after: int) -> ChangedMessages:
        """What has changed in a chat since that change."""
        found = [message for message in chat.messages.values() if message.changed > after]
        newest = max((message.changed for message in found), default=after)
        return ChangedMessages(newest=newest, messages=tuple(self._shown(message) for message in found))

    def _shown(self, message: FakeMessage) -> ShownMessage:
        payload = message.payload
        sender = payload.get("from", {})
        keyboard = payload.get("reply_markup", {}).get("inline_keyboard", [])
        return ShownMessage(
            chat_id=payload["chat"]["id"],
            message_id=payload["message_id"],
            from_bot=bool(sender.get("is_bot")),
            sender=str(sender.get("first_name", "")),
            text=message.text,
            entities=tuple(payload.get("entities", payload.get("caption_entities", ()))),
            buttons=tuple(tuple(_button(one) for one in row) for row in keyboard),
            silent=message.silent,
            deleted=message.deleted,
            reply_to=payload.get("reply_to_message", {}).get("message_id"),
            thread=payload.get("message_thread_id"),
            reactions=message.reactions,
            versions=tuple(message.versions),
            photo="photo" in payload,
            document=str(payload.get("document", {}).get("file_name", "")),
            date=float(payload["date"]),
        )

    def standing(self) -> BotStatus:
        webhook = self.webhook
        return BotStatus(
            token=self.token,
            bot_id=self.bot_id,
            username=self.username,
            revoked=self.revoked,
            pending=len(self.pending),
            polling=self.polling > 0,
            next_update_id=self.next_update_id,
            webhook_url=webhook.url if webhook else "",
            webhook_secret=webhook.secret if webhook else "",
            max_connections=webhook.max_connections if webhook else 0,
            allowed_updates=self.allowed,
            commands=tuple(one["command"] for one in self.commands.get("default", [])),
            answered_queries={key: one.answer for key, one in self.queries.items() if one.answer is not None},
            version=self.bell.count,
        )


def _button(payload: dict[str, Any]) -> ShownButton:
    return ShownButton(str(payload["text"]), str(payload.get("callback_data", "")), str(payload.get("url", "")))


def _fields(fault: Fault) -> dict[str, Any]:
    return {name: getattr(fault, name) for name in fault.__struct_fields__}


def spoken(update_id: int, message: FakeMessage, query_id: str = "") -> Spoken:
    chat_id = int(message.payload["chat"]["id"])
    return Spoken(
        update_id=update_id, chat_id=chat_id, message_id=int(message.payload["message_id"]), query_id=query_id
    )

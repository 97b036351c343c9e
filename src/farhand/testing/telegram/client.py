"""The test's hand on the fake Telegram: people who speak and tap, faults on order, and a look at every chat."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
import msgspec

from farhand.sdk.models.connection import DirectClient
from farhand.testing.http import local_client
from farhand.testing.telegram.words import (
    BotStatus,
    ChangedMessages,
    Fault,
    FaultKind,
    Rates,
    RecordedCall,
    ShownMessage,
    ShownTopic,
    Spoken,
)

T = TypeVar("T")
# Only a net for a test that hangs; a busy machine is no failure.
WAIT_SECONDS = 240.0
LONGEST_SECONDS = 600.0


class NeverSeen(AssertionError):
    """What a test waited for did not come; says what was there instead."""


class FakeTelegram:
    """The fake as a test holds it: the place where bots come from."""

    def __init__(self, address: str) -> None:
        self.address = address
        # Longer than any wait: who waits has a limit of its own.
        self.http = local_client(base_url=address, timeout=LONGEST_SECONDS)
        # A test gives dozens of orders: a library's client takes ten times the processor time of a plain connection.
        self._orders = DirectClient(LONGEST_SECONDS, lambda: None)

    async def __aenter__(self) -> FakeTelegram:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()
        await self._orders.close()

    async def new_bot(self, token: str = "") -> FakeBot:
        """A bot of its own, with a Telegram of its own; tests that have one each do not meet."""
        answer = await self.http.post("/control/bots", json={"token": token})
        standing = msgspec.json.decode(answer.content, type=BotStatus)
        return self.bot(standing.token, standing.username)

    def bot(self, token: str, username: str = "") -> FakeBot:
        """A bot that is there."""
        return FakeBot(self.address, token, username, self.http, self._orders)


@dataclass(frozen=True)
class FakeBot:
    """One bot, seen from Telegram's side."""

    address: str
    token: str
    username: str
    http: httpx2.AsyncClient = field(repr=False)
    orders: DirectClient = field(repr=False)

    async def order(self, name: str, kind: type[T], /, **order: Any) -> T:
        address = f"{self.address}/control/bots/{self.token}/{name}"
        answer = await self.orders.post(address, msgspec.json.encode(order), {})
        try:
            told = await answer.aread()
        finally:
            await answer.aclose()
        if answer.status_code != 200:
            raise AssertionError(f"the fake Telegram refused {name} {order}: {told.decode()}")
        return msgspec.json.decode(told, type=kind)

    def person(self, person_id: int, name: str = "Mo") -> Person:
        return Person(self, person_id, name)

    async def group(
        self, chat_id: int, title: str = "Team", *, topics: dict[int, str] | None = None, makes_topics: bool = True
    ) -> None:
        await self.order(
            "chat",
            bool,
            id=chat_id,
            title=title,
            type="supergroup",
            is_forum=topics is not None,
            topics={str(key): name for key, name in (topics or {}).items()},
            makes_topics=makes_topics,
        )

    async def private_topics(self, on: bool = True) -> None:
        """Private chats with the bot have topics from now on, or none."""
        await self.order("private-topics", bool, on=on)

    async def remove_topic(self, chat_id: int, thread: int) -> None:
        """A person takes a topic away."""
        await self.order("remove-topic", bool, chat_id=chat_id, thread=thread)

    async def topics(self, chat_id: int) -> dict[int, ShownTopic]:
        """The topics of a chat."""
        return await self.order("topics", dict[int, ShownTopic], chat_id=chat_id)

    async def standing(self) -> BotStatus:
        return await self.order("standing", BotStatus)

    async def messages(self, chat_id: int) -> tuple[ShownMessage, ...]:
        """Everything ever said in a chat, in order, the deleted messages included."""
        return await self.order("messages", tuple[ShownMessage, ...], chat_id=chat_id)

    async def calls(self, method: str = "", *, after: int = 0) -> tuple[RecordedCall, ...]:
        """Every call that the bot made, or those of one method."""
        return await self.order("calls", tuple[RecordedCall, ...], after=after, method=method)

    async def fault(
        self,
        method: str,
        kind: FaultKind = "status",
        *,
        after_effect: bool = False,
        times: int = 1,
        code: int = 502,
        description: str = "Bad Gateway",
        retry_after: int | None = None,
        seconds: float = 0.0,
        contains: str = "",
    ) -> None:
        """Orders a fault for the next calls of a method; `times=-1` is until the faults are cleared."""
        fault = Fault(
            method=method,
            kind=kind,
            after_effect=after_effect,
            times=times,
            code=code,
            description=description,
            retry_after=retry_after,
            seconds=seconds,
            contains=contains,
        )
        await self.order("fault", bool, **msgspec.to_builtins(fault))

    async def too_many(self, method: str, retry_after: int = 1, *, times: int = 1) -> None:
        await self.fault(
            method,
            code=429,
            description=f"Too Many Requests: retry after {retry_after}",
            retry_after=retry_after,
            times=times,
        )

    async def clear_faults(self) -> None:
        await self.order("clear", bool)

    async def faults(self) -> tuple[Fault, ...]:
        """The faults that have not met a call yet."""
        return await self.order("faults", tuple[Fault, ...])

    async def rates(self, *, per_chat: float = 0.0, overall: float = 0.0, burst: int = 3) -> None:
        await self.order("rates", bool, **msgspec.to_builtins(Rates(per_chat=per_chat, overall=overall, burst=burst)))

    async def revoke(self, revoked: bool = True) -> None:
        await self.order("revoke", bool, revoked=revoked)

    async def block(self, chat_id: int, blocked: bool = True) -> None:
        await self.order("block", bool, chat_id=chat_id, blocked=blocked)

    async def restart_update_ids(self, at: int) -> None:
        """As after a quiet week: the next update has this number."""
        await self.order("update-ids", bool, at=at)

    async def deliver_again(self, update_id: int, *, copies: int = 1) -> None:
        await self.order("again", bool, update_id=update_id, copies=copies)

    async def push(self, update_id: int, *, copies: int = 2) -> list[int]:
        """Posts an update to the webhook several times at once; the statuses that came back."""
        return await self.order("push", list[int], update_id=update_id, copies=copies)

    async def update(self, kind: str, what: object) -> int:
        """Any update at all."""
        return await self.order("update", int, kind=kind, what=what)

    async def until(
        self, look: Callable[[], Any], holds: Callable[[Any], object], *, seconds: float = WAIT_SECONDS
    ) -> Any:
        """Looks again after every change until what is seen holds; no sleeping in between."""
        seen, deadline = -1, time.monotonic() + seconds
        while True:
            standing = await self.order("wait", BotStatus, seen=seen, seconds=max(0.0, deadline - time.monotonic()))
            found = await look()
            if holds(found):
                return found
            if time.monotonic() >= deadline:
                raise NeverSeen(f"waited {seconds} s; last seen: {str(found)[:2000]}")
            seen = standing.version

    async def until_chat(
        self, chat_id: int, holds: Callable[[tuple[ShownMessage, ...]], object], *, seconds: float = WAIT_SECONDS
    ) -> tuple[ShownMessage, ...]:
        """The messages of a chat, once they are as told; looks again whenever one has changed."""

        known: dict[int, ShownMessage] = {}
        seen, left, deadline = -1, 0.0, time.monotonic() + seconds
        while True:
            changes = await self.order("changes", ChangedMessages, chat_id=chat_id, seen=seen, seconds=left)
            known |= {one.message_id: one for one in changes.messages}
            found, seen, left = tuple(known.values()), changes.newest, deadline - time.monotonic()
            if holds(found):
                return found
            if left <= 0:
                raise NeverSeen(f"waited {seconds} s; the chat:\n{drawn(found)}")

    async def until_standing(self, holds: Callable[[BotStatus], object], *, seconds: float = WAIT_SECONDS) -> BotStatus:
        found: BotStatus = await self.until(self.standing, holds, seconds=seconds)
        return found

    async def until_calls(
        self, holds: Callable[[tuple[RecordedCall, ...]], object], method: str = "", *, seconds: float = WAIT_SECONDS
    ) -> tuple[RecordedCall, ...]:
        async def look() -> tuple[RecordedCall, ...]:
            return await self.calls(method)

        found: tuple[RecordedCall, ...] = await self.until(look, holds, seconds=seconds)
        return found


@dataclass(frozen=True)
class Person:
    """Somebody with a phone: the manager, or a stranger."""

    bot: FakeBot
    id: int
    name: str

    @property
    def _person(self) -> dict[str, Any]:
        return {"id": self.id, "first_name": self.name}

    async def says(
        self,
        text: str,
        *,
        chat_id: int | None = None,
        reply_to: int | None = None,
        thread: int | None = None,
        more: dict[str, Any] | None = None,
    ) -> Spoken:
        return await self.bot.order(
            "say",
            Spoken,
            person=self._person,
            text=text,
            chat_id=chat_id,
            reply_to=reply_to,
            thread=thread,
            more=more or {},
        )

    async def sends_photo(self, content: bytes, *, name: str = "photo.jpg", caption: str = "") -> Spoken:
        return await self._sends("photo", content, name, caption, "image/jpeg", 0)

    async def sends_document(
        self,
        content: bytes,
        name: str,
        *,
        mime_type: str = "text/plain",
        caption: str = "",
        claimed_size: int = 0,
    ) -> Spoken:
        return await self._sends("document", content, name, caption, mime_type, claimed_size)

    async def sends_voice(self, content: bytes) -> Spoken:
        return await self._sends("voice", content, "voice.ogg", "", "audio/ogg", 0)

    async def _sends(self, kind: str, content: bytes, name: str, caption: str, mime_type: str, size: int) -> Spoken:
        return await self.bot.order(
            "file",
            Spoken,
            person=self._person,
            kind=kind,
            name=name,
            caption=caption,
            mime_type=mime_type,
            claimed_size=size,
            content=base64.b64encode(content).decode(),
        )

    async def edits(self, message_id: int, text: str) -> Spoken:
        return await self.bot.order("edit", Spoken, person=self._person, message_id=message_id, text=text)

    async def taps(
        self, message: ShownMessage, label: str = "", *, data: str = "", stale: bool = False, chat_id: int | None = None
    ) -> Spoken:
        return await self.bot.order(
            "tap",
            Spoken,
            person=self._person,
            chat_id=chat_id if chat_id is not None else message.chat_id,
            message_id=message.message_id,
            label=label,
            data=data,
            stale=stale,
        )

    async def sees(
        self, holds: Callable[[tuple[ShownMessage, ...]], object], *, seconds: float = WAIT_SECONDS
    ) -> tuple[ShownMessage, ...]:
        """Their chat with the bot, once it is as told."""
        return await self.bot.until_chat(self.id, holds, seconds=seconds)

    async def reads(self, text: str, *, seconds: float = WAIT_SECONDS) -> ShownMessage:
        """The first message of the bot, still there, that has these words in it."""
        chat = await self.sees(lambda messages: any(_has(one, text) for one in messages), seconds=seconds)
        return next(one for one in chat if _has(one, text))


def _has(message: ShownMessage, text: str) -> bool:
    return message.from_bot and not message.deleted and text in message.text


def drawn(messages: Sequence[ShownMessage]) -> str:
    """A chat as lines of text: who said what, what buzzed, what is gone, which buttons are there."""
    lines: list[str] = []
    for one in messages:
        marks = [
            "silent" if one.from_bot and one.silent else "",
            "deleted" if one.deleted else "",
            f"edited {len(one.versions)}x" if one.versions else "",
            f"reply to {one.reply_to}" if one.reply_to else "",
            "".join(one.reactions),
        ]
        shown_marks = ", ".join(mark for mark in marks if mark)
        who = "bot" if one.from_bot else one.sender
        lines.append(f"#{one.message_id} {who}{f' ({shown_marks})' if shown_marks else ''}")
        lines += [f"    {line}" for line in (one.text or f"[{one.document or 'photo'}]").splitlines()]
        lines += ["    " + " ".join(f"[{button.text}]" for button in row) for row in one.buttons]
    return "\n".join(lines)

"""The log of a live conversation in memory: messages that grow, each change numbered, readers woken."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from farhand.model.live_session import MessageState, Role, SessionChanges, SessionMessage, SessionPart, SessionStatus
from farhand.model.present import Ask
from farhand.model.words import replace


class NewMessage(NamedTuple):
    """A message that has no id yet."""

    role: Role
    at: float
    state: MessageState
    parts: tuple[SessionPart, ...]


class MemoryLog:
    """Messages by their ids in the order in which they are shown; those that wait come last.

    A reader asks for what changed after a number and gets each message once, as it is now: however far it lags
    behind, it misses nothing and costs no more."""

    def __init__(self, now: Callable[[], float], status: SessionStatus | None = None) -> None:
        self.id = os.urandom(6).hex()
        self.number = 0
        self._now = now
        self._status = status or SessionStatus()
        self._asks: tuple[Ask, ...] = ()
        self._next_id = 1
        # The ids below this one are for what is older than all that is here.
        self._first_id = 1
        self._shown: dict[int, SessionMessage] = {}
        self._waiting: dict[int, SessionMessage] = {}
        # The ids by their last change, the latest last.
        self._latest: dict[int, None] = {}
        self._status_changed = 0
        self._asks_changed = 0
        self._wake = asyncio.Event()

    @property
    def messages(self) -> Sequence[SessionMessage]:
        """Every message, oldest first, those that wait last."""
        return (*self._shown.values(), *self._waiting.values())

    @property
    def waiting(self) -> tuple[SessionMessage, ...]:
        """The messages that wait, the next one first."""
        return tuple(self._waiting.values())

    @property
    def status(self) -> SessionStatus:
        """How it stands."""
        return self._status

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The questions that wait for a person."""
        return self._asks

    def changes(self, after: int) -> SessionChanges:
        """What is different since that number; from the beginning on in the order in which it is shown."""
        found: list[SessionMessage] = list(reversed(self.messages)) if after <= 0 else []
        for one in reversed(self._latest) if after > 0 else ():
            message = self._shown.get(one) or self._waiting[one]
            if message.changed <= after:
                break
            found.append(message)
        return SessionChanges(
            number=self.number,
            messages=tuple(reversed(found)),
            status=self._status if self._status_changed > after else None,
            asks=self._asks if self._asks_changed > after else None,
        )

    async def wait(self, after: int) -> None:
        """Returns when something has changed since that number."""
        while self.number <= after:
            await self._wake.wait()

    def add(
        self, role: Role, text: str, state: MessageState = MessageState.DONE, at: float | None = None
    ) -> SessionMessage:
        """A new message of that text."""
        parts = (SessionPart(kind="text", text=text),) if text else ()
        message = SessionMessage(
            id=self._next_id, role=role, at=self._now() if at is None else at, state=state, parts=parts
        )
        self._next_id += 1
        self._put(message)
        self._count_waiting()
        return self.get(message.id)

    def reserve(self, count: int) -> None:
        """Keeps so many ids free for what is older than all that comes from now on."""
        self._next_id += count
        self._first_id = self._next_id

    def add_above(self, older: Sequence[NewMessage]) -> list[int]:
        """Puts messages, oldest first, before all that are here; their ids, which are below those of all others."""
        newer, self._shown = self._shown, {}
        self._first_id -= len(older)
        ids = list(range(self._first_id, self._first_id + len(older)))
        for one, given in zip(ids, older, strict=True):
            self._put(SessionMessage(id=one, role=given.role, at=given.at, state=given.state, parts=given.parts))
        self._shown.update(newer)
        return ids

    def get(self, message: int) -> SessionMessage:
        """The message of that id."""
        return self._shown.get(message) or self._waiting[message]

    def knows(self, message: int) -> bool:
        """Whether there is a message of that id."""
        return message in self._shown or message in self._waiting

    def mark(self, message: int, state: MessageState, text: str | None = None) -> None:
        """Gives a message another state, and other words where there are some."""
        changed = replace(self.get(message), state=state)
        self._put(changed if text is None else replace(changed, parts=(SessionPart(kind="text", text=text),)))
        self._count_waiting()

    def remove_waiting(self, message: int) -> bool:
        """Takes a message out that waits; readers see it once more, without words."""
        if message not in self._waiting:
            return False
        gone = self._waiting.pop(message)
        self._put(replace(gone, role=Role.NOTICE, state=MessageState.DONE, parts=()))
        self._count_waiting()
        return True

    def append(self, message: int, kind: str, text: str) -> None:
        """Adds a piece of text or thought to the message: to its last part where that is of the same kind."""
        given = self.get(message)
        last = given.parts[-1] if given.parts else None
        if last is not None and last.kind == kind:
            parts = (*given.parts[:-1], replace(last, text=last.text + text))
        else:
            parts = (*given.parts, SessionPart(kind="thought" if kind == "thought" else "text", text=text))
        self._put(replace(given, parts=parts))

    def add_part(self, message: int, part: SessionPart) -> None:
        """Adds a part to the message."""
        given = self.get(message)
        self._put(replace(given, parts=(*given.parts, part)))

    def end_tool(self, message: int, call: str, *, ok: bool, output: str) -> None:
        """The tool of that call came back."""
        given = self.get(message)
        parts = tuple(
            replace(part, ok=ok, text=output) if part.kind == "tool" and part.call == call and part.ok is None else part
            for part in given.parts
        )
        self._put(replace(given, parts=parts))

    def set_status(self, **changes: Any) -> None:
        """The status with these fields changed."""
        status = replace(self._status, **changes)
        if status != self._status:
            self._status = status
            self._status_changed = self._count()

    def set_asks(self, asks: tuple[Ask, ...]) -> None:
        """The questions that wait from now on."""
        if asks != self._asks:
            self._asks = asks
            self._asks_changed = self._count()

    def _count_waiting(self) -> None:
        self.set_status(queued=len(self._waiting))

    def _put(self, message: SessionMessage) -> None:
        message = replace(message, changed=self._count())
        if message.state is MessageState.QUEUED:
            self._waiting[message.id] = message
        else:
            self._waiting.pop(message.id, None)
            self._shown[message.id] = message
        self._latest.pop(message.id, None)
        self._latest[message.id] = None

    def _count(self) -> int:
        self.number += 1
        self._wake.set()
        self._wake = asyncio.Event()
        return self.number

"""What was asked of a fake model: every request in order, and a way to wait for the one that a test is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import anyio


class ModelCall(Protocol):
    """One request."""

    @property
    def scripted(self) -> bool:
        """Whether the script answered it."""
        ...

    @property
    def texts(self) -> Sequence[str]:
        """Every piece of text in it."""
        ...


AnyCall = TypeVar("AnyCall", bound=ModelCall)


class CallLog(Generic[AnyCall]):
    """The requests so far."""

    def __init__(self) -> None:
        self.all: list[AnyCall] = []
        self._added = anyio.Event()

    def add(self, call: AnyCall) -> None:
        """Notes a request, and wakes whoever waits for one."""
        self.all.append(call)
        self._added.set()
        self._added = anyio.Event()

    def prompted(self, text: str) -> list[AnyCall]:
        """The scripted requests that contain this text."""
        return [call for call in self.all if call.scripted and any(text in piece for piece in call.texts)]

    async def asked(self, text: str, times: int = 1) -> AnyCall:
        """Waits until this text has been in that many scripted requests; the newest of them."""
        while len(found := self.prompted(text)) < times:
            await self._added.wait()
        return found[-1]

"""Where processes are born, as protocols: what a holder does for its child, and who starts and finds holders."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from farhand.model.words import Word


class Fed(StrEnum):
    """What became of bytes for a child."""

    TAKEN = "taken"
    NOT_TAKEN = "not_taken"
    UNKNOWN = "unknown"


class Exit(Word):
    """How a child ended."""

    code: int | None = None
    signal: int | None = None
    errors: str = ""
    # Somebody asked its holder to end it.
    asked: bool = False


class Held(Protocol):
    """A child that a holder owns: it lives on when the node dies."""

    def follow(self, offset: int) -> AsyncIterator[tuple[bytes, int]]:
        """The child's output from that byte on: each piece with the offset after it. Ends with the child."""
        ...

    async def release(self, offset: int) -> None:
        """What came before that byte is never asked for again: the disk may have its room back."""
        ...

    async def feed(self, key: str, data: bytes) -> Fed:
        """Writes the bytes to the child's input, once for each key however often it is asked."""
        ...

    async def fed(self, key: str) -> Fed:
        """The outcome of a feed, without feeding; waits for one that is in progress."""
        ...

    async def signal(self, name: str) -> None:
        """Sends a signal such as INT to the child's process group."""
        ...

    async def end(self, grace_seconds: float = 5.0) -> None:
        """Ends the child and its holder."""
        ...

    async def ended(self) -> Exit | None:
        """How the child ended, without waiting; None while it lives, or when its holder was killed."""
        ...

    async def wait_exit(self) -> Exit:
        """Returns when the child is gone."""
        ...


class Holders(Protocol):
    """Starts and finds held children, each under a name of its own."""

    async def start(
        self, name: str, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str]
    ) -> AbstractAsyncContextManager[Held]:
        """Starts a child in a new holder; raises AgentMissing when there is no such program."""
        ...

    async def attach(self, name: str) -> AbstractAsyncContextManager[Held] | None:
        """The held child of that name, alive or not; None if there never was one."""
        ...

    async def forget(self, name: str) -> None:
        """Ends what still runs under that name and removes its files."""
        ...

    async def names(self) -> list[str]:
        """Under which names there are held children, alive or not."""
        ...

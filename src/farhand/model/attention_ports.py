"""What the rules of attention are asked by channels, and what they ask of them and of the store."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from farhand.model.attention_rules import AskBundle, AttentionState, Buzz, WaitingAsk
from farhand.model.digest import DigestLine
from farhand.model.facts import AskSettled, Event


class AttentionView(Protocol):
    """What channels ask the rules."""

    def silences(self, channel: str, event: Event) -> bool:
        """Whether what that channel shows of the event must not buzz: the person is told elsewhere, later or not."""
        ...

    def digest(self) -> tuple[DigestLine, ...]:
        """What happened while nobody was there."""
        ...

    def tell(self, text: str) -> None:
        """Something about the node itself happened."""
        ...

    def device_added(self) -> None:
        """A device can be reached by push from now on."""
        ...


class NoAttention:
    """Where nobody decides, everything is as loud as its channel makes it."""

    def silences(self, _channel: str, _event: Event) -> bool:
        """Never."""
        return False

    def digest(self) -> tuple[DigestLine, ...]:
        """Nothing is known."""
        return ()

    def tell(self, _text: str) -> None:
        """Nobody."""

    def device_added(self) -> None:
        """Nothing changes."""


NO_ATTENTION = NoAttention()


@runtime_checkable
class BuzzesApp(Protocol):
    """It reaches the phone app of devices that may be asleep."""

    @property
    def can_buzz(self) -> bool:
        """Whether a device can be reached so that may answer."""
        ...

    @property
    def can_show(self) -> bool:
        """Whether any device can be reached so, also one that only looks."""
        ...

    async def buzz(self, buzz: Buzz) -> None:
        """Brings a notification to every device; the outbox deduplicates it by its key."""
        ...

    async def settled(self, ask: WaitingAsk, fact: AskSettled | None) -> None:
        """An ask that buzzed alone is over: its notifications are no question any more."""
        ...

    async def bundle_left(self, bundle: AskBundle) -> None:
        """Some asks of a notification of several are over: it shows what is left, and nothing when that is none."""
        ...


@runtime_checkable
class Nudges(Protocol):
    """It can remind the manager, in its chat, of what it has shown before."""

    async def nudge(self, buzz: Buzz) -> None:
        """Says so in the chat; the outbox deduplicates it by its key."""
        ...

    async def withdraw_nudges(self, ask: str, steps: Sequence[int]) -> None:
        """Takes away what was said in these steps."""
        ...

    async def bundle_left(self, bundle: AskBundle) -> None:
        """Some asks of a reminder of several are over: it says what is left, and goes when that is nothing."""
        ...


class AttentionStore(Protocol):
    """What the rules remember, kept over any kill."""

    async def load(self) -> AttentionState | None:
        """What was kept; None at the first start."""
        ...

    async def keep(self, state: AttentionState) -> None:
        """Keeps it."""
        ...

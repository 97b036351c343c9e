"""The store, as protocols: the journal of events, and the outbox of what channels must still send."""

from collections.abc import Sequence
from typing import Protocol

from farhand.model.commands import Accepted
from farhand.model.facts import AskSettled, Draft, Event
from farhand.model.history import Found, HistoryPage
from farhand.model.present import Present
from farhand.model.words import AskId, Seq, Word, WorkerName


class InboxEntry(Word):
    """A command that was taken, and its answer."""

    via: str
    accepted: Accepted
    # What the command asked for; a repeat asks for the same. Empty in what an older version wrote.
    fingerprint: str = ""


class Cursor(Word):
    """Where somebody stands."""

    owner: str
    value: str


class Journal(Protocol):
    """All events in order, and the tables of the present written in the transaction of their fact."""

    async def load(self) -> Present:
        """The present, from its tables."""
        ...

    def stamp(self, drafts: Sequence[Draft], at: float) -> tuple[Event, ...]:
        """Numbers the drafts; they count as taken until `rewind`."""
        ...

    def rewind(self, seq: Seq) -> None:
        """Numbering goes on after that number: what was stamped beyond it was never written."""
        ...

    async def append(
        self, events: Sequence[Event], *, inbox: InboxEntry | None = None, cursor: Cursor | None = None
    ) -> tuple[bytes, ...]:
        """Writes the events, with the command that caused them or the wire's cursor, in one transaction.

        Returns them as they were written; raises StoreError when nothing was."""
        ...

    async def seen(self, via: str, command: str) -> "InboxEntry | None":
        """What came first under this id, and what it was answered."""
        ...

    async def read(self, after: Seq, limit: int) -> list[tuple[Seq, bytes]]:
        """Events after that number, encoded, oldest first: so many, and a few more where they are kept together."""
        ...

    async def bounds(self) -> tuple[Seq, Seq]:
        """The numbers of the oldest event that is kept and of the newest; 1 and 0 for an empty journal."""
        ...

    async def begin_epoch(self, epoch: str) -> None:
        """From the next event on the numbers are those of this epoch: of one run of a node on one store."""
        ...

    async def can_resume(self, epoch: str, after: Seq) -> bool:
        """Whether a reader who saw event `after` in that epoch would miss nothing by going on with this journal."""
        ...

    async def bytes_after(self, after: Seq) -> int:
        """How much the events after that number take in the journal."""
        ...

    async def cursor(self, owner: str) -> str:
        """Where a wire stands; empty at first."""
        ...

    async def settled(self, ask: AskId) -> AskSettled | None:
        """How an ask of the past was settled."""
        ...

    async def history(self, worker: WorkerName, before: Seq | None, limit: int, up_to: Seq) -> HistoryPage:
        """A page of the worker's past as it was at event `up_to`; with the open turn when `before` is None."""
        ...

    async def search(self, query: str, worker: WorkerName, limit: int) -> list[Found]:
        """Where the words of the query were said, newest first."""
        ...


class Parcel(Word):
    """Something to be sent to a surface. A newer edit of one `slot` replaces an older one that still waits; what is
    `urgent` (a person is asked, or told what became of it) overtakes what is not."""

    # Names this parcel for ever: put twice, it is sent once.
    key: str
    chat: str
    body: bytes
    slot: str = ""
    edit: bool = False
    urgent: bool = False


class Waiting(Word):
    """A parcel in the outbox."""

    id: int
    parcel: Parcel
    attempts: int = 0
    # How often a living node sent it and no answer came.
    doubts: int = 0
    # The node died while it was being sent. That is no reason to give it up: each kill may repeat it once.
    cut_off: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether it may have arrived already."""
        return self.doubts > 0 or self.cut_off


class Outbox(Protocol):
    """What must still reach a surface, kept over any kill."""

    async def put(self, channel: str, parcels: Sequence[Parcel], cursor: str | None = None) -> None:
        """Adds the parcels and moves the channel's cursor, if it is given, in one transaction."""
        ...

    async def cursor(self, channel: str) -> str:
        """Where the channel stands in the journal."""
        ...

    async def lanes(self, channel: str) -> list[tuple[str, bool]]:
        """Which chats something waits for, each with whether it is urgent: a chat has a lane for either."""
        ...

    async def waiting(self, channel: str, chat: str, limit: int = 1000, *, urgent: bool = False) -> list[Waiting]:
        """What is unsent in one lane of a chat, in order."""
        ...

    async def begin(self, waiting: int) -> None:
        """Marks that a send begins, before it does."""
        ...

    async def sent(self, waiting: int, reference: str) -> None:
        """Marks it as sent; the reference names it on the surface."""
        ...

    async def failed(self, waiting: int, why: str) -> None:
        """Gives it up for good, with the reason."""
        ...

    async def again(self, waiting: int) -> None:
        """The surface certainly did not take it: it waits again."""
        ...

    async def doubt(self, waiting: int) -> None:
        """Its answer never came: it waits again, marked as doubtful."""
        ...

    async def reference(self, channel: str, slot: str) -> str:
        """What the surface called the first message of that slot; empty if unsent."""
        ...

    async def slot(self, channel: str, chat: str, reference: str) -> str:
        """The slot of the message that the surface calls so; empty for one that is not ours, or has none."""
        ...

    async def slots(self, channel: str, beginning: str) -> list[str]:
        """The slots that begin so, the oldest first."""
        ...

    async def find(self, channel: str, chat: str, reference: str) -> Parcel | None:
        """The parcel of the message that the surface calls so; None for one that is not ours, or is kept no more."""
        ...

    async def references(self, channel: str, chat: str, limit: int) -> list[str]:
        """What the surface called the newest messages of that chat."""
        ...

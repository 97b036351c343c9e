"""The doors between rooms, as protocols: who offers what to whom."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from farhand.model.commands import Accepted, Command
from farhand.model.facts import AskSettled, Draft, Event, Fact
from farhand.model.history import Found, HistoryPage
from farhand.model.present import Ask, Message, Present, Worker
from farhand.model.words import AskId, Sender, Seq, TurnId, Word, WorkerName

# --- the hub


class Hub(Protocol):
    """The one door to a team. A channel cannot tell whether it is local or far away."""

    async def send(self, command: Command, sender: Sender) -> Accepted:
        """Writes the command down and returns; raises Refused when it cannot be. Repeats do nothing more."""
        ...

    def watch(self, after: Seq | None = None) -> AsyncIterator[Event]:
        """Every event after that number, then every new one; None means from now on, 0 from the oldest that is kept.

        Raises EventsGone when one that followed is not kept any more, or the number was never reached."""
        ...

    async def look(self) -> Present:
        """The present: team, focus, queues, asks."""
        ...

    async def sessions(self, backend: str = "", directory: str = "") -> "list[SessionFound]":
        """The conversations that agents have on the node's machine, newest first: of one backend, of one folder,
        or of all that can tell. Raises Refused for a backend that cannot."""
        ...

    async def history(self, worker: WorkerName, before: Seq | None = None, limit: int = 60) -> HistoryPage:
        """The worker's past, newest page first: entries before that number, or the last ones and the open turn."""
        ...

    async def search(self, query: str, worker: WorkerName = "", limit: int = 50) -> list[Found]:
        """Where all the words of the query were said, to or by a worker or any, newest first."""
        ...


# --- time


class Clock(Protocol):
    """Time as an argument."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns when that many seconds have passed on this clock."""
        ...


# --- drivers


class Can(Word):
    """What a driver can do; nobody asks what it is called."""

    interrupt: bool = False
    steer: bool = False
    images: bool = False
    files: bool = False
    models: bool = False
    modes: tuple[str, ...] = ()
    # The wire carries ids: a command performed twice acts once, so that it may be repeated after a crash.
    ids: bool = False
    # The agent runs in a tmux session that a person can attach to.
    terminal: bool = False
    # Its conversations can be listed, taken up and handed back: the driver is also a `KeepsSessions`.
    sessions: bool = False


class Taken(Word):
    """There is proof that the agent's wire has it."""


class NotTaken(Word):
    """It certainly did not arrive; `why` is a sentence."""

    why: str


class Unknown(Word):
    """Nobody can tell."""

    why: str


Outcome: TypeAlias = Taken | NotTaken | Unknown


class Deliver(Word):
    """Bring a message to the agent: the start of `turn`, or a word into the running one."""

    turn: TurnId
    message: Message
    joins: bool = False


class Settle(Word):
    """Bring the answer of a settled ask to the agent."""

    ask: Ask


class Stop(Word):
    """Stop the running turn. Asked for again it has another number: only then does the agent hear it again."""

    turn: TurnId
    number: Seq = 0


class Change(Word):
    """Change model or mode."""

    model: str | None = None
    mode: str | None = None


Errand: TypeAlias = Deliver | Settle | Stop | Change


class Heard(Word):
    """A fact that an agent's wire brought; `turn` is None for the running one."""

    fact: Fact
    turn: TurnId | None = None


class Batch(Word):
    """Facts that came together, and where the wire stands after them: written down in one transaction."""

    heard: tuple[Heard, ...]
    cursor: str = ""


class Link(Protocol):
    """An open connection to one worker's agent."""

    async def perform(self, errand: Errand) -> Outcome:
        """Does it and returns as soon as it is taken, never at the turn's end."""
        ...

    def facts(self) -> AsyncIterator[Batch]:
        """What the agent brings, after the cursor that the link was opened with. Ends, or raises AgentGone, with it."""
        ...


class Driver(Protocol):
    """Runs one backend."""

    @property
    def backend(self) -> str:
        """The kind of agent, as a worker's `backend` names it."""
        ...

    @property
    def wire(self) -> str:
        """How its agents are reached, where a backend has several drivers: `tmux`, `headless`, `exec`."""
        ...

    @property
    def can(self) -> Can:
        """What it can do."""
        ...

    def open(self, worker: Worker, cursor: str) -> AbstractAsyncContextManager[Link]:
        """Starts the worker's agent, or finds it alive and goes on after the cursor. The agent outlives the link."""
        ...

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left. Done twice, it does nothing more."""
        ...


class SessionFound(Word):
    """A conversation that an agent has on this machine, as its own files tell."""

    id: str
    directory: str
    # What it is about (its summary, or the first thing that was said in it), and when it was last written to.
    title: str = ""
    at: float = 0.0
    # The agent's last answer in it, as far as the end of its file shows; shown to whoever takes it up.
    answer: str = ""
    # Whether an agent has it open right now (None where nobody can tell), its mode and its model.
    open: bool | None = None
    mode: str = ""
    model: str = ""
    # Whose it is: the kind of agent, and the worker that has it already. The core fills them in.
    backend: str = ""
    worker: WorkerName = ""


@runtime_checkable
class KeepsSessions(Protocol):
    """What a driver with `can.sessions` offers beside `Driver`."""

    async def sessions(self, directory: str) -> list[SessionFound]:
        """The agent's conversations of that folder, or of every folder for "", newest first; cheap however long."""
        ...

    def resume_command(self, worker: Worker) -> str:
        """The shell command that goes on with the worker's session at the desk, its folder included."""
        ...


# --- where processes are born


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


# --- the store, and what channels keep in it


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
        """Events after that number, encoded, oldest first."""
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

    async def references(self, channel: str, chat: str, limit: int) -> list[str]:
        """What the surface called the newest messages of that chat."""
        ...

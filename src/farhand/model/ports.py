"""The interfaces between rooms, as protocols: the hub, time, and drivers with the errands and facts of their links."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, runtime_checkable

from farhand.model.commands import Accepted, Command
from farhand.model.facts import Event, Fact
from farhand.model.history import Found, HistoryPage
from farhand.model.present import Ask, Message, Present, Worker
from farhand.model.words import Sender, Seq, TurnId, Word, WorkerName

# --- the hub


class Hub(Protocol):
    """The one way into a team. A channel cannot tell whether it is local or far away."""

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
    # How hard it can be told to think, the least first; a model may have fewer.
    effort: tuple[str, ...] = ()
    # The wire carries ids: a command performed twice acts once, so that it may be repeated after a crash.
    ids: bool = False
    # The agent runs in a tmux session that a person can attach to.
    terminal: bool = False
    # Its conversations can be listed, taken up and handed back: the driver is also a `KeepsSessions`.
    sessions: bool = False
    # It may judge other workers' work: by a mode that only reads, or since it asks first, it is kept from acting.
    reviews: bool = False


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
    """Change model, mode or effort."""

    model: str | None = None
    mode: str | None = None
    effort: str | None = None


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


@runtime_checkable
class MayBeOver(Protocol):
    """What a link offers beside `Link` that may be opened to an agent which is over."""

    @property
    def ended_on_purpose(self) -> bool:
        """Whether its agent was ended with its node: its facts are what it left, and then the cursor of a new start."""
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

    async def messages(self, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
        """What was said in one of them: its turns before that entry, or the last ones; nobody takes it up by it."""
        ...

    def resume_command(self, worker: Worker) -> str:
        """The shell command that goes on with the worker's session at the desk, its folder included."""
        ...

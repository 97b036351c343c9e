"""The one way into a team: takes commands, writes facts down, then tells everybody, and never before."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread

from farhand.core import desk_terminal
from farhand.core.decide import ask_gone, decide, expire, find, lift, message_id, taken_over
from farhand.core.hire_policy import HirePolicy
from farhand.core.sessions import AgentSessions
from farhand.core.sprint_moves import with_listed
from farhand.core.tail import Tail
from farhand.model import road
from farhand.model.commands import Accepted, Answer, Command, Hire, Say, SendFindings, Sprint, fingerprint
from farhand.model.errors import CannotDo, EventsGone, IdTaken, UnknownAsk
from farhand.model.facts import Draft, Event, Focused, Queued
from farhand.model.history import Found, HistoryPage
from farhand.model.logger import get_logger
from farhand.model.ports import Clock, SessionFound
from farhand.model.present import Ask, Present, Worker
from farhand.model.present_fold import fold
from farhand.model.store_ports import Cursor, InboxEntry, Journal
from farhand.model.stream import MOST_RESUMED, MOST_RESUMED_BYTES, ResumePoint, StreamHello
from farhand.model.wire import checked, decode_event
from farhand.model.words import Sender, Seq, WorkerName, replace
from farhand.model.workdir import FileText

log = get_logger("hub")
_CHUNK = 512


class TaskLists(Protocol):
    """Reads lists of tasks in workers' folders."""

    async def text(self, worker: Worker, path: str) -> FileText:
        """That file as text; raises Refused for what is not in the folder, or may hold a secret."""
        ...


class LocalHub:
    """The hub of this node. Decides on what will be, acts and tells only on what is written."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        policy: HirePolicy,
        present: Present,
        sessions: AgentSessions | None = None,
        epoch: str = "",
    ) -> None:
        # Names this run of the node on its store: event numbers mean the same only within it and before it.
        self.epoch = epoch
        self._sessions = sessions or AgentSessions({})
        self._journal = journal
        self._clock = clock
        self._policy = policy
        # What is written, and published to listeners and watchers.
        self.present = present
        # The present plus pending writes. Decisions use this one, so that commands need not wait for the disk in turn.
        self._projected = present
        self._tail = Tail(present.seq)
        self._in_flight: dict[tuple[str, str], asyncio.Event] = {}
        # Counts failed writes: of several that fail together, only the first resets the projected present.
        self._failed_writes = 0
        # How many pending writes change each worker.
        self._pending_writes: Counter[str] = Counter()
        self.started_after = present.seq
        # Whether the journal may grow by what agents say; set by `core/retention.py`.
        self.has_room = True
        # Reads files of workers' folders for whoever may see them; set where the node is put together.
        self.task_lists: TaskLists | None = None
        self._listeners: list[Callable[[Sequence[Event]], None]] = []
        self._wakes: dict[str, Callable[[], None]] = {}

    @property
    def projected(self) -> Present:
        """The present plus pending writes: what the next decision is based on."""
        return self._projected

    def listen(self, listener: Callable[[Sequence[Event]], None]) -> None:
        """Calls the listener with what was just written, before any watcher has read it. It must not wait."""
        self._listeners.append(listener)

    @contextmanager
    def waking(self, worker: str, wake: Callable[[], None]) -> Iterator[None]:
        """Calls `wake` after every write about the worker, and after one that failed. It must not wait."""
        self._wakes[worker] = wake
        try:
            yield
        finally:
            # Somebody of the same name may have been hired since.
            if self._wakes.get(worker) == wake:
                del self._wakes[worker]

    async def send(self, command: Command, sender: Sender) -> Accepted:
        """Writes the command to the journal and returns. A repeat (same sender and id) is deduplicated."""
        checked(command)
        key = (sender.via, command.id)
        while (other := self._in_flight.get(key)) is not None:
            # The same command twice at the same moment: the second waits for the first.
            await other.wait()
        self._in_flight[key] = done = asyncio.Event()
        try:
            before = await self._journal.seen(*key)
            if before is None:
                return await self._take(command, sender)
            if before.fingerprint not in ("", fingerprint(command)):
                # Somebody else used the id first: "done" would be a lie.
                raise IdTaken(command.id)
            return replace(before.accepted, again=True)
        finally:
            del self._in_flight[key]
            done.set()

    async def _take(self, command: Command, sender: Sender) -> Accepted:
        found = await self._found(command)
        # Asked before there is a worker: its own agent will have the conversation open, too.
        desk = await self._sessions.open_in(found) if found else ()
        drafts = await self._decide(await self._with_tasks(command), sender, found)
        road.reached("hub.decided")
        accepted = self._accepted(command, sender, drafts)
        await self._write(drafts, inbox=InboxEntry(via=sender.via, accepted=accepted, fingerprint=fingerprint(command)))
        road.reached("hub.written")
        if desk:
            await anyio.to_thread.run_sync(desk_terminal.show, desk, taken_over(accepted.worker))
        fields = {"command": type(command).__name__, "id": command.id, "via": sender.via, "seq": accepted.seq}
        # The worker and the sender go first: a line in the log may take as long as the whole way to them.
        asyncio.get_running_loop().call_soon(partial(log.info, "command taken", **fields))
        return accepted

    async def _found(self, command: Command) -> SessionFound | None:
        """The conversation that is to be taken up, if one is."""
        if not isinstance(command, Hire) or not command.session:
            return None
        backend = self._policy.backend_of(command)
        self._policy.check(backend, command.options)
        return await self._sessions.one(backend, command.session, self._policy.inside(command.directory))

    async def _with_tasks(self, command: Command) -> Command:
        """A sprint with the tasks of the file that it names."""
        if not isinstance(command, Sprint) or not command.file:
            return command
        worker = find(self._projected, command.worker)
        if self.task_lists is None:
            raise CannotDo("This node reads no files of workers.")
        return with_listed(command, await self.task_lists.text(worker, command.file))

    async def _decide(self, command: Command, sender: Sender, found: SessionFound | None) -> list[Draft]:
        try:
            return decide(self._projected, command, sender, self._policy, found)
        except UnknownAsk:
            if isinstance(command, Answer) and (settled := await self._journal.settled(command.ask)):
                raise ask_gone(settled) from None
            raise

    def _accepted(self, command: Command, sender: Sender, drafts: Sequence[Draft]) -> Accepted:
        worker = drafts[0].worker if drafts else ""
        # A lone order, such as STOP, becomes no message.
        queued = any(isinstance(one.fact, Queued) for one in drafts)
        message = message_id(command, sender) if queued and isinstance(command, Say | SendFindings) else ""
        return Accepted(id=command.id, seq=self._projected.seq + len(drafts), worker=worker, message=message)

    async def record(
        self, name: str, make_drafts: Callable[[Worker], list[Draft]], cursor: Cursor | None = None
    ) -> tuple[Event, ...]:
        """Writes facts of a worker and its wire's cursor after them, in one transaction.

        `make_drafts` is called with the projected worker, and must not wait."""
        worker = self._projected.workers.get(name)
        drafts = make_drafts(worker) if worker else []
        return await self._write(drafts, cursor=cursor) if drafts or cursor else ()

    def others(self, name: WorkerName) -> tuple[Worker, ...]:
        """The other workers, with what is being written of them."""
        return tuple(worker for worker in self._projected.workers.values() if worker.name != name)

    async def focused_before(self, worker: Worker) -> WorkerName:
        """Who had the focus that the worker's hiring took; empty where nobody had it, or it took none."""
        written = [decode_event(body) for _, body in await self._journal.read(worker.since - 1, 2)]
        taken = (one.fact.before for one in written if one.worker == worker.name and isinstance(one.fact, Focused))
        return next(taken, "")

    async def expire(self, ask: Ask) -> None:
        """Settles an ask whose deadline has come, if it is still open."""
        current = self._projected.ask(ask.id)
        if current is not None and current.settled is None:
            await self._write([expire(current)])

    async def lift(self, worker: Worker) -> None:
        """Takes a worker's limit for over, if it still holds the same worker up."""
        current = self._projected.workers.get(worker.name)
        if current is not None and (current.since, current.resumes_at) == (worker.since, worker.resumes_at):
            await self._write([lift(current)])

    async def _write(
        self, drafts: Sequence[Draft], *, inbox: InboxEntry | None = None, cursor: Cursor | None = None
    ) -> tuple[Event, ...]:
        """Numbers the facts, projects them for the next decisions, writes them in one transaction; then folds them into
        the present and publishes them: to the workers' tasks, to watchers, then to listeners."""
        failed_before, before = self._failed_writes, self._projected
        events = self._journal.stamp(drafts, self._clock.now())
        changed = self._project(events)
        after = self._projected
        # Whoever asked may go away; what is written must be told all the same.
        with anyio.CancelScope(shield=True):
            try:
                bodies = await self._journal.append(events, inbox=inbox, cursor=cursor)
            except Exception as error:
                self._release(changed)
                self._write_failed(failed_before, error)
                raise
        self._release(changed)
        if self.present is before:
            # Nothing failed meanwhile: what was projected is what is written now.
            self.present = after
        else:
            for event in events:
                self.present = fold(self.present, event)
        # In this order their tasks run: what a listener starts keeps nobody waiting for the message itself.
        for worker in dict.fromkeys(event.worker for event in events):
            if wake := self._wakes.get(worker):
                wake()
        self._tail.add(events, bodies)
        for listener in self._listeners:
            listener(events)
        return events

    def _project(self, events: Sequence[Event]) -> list[str]:
        """Folds events that are about to be written into the projected present; the workers that they change."""
        changed = []
        for event in events:
            before = self._projected.workers.get(event.worker)
            self._projected = fold(self._projected, event)
            if self._projected.workers.get(event.worker) is not before:
                changed.append(event.worker)
                self._pending_writes[event.worker] += 1
        return changed

    def _release(self, changed: Iterable[str]) -> None:
        for worker in changed:
            self._pending_writes[worker] -= 1
            if not self._pending_writes[worker]:
                del self._pending_writes[worker]

    def is_written(self, worker: str) -> bool:
        """Whether no pending write changes the worker, so that the present has its newest state."""
        return worker not in self._pending_writes

    def _write_failed(self, failed_before: int, error: Exception) -> None:
        """Rolls the projected present back to what is written; later pending writes fail too, by their numbers."""
        log.error("not written", error=str(error))
        if failed_before == self._failed_writes:
            self._failed_writes += 1
            self._projected = self.present
            self._journal.rewind(self.present.seq)
        for listener in self._listeners:
            listener(())
        # Every worker takes its next step from the present again.
        for wake in self._wakes.values():
            wake()

    async def look(self) -> Present:
        """The present as it is written."""
        return self.present

    async def sessions(self, backend: str = "", directory: str = "") -> list[SessionFound]:
        """The conversations that agents have on this machine, each with the worker that has it."""
        if backend:
            self._policy.check(backend, {})
        has_it = {worker.session: worker.name for worker in self.present.workers.values() if worker.session}
        found = await self._sessions.all(backend, self._policy.inside(directory))
        return [replace(one, worker=has_it.get(one.id, "")) for one in found]

    async def messages(self, backend: str, session: str, before: Seq | None, limit: int) -> HistoryPage:
        """A page of a conversation that an agent has on this machine, whether or not a worker has it."""
        self._policy.check(backend, {})
        return await self._sessions.messages(backend, session, before, limit)

    async def history(self, worker: str, before: Seq | None = None, limit: int = 60) -> HistoryPage:
        """A page of the worker's past, also of one that left the team."""
        return await self._journal.history(worker, before, limit, self.present.seq)

    async def search(self, query: str, worker: str = "", limit: int = 50) -> list[Found]:
        """Where all the words of the query were said, newest first."""
        return await self._journal.search(query, worker, limit)

    async def check_after(self, after: Seq) -> None:
        """Raises EventsGone when what followed that event cannot all be given."""
        if after > self._tail.seq or 0 < after < self._tail.first - 1:
            first, _ = await self._journal.bounds()
            if after > self._tail.seq or after < first - 1:
                raise EventsGone(after, first, self._tail.seq)

    async def hello(self, resume: ResumePoint | None) -> StreamHello:
        """How the journal stands, and whether a reader can go on where it was."""
        first, _ = await self._journal.bounds()
        seq = self.present.seq
        whole = resume is not None and seq - resume.after <= MOST_RESUMED
        if whole and resume is not None:
            whole = await self._journal.can_resume(resume.journal, resume.after)
            whole = whole and await self._journal.bytes_after(resume.after) <= MOST_RESUMED_BYTES
        return StreamHello(journal=self.epoch, first=first, seq=seq, resume="whole" if whole else "gap")

    async def watch(self, after: Seq | None = None) -> AsyncIterator[Event]:
        """Every event after that number, then every new one."""
        position = self._tail.seq if after is None else after
        await self.check_after(position)
        while True:
            if self._tail.contains(position):
                await self._tail.wait_after(position)
                if not self._tail.contains(position):
                    # More came at once than the cache keeps.
                    continue
                events = self._tail.events(position, _CHUNK)
            else:
                events = [decode_event(body) for _, body in await self._read_on(position)]
            for event in events:
                yield event
            position = events[-1].seq if events else self._tail.seq

    async def bodies(self, after: Seq | None = None) -> AsyncIterator[list[bytes]]:
        """The same as `watch`, in pieces and as written: for those who pass events on."""
        position = self._tail.seq if after is None else after
        await self.check_after(position)
        while True:
            if self._tail.seq <= position:
                await self._tail.wait_after(position)
            bodies, position = await self.bodies_after(position)
            if bodies:
                yield bodies

    async def bodies_after(self, position: Seq) -> tuple[list[bytes], Seq]:
        """What follows that event now, as written and up to a limit, and where it ends; never waits for more.

        Raises EventsGone when some of it went while the reader was behind."""
        if self._tail.contains(position):
            bodies = self._tail.bodies(position, _CHUNK)
            return bodies, position + len(bodies)
        rows = await self._read_on(position)
        return [body for _, body in rows], rows[-1][0] if rows else self._tail.seq

    async def _read_on(self, position: Seq) -> list[tuple[Seq, bytes]]:
        """What follows in the journal, without a hole: numbers are without gaps, so as many rows as numbers."""
        rows = await self._journal.read(position, _CHUNK)
        if position and (not rows or rows[-1][0] - position != len(rows)):
            first, _ = await self._journal.bounds()
            raise EventsGone(position, first, self._tail.seq)
        return rows

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` after every write, when watchers may read it. It must not wait."""
        return self._tail.calling(wake)

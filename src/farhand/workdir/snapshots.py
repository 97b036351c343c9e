"""Keeps how a worker's folder was at the start and at the end of each turn: as trees beside its repository.

Objects and index are ours: the repository itself is not written to. What git ignores, files that may hold a secret, the
node's own files and large files are left out."""

import asyncio
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.disk.atomic import append
from farhand.disk.local_disks import is_local
from farhand.model import facts
from farhand.model.errors import GitFailed, NoRepository
from farhand.model.facts import Event
from farhand.model.logger import get_logger
from farhand.model.present import Worker
from farhand.model.secret_names import may_hold_secret
from farhand.model.words import TurnId, Word
from farhand.workdir.files import is_private
from farhand.workdir.git import Git
from farhand.workdir.repository import Repository, find_repository, is_in_none, split_z, unlock
from farhand.workdir.repository_links import leads_out

log = get_logger("workdir")
LARGEST_FILE = 10 * 1024 * 1024
MOST_FILES = 20_000
MOST_INDEX_BYTES = 256 * 1024 * 1024
OUTSIDE = "The git repository of {worker} lies outside of its sandbox, so nobody looks into it."
LOG = "turns.jsonl"
INDEX = "snapshot-index"
EXACT_INDEX = "exact-index"
COPIED_INDEX = "copied-index"
CHANGED = ("--others", "--modified", "--deleted", "--exclude-standard")
# Of several workers at the same time.
AT_ONCE = 4
MOST_WAITING = 1000
# The message itself goes first, if it is handed over within this time. An agent needs far longer for its first change,
# and turns that start and end within it, as the one before and the one after in a queue, are looked at once.
DELAY_SECONDS = 0.01
_LONGEST_LOG = 4 * 1024 * 1024


class TurnSnapshot(Word):
    """A tree of a worker's folder, taken when a turn started or ended."""

    turn: TurnId
    tree: str
    ended: bool = False


_decoder = msgspec.json.Decoder(TurnSnapshot)


def paths_to_take(top: Path, listed: Iterable[str], private: Path) -> list[str]:
    """Those of the changed paths that are taken: no folders of other repositories, nothing secret, nothing large."""
    named = [path for path in dict.fromkeys(listed) if path and not path.endswith("/")]
    return [path for path in named if _is_taken(top, path) and not is_private(top, path, private)]


def _is_taken(top: Path, path: str) -> bool:
    if may_hold_secret(path):
        return False
    try:
        return os.lstat(top / path).st_size <= LARGEST_FILE
    except (FileNotFoundError, NotADirectoryError):
        # It was deleted, which is a change like any other.
        return True
    except OSError:
        return False


class Snapshots:
    """Takes and keeps snapshots, one at a time for each hiring, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        worker: Callable[[str], Worker | None],
        private: Path,
        seen: Callable[[Worker], Collection[str] | None] = lambda _: None,
    ) -> None:
        self._folder = folder
        # The node's own: it may lie in a worker's folder.
        self.private = private
        self._worker = worker
        # What an agent in a sandbox sees of this machine; None for one in no sandbox.
        self._seen = seen
        self._locks: dict[str, anyio.Lock] = {}
        # Of each hiring, the turn that began in no repository: its end would have nothing to be compared with.
        self._without: dict[str, TurnId] = {}
        # The hirings whose index was brought up to date since the node's start.
        self._read: set[str] = set()
        self._places = anyio.Semaphore(AT_ONCE, fast_acquire=True)
        # Of each hiring, the starts and ends of turns that are yet to be looked at; and the hirings that have such, and
        # a repository.
        self._waiting: dict[str, list[Event]] = {}
        self._due: asyncio.Queue[tuple[Worker, Repository]] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(AT_ONCE, "snapshots")
        # The hirings whose folders are on disks of this machine.
        self._local: set[str] = set()
        # The hirings that nobody has looked at yet, and what will have a thread do it.
        self._unlooked: list[Worker] = []
        self._delayed: asyncio.Handle | None = None
        # For what both the threads and the event loop change.
        self._guard = threading.Lock()
        self._closed = False

    def hear(self, events: Sequence[Event]) -> None:
        """Listens to what was just written; never waits. What comes too fast is left out: a turn then has no diff."""
        for event in events:
            kind = type(event.fact)
            if kind is facts.HandedOver and self._delayed is not None:
                # The message is there: nobody waits for anything any more.
                self._delayed.cancel()
                self._delayed = asyncio.get_running_loop().call_soon(self._look_for_all)
            elif (kind is facts.TurnStarted or kind is facts.TurnEnded) and event.turn:
                worker = self._worker(event.worker)
                if worker is not None and not self._closed:
                    self._wait(worker, event, event.turn)

    def _wait(self, worker: Worker, event: Event, turn: TurnId) -> None:
        with self._guard:
            if isinstance(event.fact, facts.TurnEnded) and self._without.pop(worker.hiring_id, None) == turn:
                return
            waiting = self._waiting.setdefault(worker.hiring_id, [])
            if len(waiting) == MOST_WAITING:
                log.warning("no snapshot", worker=event.worker, turn=event.turn)
                return
            waiting.append(event)
            is_first = len(waiting) == 1
        if is_first:
            self._unlooked.append(worker)
            if self._delayed is None:
                self._delayed = asyncio.get_running_loop().call_later(DELAY_SECONDS, self._look_for_all)

    def _look_for_all(self) -> None:
        unlooked, self._unlooked, self._delayed = self._unlooked, [], None
        for worker in () if self._closed else unlooked:
            if worker.hiring_id in self._local:
                # A thread would cost more than the look, and fight with this one for the interpreter.
                if is_in_none(worker.directory):
                    self._note_none(worker)
                else:
                    self._look(worker, self._due.put_nowait)
            else:
                loop = asyncio.get_running_loop()
                self._threads.submit(self._look_first, worker, partial(_put_in, loop, self._due.put_nowait))

    def _look_first(self, worker: Worker, put: Callable[[tuple[Worker, Repository]], object]) -> None:
        """In a thread: a folder of a network may let us wait for ever."""
        self._look(worker, put)
        if is_local(Path(worker.directory)):
            self._local.add(worker.hiring_id)

    def _look(self, worker: Worker, put: Callable[[tuple[Worker, Repository]], object]) -> None:
        """Looks for the repository; where there is one, `put` has the rest done."""
        try:
            found = self._repository(worker)
        except NoRepository:
            self._note_none(worker)
        except (GitFailed, OSError, RuntimeError, ValueError) as error:
            log.warning("no snapshot", worker=worker.name, why=str(error))
            with self._guard:
                self._waiting.pop(worker.hiring_id, None)
        else:
            put((worker, found))

    def _note_none(self, worker: Worker) -> None:
        with self._guard:
            for event in self._waiting.pop(worker.hiring_id, ()):
                if isinstance(event.fact, facts.TurnStarted) and event.turn:
                    self._without[worker.hiring_id] = event.turn

    async def run(self) -> None:
        """Takes snapshots until it is cancelled."""
        try:
            await anyio.to_thread.run_sync(self._forget_gone)
            async with anyio.create_task_group() as tasks:
                while True:
                    tasks.start_soon(self._keep, *await self._due.get())
        finally:
            self._closed = True
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _forget_gone(self) -> None:
        """Removes what was kept for workers that are no more."""
        for kept in self._folder.iterdir() if self._folder.is_dir() else ():
            worker = self._worker(kept.name.rpartition("-")[0])
            if worker is None or worker.hiring_id != kept.name:
                shutil.rmtree(kept, ignore_errors=True)

    async def _keep(self, worker: Worker, repository: Repository) -> None:
        async with self._lock(worker), self._places:
            with self._guard:
                events = self._waiting.pop(worker.hiring_id, [])
            if events:
                await self._keep_all(worker, repository, events)

    async def _keep_all(self, worker: Worker, repository: Repository, events: Sequence[Event]) -> None:
        """Looks at the folder once for all of them."""
        turns = [(event.turn or "", isinstance(event.fact, facts.TurnEnded)) for event in events]
        try:
            tree = await self._take(worker, repository)
            taken = [TurnSnapshot(turn=turn, tree=tree, ended=ended) for turn, ended in turns]
            append(self.ours(worker) / LOG, b"".join(msgspec.json.encode(one) + b"\n" for one in taken))
        except NoRepository:
            self._without.update((worker.hiring_id, turn) for turn, ended in turns if not ended)
        except (GitFailed, OSError) as error:
            log.warning("no snapshot", worker=worker.name, turn=turns[-1][0], why=str(error))
        except Exception:
            # An agent can do anything to its folder: that costs a snapshot, never the node.
            log.exception("no snapshot", worker=worker.name, turn=turns[-1][0])

    async def repository(self, worker: Worker) -> Repository:
        """The repository of the worker's folder; NoRepository, too, where a worker in a sandbox leads out of it."""
        return await asyncio.get_running_loop().run_in_executor(None, self._repository, worker)

    def _repository(self, worker: Worker) -> Repository:
        found, seen = find_repository(Path(worker.directory)), self._seen(worker)
        if seen is not None and leads_out(found, Path(worker.directory), seen):
            raise NoRepository(OUTSIDE.format(worker=worker.name), folder=worker.directory)
        return found

    def ours(self, worker: Worker) -> Path:
        """The folder for what is kept for that hiring."""
        return self._folder / worker.hiring_id

    def _lock(self, worker: Worker) -> anyio.Lock:
        return self._locks.setdefault(worker.hiring_id, anyio.Lock(fast_acquire=True))

    async def take(self, worker: Worker, repository: Repository, *, exact: bool = False) -> str:
        """The tree of the folder as it is now; `exact` reads every file, whatever its times and its size say."""
        async with self._lock(worker):
            return await (self._take_exact if exact else self._take)(worker, repository)

    async def _take_exact(self, worker: Worker, repository: Repository) -> str:
        """Git takes a file for unchanged that was edited within a second, to the same size, and given its old time."""
        if worker.hiring_id not in self._read:
            await self._take(worker, repository)
        git, index = Git(repository, self.ours(worker)), self.ours(worker) / EXACT_INDEX
        unlock(index)
        index.unlink(missing_ok=True)
        # Made of names alone, an index knows no times and no trees: all contents are compared, and all trees are made.
        listed = await git.run("ls-files", "-s", "-z", index=self.ours(worker) / INDEX, most=MOST_INDEX_BYTES)
        if listed.cut:
            raise GitFailed("The repository has too many files to be compared one by one.")
        await git.run("update-index", "-z", "--index-info", index=index, stdin=listed.data)
        return await self._update(git, index)

    async def _take(self, worker: Worker, repository: Repository) -> str:
        ours = self.ours(worker)
        git = Git(repository, ours)
        await git.open()
        index, copy = ours / INDEX, ours / COPIED_INDEX
        unlock(index)
        if not index.exists() and repository.index.is_file():
            # Its times spare git the reading of every file.
            # With its own time, too: what was changed in the same second is read again.
            await anyio.to_thread.run_sync(shutil.copy2, repository.index, copy)
            unlock(copy)
            await _see_all(git, copy)
            # Not before all marks are off: what was cut off is begun anew.
            copy.replace(index)
        tree = await self._update(git, index)
        self._read.add(worker.hiring_id)
        return tree

    async def _update(self, git: Git, index: Path) -> str:
        """Takes what was changed into the index; the tree that it makes."""
        listed = await git.run("ls-files", "-z", *CHANGED, index=index)
        names = list(split_z(listed.data))
        if listed.cut or len(names) > MOST_FILES:
            raise GitFailed(f"More than {MOST_FILES:,} files changed.")
        taken = await anyio.to_thread.run_sync(paths_to_take, git.repository.top, names, self.private)
        if taken:
            stdin = b"".join(os.fsencode(name) + b"\0" for name in taken)
            await git.run("update-index", "-z", "--add", "--remove", "--stdin", index=index, stdin=stdin)
        return (await git.run("write-tree", index=index)).data.decode().strip()

    def of_turn(self, worker: Worker, turn: TurnId) -> tuple[str, str]:
        """The trees at the start and at the end of the turn; empty where there is none."""
        start = end = ""
        for one in self._kept(worker):
            if one.turn == turn and one.ended:
                end = one.tree
            elif one.turn == turn:
                start = one.tree
        return start, end

    def _kept(self, worker: Worker) -> list[TurnSnapshot]:
        path = self.ours(worker) / LOG
        try:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - _LONGEST_LOG))
                lines = file.read(_LONGEST_LOG).split(b"\n")
        except FileNotFoundError:
            return []
        return [one for line in lines if (one := _read(line)) is not None]


def _put_in(
    loop: asyncio.AbstractEventLoop,
    put: Callable[[tuple[Worker, Repository]], object],
    found: tuple[Worker, Repository],
) -> None:
    with suppress(RuntimeError):
        # Unless the node has ended meanwhile.
        loop.call_soon_threadsafe(put, found)


async def _see_all(git: Git, index: Path) -> None:
    """Takes the marks off by which a repository's index lets git pass over changes of a file."""
    listed = await git.run("ls-files", "-v", "-z", index=index)
    marked = [line[2:] for line in listed.data.split(b"\0") if line and (line[:1].islower() or line[:1] == b"S")]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if marked else ():
        await git.run("update-index", flag, "-z", "--stdin", index=index, stdin=b"\0".join([*marked, b""]))


def _read(line: bytes) -> TurnSnapshot | None:
    try:
        return _decoder.decode(line)
    except msgspec.MsgspecError:
        return None

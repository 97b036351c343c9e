"""One SQLite file (WAL) with a writer and a reader thread, each with a queue of jobs; queued writes share a commit."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import msgspec

from farhand.model.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreNewer
from farhand.model.logger import get_logger
from farhand.store.schema import FILLS, MIGRATIONS, VERSION

log = get_logger("store")
T = TypeVar("T")
# The most jobs in one transaction, so that the first of them does not wait for ever.
_BATCH_LIMIT = 256
_LARGEST_LOG_BYTES = 64_000_000
# What was put off is written when nothing came for so long.
_REST_SECONDS = 0.05
# Looks at one row of each: a UNION would read every event.
_ANY = "SELECT EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM workers)"


def as_store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """SQLite's error as a sentence that says what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"The disk is full: {path} cannot grow. Nothing was half written.", path=str(path))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(f"Another program holds {path}. End it, then try again.", path=str(path))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorrupt(
            f"{path} is damaged ({error}). It was left as it is: move it away or restore a copy.", path=str(path)
        )
    return StoreError(f"{path} cannot be used: {error}.", path=str(path))


def connect(path: Path) -> sqlite3.Connection:
    """A connection set up as every thread here needs it; the file is its owner's alone, whatever the umask."""
    _keep_private(path)
    connection = sqlite3.connect(path, timeout=2.0, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    # The write-ahead log is cut back to this after a checkpoint; one transaction may be longer.
    connection.execute(f"PRAGMA journal_size_limit = {_LARGEST_LOG_BYTES}")
    return connection


def has_events(path: Path) -> bool:
    """Whether a node has lived with this store: anything ever happened, or somebody is on its team. Changes nothing."""
    if not path.exists():
        return False
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0)
        try:
            return bool(connection.execute(_ANY).fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        # Whoever opens it to use it says what is wrong with it.
        return True


def _keep_private(path: Path) -> None:
    """SQLite gives its two files beside this one the same mode."""
    # A file that is there is never opened here: closing it would end SQLite's locks on it in this whole process, and
    # the next program that looks into the store would take the write-ahead log away. SQLite tells what is wrong there.
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with suppress(OSError):
            path.with_name(name).chmod(0o600)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Brings the file to this version, each step in its own transaction; refuses a newer one."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreNewer(
            f"{path} was written by a newer farhand (version {version}; this one knows {VERSION}). Update farhand.",
            path=str(path),
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        # A script that fails half-way leaves its transaction open, and closing the connection rolls it back.
        connection.executescript(f"BEGIN IMMEDIATE; {script}")
        if fill := FILLS.get(number):
            fill(connection)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    # A lock held by somebody else shows now and not at the first message.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")


class _Job:
    __slots__ = ("durable", "future", "loop", "work")

    def __init__(
        self,
        work: Callable[[sqlite3.Connection], Any],
        durable: bool,
        loop: asyncio.AbstractEventLoop,
        future: asyncio.Future[Any],
    ) -> None:
        self.work = work
        self.durable = durable
        self.loop = loop
        self.future = future


class _Worker(threading.Thread):
    """A thread with a queue of jobs and its own connection; jobs that wait in the queue share a transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path, name: str, *, writes: bool) -> None:
        super().__init__(name=name, daemon=True)
        self._connection = connection
        self._path = path
        self._writes = writes
        self._synchronous = ""
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        # Work for an idle moment, and how often it may still be put off.
        self._put_off: dict[Callable[[sqlite3.Connection], object], int] = {}

    def run(self) -> None:
        while (job := self._next_job()) is not None:
            batch, last = self._take_batch(job)
            if self._writes:
                self._transact(batch)
            else:
                _resolve([(job, *self._attempt(job)) for job in batch])
            if last:
                break
        self._catch_up()
        self._connection.close()

    def put_off(self, work: Callable[[sqlite3.Connection], object], at_most: int) -> None:
        """Called by a job: the work is done in an idle moment, or when it was put off so often."""
        self._put_off[work] = self._put_off.get(work, at_most) - 1

    def _next_job(self) -> _Job | None:
        if not self._put_off:
            return self.jobs.get()
        if min(self._put_off.values()) > 0:
            try:
                return self.jobs.get(timeout=_REST_SECONDS)
            except Empty:
                pass
        self._catch_up()
        return self.jobs.get()

    def _catch_up(self) -> None:
        """What fails here fails again, and is told, where somebody needs it; until then it is put off once more."""
        works = list(self._put_off)
        self._put_off.clear()
        for work in works:
            try:
                self._run_in_transaction("NORMAL", [work])
            except (sqlite3.Error, StoreError, msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
                log.warning("put off once more", error=str(error))

    def _take_batch(self, first: _Job) -> tuple[list[_Job], bool]:
        batch = [first]
        while len(batch) < _BATCH_LIMIT and not self.jobs.empty():
            job = self.jobs.get()
            if job is None:
                return batch, True
            batch.append(job)
        return batch, False

    def _attempt(self, job: _Job) -> tuple[Any, BaseException | None]:
        try:
            return job.work(self._connection), None
        except sqlite3.Error as error:
            return None, as_store_error(error, self._path)
        except BaseException as error:  # noqa: BLE001 - whoever awaits the job gets it
            return None, error

    def _transact(self, batch: list[_Job]) -> None:
        try:
            done = self._commit(batch)
        except BaseException as error:  # noqa: BLE001 - told to the one whose job it was
            if len(batch) == 1:
                reported = as_store_error(error, self._path) if isinstance(error, sqlite3.Error) else error
                _resolve([(batch[0], None, reported)])
                return
            # One bad job must not cost the others: each on its own, in order.
            for job in batch:
                self._transact([job])
        else:
            _resolve([(job, result, None) for job, result in zip(batch, done, strict=True)])

    def _commit(self, batch: list[_Job]) -> list[Any]:
        durable = any(job.durable for job in batch)
        return self._run_in_transaction("FULL" if durable else "NORMAL", [job.work for job in batch])

    def _run_in_transaction(self, synchronous: str, works: Sequence[Callable[[sqlite3.Connection], Any]]) -> list[Any]:
        connection = self._connection
        self._set_synchronous(synchronous)
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = [work(connection) for work in works]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return done

    def _set_synchronous(self, synchronous: str) -> None:
        if synchronous != self._synchronous:
            self._connection.execute(f"PRAGMA synchronous = {synchronous}")
            self._synchronous = synchronous


def _resolve(done: list[tuple[_Job, Any, BaseException | None]]) -> None:
    for job, _, _ in done[:1]:
        try:
            job.loop.call_soon_threadsafe(_set, done)
        except RuntimeError:
            # The loop is closed: nobody waits any more.
            return


def _set(done: list[tuple[_Job, Any, BaseException | None]]) -> None:
    for job, result, error in done:
        if job.future.done():
            continue
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)


class Database:
    """The file, open. `write` runs a job in a transaction of the writing thread, `read` beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            connection = connect(path)
            migrate(connection, path)
            reading, self._loop_connection = connect(path), connect(path)
        except sqlite3.Error as error:
            raise as_store_error(error, path) from error
        path.chmod(0o600)
        self._writer = _Worker(connection, path, "store writer", writes=True)
        self._reader = _Worker(reading, path, "store reader", writes=False)
        self._writer.start()
        self._reader.start()

    async def write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = False) -> T:
        """Runs the job in a transaction and returns when it is committed; durable ones are on the disk then."""
        return await self._submit(self._writer, work, durable=durable)

    def put_off(self, work: Callable[[sqlite3.Connection], object], *, at_most: int) -> None:
        """For a job of the writing thread: runs that work later, in a transaction of its own, when nothing is to be
        written, or when it was put off so often. Several calls are one. A kill leaves it undone."""
        self._writer.put_off(work, at_most)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a reading job beside the writer."""
        return await self._submit(self._reader, work, durable=False)

    def read_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Reads synchronously on the event loop's own connection, without the reader's queue.

        For one row by its key, which costs less than a switch of threads."""
        try:
            return work(self._loop_connection)
        except sqlite3.Error as error:
            raise as_store_error(error, self.path) from error

    def write_now(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Writes synchronously, and is on the disk when it returns. For a row that changes once in a while."""
        connection = self._loop_connection
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise as_store_error(error, self.path) from error

    async def _submit(self, thread: _Worker, work: Callable[[sqlite3.Connection], T], *, durable: bool) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        thread.jobs.put(_Job(work, durable, loop, future))
        return await future

    def close(self) -> None:
        """Commits what is queued and closes the file."""
        for thread in (self._writer, self._reader):
            if thread.is_alive():
                thread.jobs.put(None)
        for thread in (self._writer, self._reader):
            thread.join()
        self._loop_connection.close()

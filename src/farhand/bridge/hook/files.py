"""The two message files of a project on the disk: changed under a lock, whole or not at all, foreign writes kept.

Whoever else writes them need not know the lock: what was put there between our read and our write is merged, since both
files change places in one step. And what such a writer may have missed when it read stays in a file beside the inbox
until it is read: that writer may yet put back a list without it. Nobody here writes more than a hundred messages, not
even where two take the last place at once: what finds none waits beside, too. A copy of this module runs inside an
agent CLI's hooks: it imports the standard library and its neighbours alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
import time

from farhand.bridge.hook import quick_json, rules
from farhand.bridge.hook.rules import BridgeMessage
from farhand.bridge.hook.swap import exchange

LOCK = "wa_bridge.lock"
STATE = "wa_bridge.json"
PRIVATE = 0o600
# A file that makes no sense is only set aside when nobody can still be writing it.
SETTLED_SECONDS = 1.0
MOST_KEYS = 500
LARGEST_BYTES = 32 * 1024 * 1024
# In place of what a file holds: it makes no sense, and somebody may still be writing it.
UNSETTLED = b"?"
# How a file beside ends; and one with messages that found no place.
BESIDE, OVERFLOW = ".tmp", ".later.tmp"
# How often a hook asks for the lock, and how long it waits in between: 300 ms in all.
HOOK_TRIES, TRY_SECONDS = 30, 0.01
_TRIES = 50

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    ChangeMessages = Callable[[list[BridgeMessage]], list[BridgeMessage]]


class FolderHeld(OSError):
    """Somebody holds the lock of the folder for longer than one can wait."""


class FolderLock:
    """One writer at a time in this folder, hooks and nodes alike; a killed one leaves no lock behind.

    With `tries` it is asked for so often, 10 ms apart, and then raises FolderHeld: an agent waits for its hooks, and a
    node that is stopped with the lock in its hands would hold it up."""

    def __init__(self, folder: str, tries: int = 0) -> None:
        self._folder = folder
        self._tries = tries
        self._descriptor = -1

    def __enter__(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(os.path.join(self._folder, LOCK), flags, PRIVATE)
        try:
            self._lock()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _lock(self) -> None:
        if not self._tries:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            return
        for _ in range(self._tries):
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(TRY_SECONDS)
        raise FolderHeld(errno.EAGAIN, "another program holds its lock", self._folder)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


class MessageFile:
    """One of the two files; `done` is what its messages become: read, or sent. Used inside `locked`."""

    def __init__(self, folder: str, name: str, done: str) -> None:
        self.path = os.path.join(folder, name)
        self._done = done
        # What was found malformed and put elsewhere; whether it makes no sense and somebody may still be writing it.
        self.set_aside = ""
        self.is_unsettled = False

    def messages(self) -> list[BridgeMessage]:
        """What it holds now."""
        held, settled = self._read()[0], self._settled()
        beside = self._displaced(settled)
        done = {rules.key(one) for one in held if rules.is_done(one, self._done)}
        if done.issuperset(map(rules.key, beside)):
            # Otherwise it would come back as new when a foreign reader prunes it.
            _forget(settled)
        return rules.merged(held, beside, self._done)

    def change(self, change: ChangeMessages) -> list[BridgeMessage]:
        """Applies the change to what the file holds, until it holds that and what others wrote meanwhile."""
        found, data = self._read()
        if data == UNSETTLED:
            return self._change_beside(change)
        before = held = there = found
        found = rules.merged(found, self._displaced(self._left()), self._done)
        missed: set[str] = set()
        for _ in range(_TRIES):
            asked = change(found)
            wanted = rules.fitting(asked, there, self._done)
            is_so = wanted == held and (data is not None or not wanted)
            if not is_so:
                self._keep_overflow(asked, wanted, before, missed)
            displaced = None if is_so else self._replace(rules.encode(wanted), data)
            if displaced is None:
                self._keep_beside(asked, wanted, before, missed)
                break
            missed.update(map(rules.key, displaced))
            # Somebody wrote after we had read: theirs and ours are put together.
            found, there = rules.merged(asked, displaced, self._done), displaced
            held, data = wanted, rules.encode(wanted)
        return wanted

    def _change_beside(self, change: ChangeMessages) -> list[BridgeMessage]:
        """While nobody can tell what the file holds: what is added waits beside it; but what the agent said, which is
        kept until it is in the outbox."""
        if self._done == rules.SENT:
            return []
        beside = self._displaced(self._left())
        known = set(map(rules.key, beside))
        wanted = change(beside)
        added = [one for one in wanted if rules.key(one) not in known]
        if added:
            write_private(self._beside(OVERFLOW), rules.encode(added))
        return wanted

    def bring_back(self, now: float) -> None:
        """Puts what found no place into the file, as soon as there is one."""
        if any(path.endswith(OVERFLOW) for path in self._left()):
            held, data = self._read()
            if data != UNSETTLED and len(rules.waiting(held, self._done)) < rules.MOST_MESSAGES:
                self.change(lambda messages: rules.pruned(messages, self._done, now))

    def _read(self) -> tuple[list[BridgeMessage], bytes | None]:
        """The messages and what the file holds to the byte: None when there is none, UNSETTLED when it makes no sense
        and is left alone."""
        self.is_unsettled = False
        try:
            data, written = read_regular(self.path)
        except FileNotFoundError:
            return [], None
        try:
            return rules.parse(data), data
        except rules.Malformed as problem:
            return [], self._unreadable(data, time.time() - written, str(problem))

    def _unreadable(self, data: bytes, age: float, problem: str) -> bytes | None:
        if age < SETTLED_SECONDS:
            sys.stderr.write(f"{self.path} makes no sense yet ({problem}).\n")
            self.is_unsettled = True
            return UNSETTLED
        if not data.strip():
            return data
        moved = self._beside()
        os.rename(self.path, moved)
        if read_regular(moved)[0] != data:
            # Somebody has just written it anew: it lies where all lies that was displaced.
            return None
        self.set_aside = f"{self.path}.malformed-{int(time.time())}-{os.urandom(2).hex()}"
        os.rename(moved, self.set_aside)
        sys.stderr.write(f"{self.path} made no sense ({problem}) and was set aside: {self.set_aside}\n")
        return None

    def _replace(self, content: bytes, before: bytes | None) -> list[BridgeMessage] | None:
        """Puts this content in place of what was read; what it displaced, if that is something else.

        Told by what it holds: the number of a file that was replaced is soon another one's."""
        fresh = self._beside()
        write_private(fresh, content)
        if before is None:
            # Where there are no hard links, the rename below does it.
            try:
                os.link(fresh, self.path)
                os.unlink(fresh)
                return None
            except OSError:
                pass
        moved = [fresh] if exchange(fresh, self.path) else self._move_away(fresh)
        if [_content(path) for path in moved] == [before]:
            _forget(moved)
            return None
        return self._displaced(moved) or None

    def _move_away(self, fresh: str) -> list[str]:
        """Where two files cannot change places: what is there is moved away, and ours linked into the gap; where
        somebody was quicker, that is moved away, too. Returns what was moved."""
        moved: list[str] = []
        for _ in range(_TRIES):
            beside = self._beside()
            try:
                os.rename(self.path, beside)
                moved.append(beside)
            except FileNotFoundError:
                pass
            try:
                os.link(fresh, self.path)
                os.unlink(fresh)
                break
            except FileExistsError:
                pass
            except OSError:
                # Without hard links nobody tells us what came into the gap.
                os.rename(fresh, self.path)
                break
        return moved

    def _left(self) -> list[str]:
        """What is kept beside, and what writers of ours displaced when a kill kept them from merging it."""
        folder, name = os.path.split(self.path)
        found = [one for one in os.listdir(folder) if one.startswith(name + ".") and one.endswith(BESIDE)]
        # `<name>.tmp` itself is what others write to.
        return [os.path.join(folder, one) for one in found if one != f"{name}{BESIDE}"]

    def _keep_beside(
        self, asked: list[BridgeMessage], wanted: list[BridgeMessage], before: list[BridgeMessage], missed: set[str]
    ) -> None:
        """Keeps what waits and was not in the file all the time; the rest of what was displaced is forgotten.

        In the outbox only what others wrote, and for an hour: our own is put back by whoever wrote it."""
        settled = self._settled()
        beside = set(map(rules.key, self._displaced(settled)))
        was_there = set(map(rules.key, before)) - beside
        kept = [one for one in rules.waiting(wanted, self._done) if rules.key(one) not in was_there]
        if self._done == rules.SENT:
            now = time.time()
            foreign = [one for one in kept if rules.key(one) in missed | beside]
            kept = [one for one in foreign if rules.written_at(one, now) > now - rules.KEPT_SECONDS]
        if kept:
            write_private(self._beside(), rules.encode(kept))
        self._keep_overflow(asked, wanted, before, missed | beside)
        _forget(settled)

    def _keep_overflow(
        self, asked: list[BridgeMessage], wanted: list[BridgeMessage], before: list[BridgeMessage], missed: set[str]
    ) -> None:
        """Keeps what finds no place, whoever wrote it and however old it is; but in the outbox not what we add."""
        if wanted is asked:
            return
        placed = set(map(rules.key, wanted))
        over = [one for one in rules.waiting(asked, self._done) if rules.key(one) not in placed]
        if over and self._done == rules.SENT:
            known = missed.union(map(rules.key, before))
            over = [one for one in over if rules.key(one) in known]
        if over:
            write_private(self._beside(OVERFLOW), rules.encode(over))

    def _settled(self) -> list[str]:
        """What is beside and that nobody is in the middle of: it may be read, and then forgotten."""
        return [path for path in self._left() if not self._is_being_written(path)]

    def _beside(self, ending: str = BESIDE) -> str:
        return f"{self.path}.{os.getpid()}-{os.urandom(3).hex()}{ending}"

    def _is_being_written(self, path: str) -> bool:
        """Whether a writer that does not rename was in the middle of this file when it was displaced."""
        try:
            data, written = read_regular(path)
            rules.parse(data)
        except rules.Malformed:
            return time.time() - written < SETTLED_SECONDS
        except OSError:
            return False
        return False

    def _displaced(self, paths: list[str]) -> list[BridgeMessage]:
        found: list[BridgeMessage] = []
        for path in paths:
            try:
                found = rules.merged(found, rules.parse(read_regular(path)[0]), self._done)
            except (OSError, rules.Malformed):
                pass
        return found


def _content(path: str) -> bytes:
    """What a file holds; UNSETTLED for what is none."""
    try:
        return read_regular(path)[0]
    except OSError:
        return UNSETTLED


def _forget(paths: list[str]) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            pass


def is_own_folder(path: str) -> bool:
    """Whether it is a folder of this user's own, and no link: a repository could lead us elsewhere by one."""
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()


def read_regular(path: str, folder: int | None = None) -> tuple[bytes, float]:
    """What a file holds and when it was written; OSError for a link, a pipe, a device and what is too large."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(path, flags, dir_fd=folder), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_BYTES:
            raise OSError(errno.EINVAL, "it is no file, or too large", path)
        return file.read(), about.st_mtime


def write_private(path: str, data: bytes, folder: int | None = None) -> None:
    """A new file, 0600 whatever the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, PRIVATE, dir_fd=folder)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, PRIVATE)
        file.write(data)


class BridgeState:
    """What the hooks keep beside the files: what was read, what is not known to be sent, and the sprint."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, STATE)
        stored = self._stored()
        self.seen = [str(one) for one in _items(stored, "seen")]
        # The ids of what was taken back: a writer that had read it before may put it there again.
        self.withdrawn = [str(one) for one in _items(stored, "withdrawn")]
        # Not yet in the outbox; in it, and not yet seen there as sent.
        self.queued = [one for one in _items(stored, "queued") if isinstance(one, dict)]
        self.pending = [one for one in _items(stored, "pending") if isinstance(one, dict)]
        self.sprint = stored.get("sprint")
        self.stopping = stored.get("stopping") is True
        # Whether a node reads here, and what it wants to know: is a turn running, and in which tmux pane.
        self.attached = stored.get("attached") is True
        self.busy = stored.get("busy") is True
        self.tmux, self.pane = str(stored.get("tmux") or ""), str(stored.get("pane") or "")
        # The event before a turn, as the CLI calls it: it tells one CLI from another.
        self.event = str(stored.get("event") or "")
        agent = stored.get("agent")
        self.agent = agent if isinstance(agent, int) else 0

    def _stored(self) -> dict[str, object]:
        try:
            content = quick_json.loads(read_regular(self._path)[0].decode())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def unread(self, messages: list[BridgeMessage]) -> list[BridgeMessage]:
        """Those that the agent was not given yet, and is to get."""
        return rules.waiting(self.kept(messages), rules.READ, self.seen)

    def kept(self, messages: list[BridgeMessage]) -> list[BridgeMessage]:
        """All but what was taken back before anybody had read it."""
        if not self.withdrawn:
            return messages
        return [one for one in messages if rules.is_done(one, rules.READ) or one.get("id") not in self.withdrawn]

    def note(self, *, busy: bool, event: str = "") -> bool:
        """Notes for a node that a turn begins or is over, and where; whether that is news."""
        before = (self.busy, self.tmux, self.pane, self.agent, self.event)
        self.busy, self.tmux, self.pane = busy, os.environ.get("TMUX", ""), os.environ.get("TMUX_PANE", "")
        self.agent, self.event = _parent_of(os.getppid()), event or self.event
        return self.attached and before != (self.busy, self.tmux, self.pane, self.agent, self.event)

    def write(self) -> None:
        """Keeps it, whole or not at all."""
        content = {
            "seen": self.seen[-MOST_KEYS:],
            "withdrawn": self.withdrawn[-MOST_KEYS:],
            "queued": self.queued,
            "pending": self.pending,
            "sprint": self.sprint,
            "stopping": self.stopping,
            "attached": self.attached,
            "busy": self.busy,
            "tmux": self.tmux,
            "pane": self.pane,
            "agent": self.agent,
            "event": self.event,
        }
        fresh = f"{self._path}.{os.getpid()}-{os.urandom(3).hex()}.new"
        write_private(fresh, (quick_json.dumps(content, ascii_only=False) + "\n").encode("utf-8", "replace"))
        os.rename(fresh, self._path)


def _parent_of(process: int) -> int:
    """The process that started that one; a CLI runs its hooks through a shell. 0 where nobody tells."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _items(stored: dict[str, object], name: str) -> list[object]:
    found = stored.get(name)
    return found if isinstance(found, list) else []

"""Where a worker's plain files are: made for their owner alone, and refused when somebody else made them."""

import os
import shutil
import stat
from pathlib import Path

from farhand.model.compat import WORKER_INBOX
from farhand.model.errors import BadName, NodeError
from farhand.model.names import normalize

LONGEST_FILE = 64 * 1024

PIPE = "in.pipe"


PRIVATE = 0o700
# One can pass through, and sees nothing.
PASSABLE = 0o711


def private(folder: Path, top: Path, mode: int = PRIVATE) -> Path:
    """Makes the folder and all up to `top` 0700, or as told. A link, or a folder of somebody else, is refused."""
    for one in reversed([folder, *[parent for parent in folder.parents if parent.is_relative_to(top)]]):
        try:
            one.mkdir(mode=mode, parents=one == top)
        except FileExistsError:
            found = one.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                raise NodeError(f"{one} belongs to somebody else; farhand does not use it.", path=str(one)) from None
            if stat.S_IMODE(found.st_mode) != mode:
                one.chmod(mode)
        except OSError as error:
            raise NodeError(f"{one} cannot be made: {error.strerror}.", path=str(one)) from None
    return folder


def make_pipe_at(path: Path) -> Path:
    """Makes a named pipe, 0600; what lies there and is no pipe of ours goes."""
    try:
        found = path.lstat()
        if not stat.S_ISFIFO(found.st_mode) or found.st_uid != os.getuid():
            path.unlink()
            os.mkfifo(path, 0o600)
    except FileNotFoundError:
        os.mkfifo(path, 0o600)
    path.chmod(0o600)
    return path


def checked(worker: str) -> str:
    """The name, if it is one that no path can hide in."""
    if not worker or normalize(worker) != worker:
        raise BadName("Name must use letters, numbers, and hyphens only.", name=worker)
    return worker


class WorkerFiles:
    """The folders of a node's workers."""

    def __init__(self, sessions: Path, temporary: Path, node: str, readers: int | None = None) -> None:
        self.sessions = sessions
        self._top = temporary
        # The group that agents run in when they are another user's: it reads what the manager sends, and no more.
        self._readers = readers
        self._mode = PRIVATE if readers is None else PASSABLE
        self._temporary = temporary / checked(node)

    def session(self, worker: str) -> Path:
        """Where the worker's state is."""
        return self.sessions / checked(worker)

    def temporary(self, worker: str) -> Path:
        """Where its pipe and its inbox are."""
        return self._temporary / checked(worker)

    def pipe(self, worker: str) -> Path:
        """What is written there is said to the worker."""
        return self.temporary(worker) / PIPE

    def make(self) -> None:
        """Makes the folder of all sessions."""
        private(self.sessions, self.sessions)

    def make_session(self, worker: str) -> Path:
        """Makes the worker's folder of state."""
        return private(self.session(worker), self.sessions)

    def make_inbox(self, worker: str) -> Path:
        """Makes the folder for what the manager sends the worker."""
        private(self.temporary(worker), self._top, self._mode)
        inbox = self.temporary(worker) / WORKER_INBOX
        if self._readers is None:
            return private(inbox, inbox)
        private(inbox, inbox, 0o750)
        os.chown(inbox, -1, self._readers)
        return inbox

    def make_pipe(self, worker: str) -> Path:
        """Makes the worker's pipe, 0600; what lies there and is no pipe of ours goes."""
        private(self.temporary(worker), self._top, self._mode)
        return make_pipe_at(self.pipe(worker))

    def remove(self, worker: str) -> None:
        """Removes everything that was kept for the worker."""
        for folder in (self.session(worker), self.temporary(worker)):
            if not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


def read(path: Path) -> str:
    """A small file's text; empty when there is none, and for what is no plain file: a pipe would never end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return opened.read(LONGEST_FILE).decode("utf-8", errors="ignore").strip()

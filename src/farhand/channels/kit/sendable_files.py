"""Which files a worker may show, decided on the file that is really meant, and read without a gap in between."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import BinaryIO

from farhand.channels.kit.worker_folders import WorkerFolder
from farhand.model.errors import ChannelError
from farhand.model.known_secrets import KnownSecrets, SecretsInUse, none_known
from farhand.model.secret_names import may_hold_secret

LARGEST_BYTES = 20 * 1024 * 1024
BLOCK_BYTES = 1024 * 1024
IMAGES = frozenset(".jpg .jpeg .png .gif .webp .bmp".split())
DOCUMENTS = frozenset(
    (
        ".md .txt .rst .pdf .json .csv .yaml .yml .toml .ini .cfg .xml .log .sql .patch .diff .py .js .ts .jsx .tsx "
        ".go .rs .java .kt .swift .rb .php .c .cpp .h .hpp .sh .html .css .scss"
    ).split()
)
# Folders of a home that hold nothing else but keys.
BLOCKED_FOLDERS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".password-store",
)
UNREAL = ("/proc", "/sys", "/dev")


class NotSendable(ChannelError):
    """The file is not one that may be shown, or cannot be read."""

    code = "not_shown"


def refusal(
    given: PurePath, real: PurePath, *, picture: bool, roots: Iterable[PurePath], closed: Iterable[PurePath]
) -> str:
    """Why the file may not be shown; empty when it may. `real` is where `given` leads to. Pure."""
    for path in (given, real):
        ending = path.suffix.lower()
        if may_hold_secret(path):
            return "It may hold a secret."
        if ending not in (IMAGES if picture else DOCUMENTS):
            return f"Files that end with '{ending}' are not sent."
    if any(real.is_relative_to(one) for one in (*closed, *map(PurePath, UNREAL))):
        return "It lies in a folder that is closed."
    if picture and not any(real.is_relative_to(root) for root in roots):
        return "Pictures come from /tmp, the sessions' folder or the working directory."
    return ""


class SendableFiles:
    """Reads what may be shown."""

    def __init__(
        self,
        sessions: Path | None = None,
        working_directory: Path | None = None,
        *,
        node: Path | None = None,
        secrets: SecretsInUse = none_known,
    ) -> None:
        self._sessions = sessions
        self._secrets = secrets
        given = [Path("/tmp"), sessions, working_directory or Path.cwd()]  # noqa: S108
        self._roots = [root.resolve() for root in given if root is not None]
        home = Path.home().resolve()
        self._closed = [home / folder for folder in BLOCKED_FOLDERS]
        self._node = node.resolve() if node else None

    def read(self, path: str, *, picture: bool, folder: WorkerFolder | None = None) -> bytes:
        """The file's content, or NotSendable. Pictures may also come from the directory in which their worker works; of
        one in a sandbox, or of another user, nothing is sent that it does not see itself."""
        try:
            given = Path(path).expanduser()
            if not given.is_absolute():
                raise NotSendable(f"{path} is not sent: its path must be absolute.")
            real = given.resolve(strict=True)
            if why := self._refusal(given, real, picture=picture, folder=folder):
                raise NotSendable(f"{path} is not sent: {why}")
            return _read(real, self._secrets())
        except (OSError, ValueError, RuntimeError) as error:
            raise NotSendable(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None

    def _refusal(self, given: Path, real: Path, *, picture: bool, folder: WorkerFolder | None) -> str:
        sessions = self._sessions.resolve() if self._sessions else None
        if self._node and real.is_relative_to(self._node) and not (sessions and real.is_relative_to(sessions)):
            return "It lies in a folder that is closed."
        if folder is not None and not folder.sees(real):
            return "The worker cannot see it itself."
        roots = [*self._roots, *([folder.directory.resolve()] if folder else [])]
        return refusal(given, real, picture=picture, roots=roots, closed=self._closed)


def _read(real: Path, known: KnownSecrets) -> bytes:
    """What lies at the place that was judged: a link put there since, or above it, is not followed. Nothing is
    read behind a secret."""
    handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        link = Path(f"/proc/self/fd/{handle}")
        if link.exists() and link.readlink() != real:
            raise NotSendable(f"{real} changed while it was read.")
        if not stat.S_ISREG(about.st_mode):
            raise NotSendable(f"{real} is no file.")
        if about.st_nlink > 1:
            # Its other name may be one that is never sent.
            raise NotSendable(f"{real} has another name, too: copy it first.")
        if about.st_size > LARGEST_BYTES:
            raise NotSendable(f"{real} is larger than 20 MB.")
        content = bytearray()
        if secret := known.found_in(_blocks(file, content)):
            raise NotSendable(f"{real} is not sent: it holds a secret of this node ({secret}).")
    if len(content) > LARGEST_BYTES:
        raise NotSendable(f"{real} is larger than 20 MB.")
    return bytes(content)


def _blocks(file: BinaryIO, content: bytearray) -> Iterator[bytes]:
    """The file piece by piece, no further than to its largest size; the content has them all."""
    while len(content) <= LARGEST_BYTES and (block := file.read(BLOCK_BYTES)):
        content += block
        yield block

"""The folder that a worker works in, as a phone looks into it: listings, files, what git says of it. Pure."""

from typing import Literal, Protocol, TypeAlias

from farhand.model.present import Worker
from farhand.model.words import TurnId, Word

EntryKind: TypeAlias = Literal["folder", "file", "link", "other"]
MOST_ENTRIES = 2000
# What is shown of one file as text, what is handed out as bytes, and what is shown of one diff.
TEXT_BYTES = 512 * 1024
RAW_BYTES = 20 * 1024 * 1024
PATCH_BYTES = 1024 * 1024


class FolderEntry(Word):
    """One thing in a folder; a link is shown and never followed."""

    name: str
    kind: EntryKind
    size: int = 0
    at: float = 0.0


class FolderListing(Word):
    """What is in a folder, folders first; `more` says that it is cut."""

    path: str
    entries: tuple[FolderEntry, ...] = ()
    more: bool = False


class FileText(Word):
    """A file as text, or none when it is not text; `cut` says that there is more of it."""

    path: str
    size: int
    text: str | None = None
    cut: bool = False


class ChangedFile(Word):
    """One file that differs from the last commit: git's letters for the index and for the folder, `?` for unknown."""

    path: str
    index: str = ""
    worktree: str = ""
    was: str = ""


class GitStatus(Word):
    """How the folder stands to its repository."""

    branch: str = ""
    # The last commit; empty before the first.
    head: str = ""
    upstream: str = ""
    ahead: int = 0
    behind: int = 0
    files: tuple[ChangedFile, ...] = ()
    more: bool = False


class GitCommit(Word):
    """One commit."""

    id: str
    title: str
    author: str = ""
    at: float = 0.0


class DiffFile(Word):
    """One file of a diff; lines are counted where it is text."""

    path: str
    # A letter of git: A added, M modified, D deleted, R renamed, T another type.
    how: str
    was: str = ""
    added: int | None = None
    removed: int | None = None


class WorkdirDiff(Word):
    """What changed between two trees, and the patch of it; `cut` says that the patch is not whole."""

    base: str
    head: str
    files: tuple[DiffFile, ...] = ()
    patch: str = ""
    cut: bool = False
    # The turn still runs: its end is the folder as it is now.
    running: bool = False


class Workdirs(Protocol):
    """Looks into workers' folders. Paths are relative to the folder, and stay in it."""

    async def listing(self, worker: Worker, path: str) -> FolderListing:
        """What is in that folder."""
        ...

    async def text(self, worker: Worker, path: str) -> FileText:
        """That file as text."""
        ...

    async def content(self, worker: Worker, path: str) -> bytes:
        """That file, byte for byte."""
        ...

    async def status(self, worker: Worker) -> GitStatus:
        """What git says of the folder."""
        ...

    async def commits(self, worker: Worker, limit: int) -> list[GitCommit]:
        """The newest commits that touch the folder."""
        ...

    async def worktree_diff(self, worker: Worker, path: str) -> WorkdirDiff:
        """What differs from the last commit, new files included; of one path, or all."""
        ...

    async def commits_diff(self, worker: Worker, base: str, head: str, path: str) -> WorkdirDiff:
        """What changed between two commits; without a base, in that commit."""
        ...

    async def turn_diff(self, worker: Worker, turn: TurnId, path: str) -> WorkdirDiff:
        """What changed between the start and the end of a turn."""
        ...

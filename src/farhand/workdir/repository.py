"""Finds the git repository of a folder, and makes git read it through a folder of ours, with a configuration of ours.

A repository's own configuration names programs that git runs (filters, hooks, file monitors, diff drivers), and an
agent can write it. Git is therefore given another repository folder: its configuration is ours, its objects are looked
up in the real one, its references are the real ones."""

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from farhand.disk.atomic import write_private
from farhand.disk.plain_files import read_plain
from farhand.model.errors import GitFailed, NoRepository
from farhand.model.lazy_pattern import lazy_pattern

_LONGEST_FILE = 64 * 1024
_SHA256 = lazy_pattern(r"^\s*objectformat\s*=\s*\"?sha256\"?\s*$", re.IGNORECASE | re.MULTILINE)
_HEAD = lazy_pattern(r"ref: refs/[^\s\x00-\x1f]+|[0-9a-f]{40}|[0-9a-f]{64}")
CONFIG = """\
[core]
	repositoryformatversion = 1
	filemode = true
	bare = false
	symlinks = true
	fsmonitor = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = {exclude}
	quotePath = false
	commitGraph = false
	multiPackIndex = false
[extensions]
	objectFormat = {format}
[gc]
	auto = 0
[protocol]
	allow = never
[submodule]
	recurse = false
[diff]
	renames = true
"""


@dataclass(frozen=True)
class Repository:
    """Where a folder's repository is: the top of its files, its own folder, and the one that worktrees share."""

    top: Path
    git: Path
    shared: Path

    @property
    def index(self) -> Path:
        """The real index; there is none before the first file is added."""
        return self.git / "index"


def find_repository(folder: Path) -> Repository:
    """The repository that the folder belongs to; NoRepository when there is none, or it is somebody else's."""
    try:
        # In plain strings: this runs at the start of every turn.
        top = os.path.realpath(folder, strict=True)
        while True:
            if os.path.lexists(f"{top}/.git"):
                return _repository(Path(top))
            above = os.path.dirname(top)  # noqa: PTH120
            if above == top:
                break
            top = above
    except (OSError, RuntimeError, ValueError) as error:
        raise NoRepository(f"{folder} cannot be read: {error}.", folder=str(folder)) from None
    raise NoRepository(f"{folder} belongs to no git repository; git init there makes one.", folder=str(folder))


def is_in_none(folder: str) -> bool:
    """Whether the folder surely belongs to no repository: the same look with fewer steps, on Linux alone."""
    try:
        opened = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            top = os.readlink(f"/proc/self/fd/{opened}")  # noqa: PTH115
        finally:
            os.close(opened)
    except (OSError, ValueError):
        return False
    while top and not os.path.lexists(f"{top}/.git"):
        top = top.rpartition("/")[0]
    return not top and not os.path.lexists("/.git")


def _repository(top: Path) -> Repository:
    git = top / ".git"
    if not stat.S_ISDIR(git.lstat().st_mode):
        # A worktree, or a submodule: a file that says where.
        _, word, named = read_small(git).partition("gitdir:")
        git = (top / named.strip()).resolve(strict=True) if word else git
    common = git / "commondir"
    shared = (git / read_small(common).strip()).resolve(strict=True) if os.path.lexists(common) else git
    for one in (top, git, shared):
        # It is written into git's configuration and told to people: bytes that are no text end here, as a ValueError.
        str(one).encode()
        about = one.stat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
            raise NoRepository(f"The git repository of {top} is not this user's own.", folder=str(top))
    return Repository(top=top, git=git, shared=shared)


def read_small(path: Path) -> str:
    """The whole file; OSError for one that is too long to be what it says: nobody judges a part of it."""
    return read_plain(path, _LONGEST_FILE, links=False).decode("utf-8", "replace")


def mirror(repository: Repository, ours: Path) -> None:
    """Brings our folder up to date with the repository: its configuration is ours, all else is the repository's.

    Raises NoRepository or GitFailed for whatever an agent has made of it meanwhile."""
    try:
        _mirror(repository, ours)
    except (OSError, ValueError) as error:
        raise GitFailed(f"The git repository cannot be read: {error}.") from None


def _mirror(repository: Repository, ours: Path) -> None:
    (ours / "objects" / "info").mkdir(mode=0o700, parents=True, exist_ok=True)
    (ours / "info").mkdir(mode=0o700, exist_ok=True)
    _link(ours / "refs", repository.shared / "refs")
    _link(ours / "packed-refs", repository.shared / "packed-refs")
    exclude = repository.shared / "info" / "exclude"
    config = CONFIG.format(exclude=_quoted(exclude), format=_object_format(repository))
    _write(ours / "objects" / "info" / "alternates", f"{_line(repository.shared / 'objects')}\n")
    _write(ours / "config", config)
    _write(ours / "HEAD", _head(repository) + "\n")


def _object_format(repository: Repository) -> str:
    try:
        config = read_small(repository.shared / "config")
    except OSError:
        return "sha1"
    return "sha256" if _SHA256.search(config) else "sha1"


def _head(repository: Repository) -> str:
    head = read_small(repository.git / "HEAD").strip()
    if not _HEAD.fullmatch(head) or ".." in head:
        raise NoRepository(f"The git repository of {repository.top} has no HEAD that can be read.")
    return head


def _line(path: Path) -> str:
    """A path that stands on a line of its own."""
    text = str(path)
    if any(character in text for character in '\n\r"'):
        raise NoRepository("The path of the repository has characters that cannot be passed on.")
    return text


def _quoted(path: Path) -> str:
    return '"' + _line(path).replace("\\", "\\\\") + '"'


def _link(at: Path, to: Path) -> None:
    if at.is_symlink() and at.readlink() == to:
        return
    at.unlink(missing_ok=True)
    at.symlink_to(to)


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text("utf-8") != text:
        write_private(path, text)


def environment(repository: Repository, ours: Path, index: Path, path: str) -> dict[str, str]:
    """All that git gets to know: nothing of the node's variables, no settings of the user or the system."""
    return {
        "PATH": path,
        "HOME": str(ours),
        "LC_ALL": "C.UTF-8",
        "GIT_DIR": str(ours),
        "GIT_WORK_TREE": str(repository.top),
        "GIT_INDEX_FILE": str(index),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
    }


def split_z(data: bytes) -> Iterable[str]:
    """The parts of an answer that ends each with a zero byte."""
    return [part.decode("utf-8", "surrogateescape") for part in data.split(b"\0")[:-1]]


def unlock(index: Path) -> None:
    """Removes the lock that git leaves when it is ended. Nobody else uses an index of ours, and we one at a time."""
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)

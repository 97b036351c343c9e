"""Reads what git writes for programs: status, commits, changed files. Pure."""

from collections.abc import Iterator, Sequence

from farhand.model.words import replace
from farhand.model.workdir import ChangedFile, DiffFile, GitCommit, GitStatus

MOST_FILES = 2000
COMMIT_FORMAT = "%H%x00%s%x00%an%x00%at"


def shown(name: str) -> str:
    """A name that JSON can say: bytes that are no UTF-8 are marked."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_status(parts: Sequence[str], inside: str = "") -> GitStatus:
    """`git status --porcelain=v2 --branch -z`; paths are told from that folder of the repository on."""
    head, files = _Head(), []
    waiting = iter(parts)
    for part in waiting:
        if part.startswith("# "):
            head.read(part)
        elif (changed := _changed(part, waiting)) is not None:
            files.append(replace(changed, path=changed.path.removeprefix(inside), was=changed.was.removeprefix(inside)))
    return GitStatus(
        branch=head.branch,
        head=head.commit,
        upstream=head.upstream,
        ahead=head.ahead,
        behind=head.behind,
        files=tuple(files[:MOST_FILES]),
        more=len(files) > MOST_FILES,
    )


class _Head:
    """The lines about the branch."""

    def __init__(self) -> None:
        self.branch = self.commit = self.upstream = ""
        self.ahead = self.behind = 0

    def read(self, line: str) -> None:
        """Takes one of them in."""
        _, key, value = line.split(" ", 2)
        match key:
            case "branch.oid" if value != "(initial)":
                self.commit = value
            case "branch.head" if value != "(detached)":
                self.branch = shown(value)
            case "branch.upstream":
                self.upstream = shown(value)
            case "branch.ab":
                ahead, _, behind = value.partition(" ")
                self.ahead, self.behind = int(ahead), -int(behind)
            case _:
                pass


def _changed(part: str, waiting: Iterator[str]) -> ChangedFile | None:
    match part[:1]:
        case "1":
            letters, path = part[2:4], part.split(" ", 8)[8]
        case "2":
            letters, path = part[2:4], part.split(" ", 9)[9]
            return _file(letters, path, next(waiting, ""))
        case "u":
            letters, path = part[2:4], part.split(" ", 10)[10]
        case "?":
            letters, path = "??", part[2:]
        case _:
            return None
    return _file(letters, path)


def _file(letters: str, path: str, was: str = "") -> ChangedFile:
    index, worktree = (letter.replace(".", "") for letter in letters)
    return ChangedFile(path=shown(path), index=index, worktree=worktree, was=shown(was))


def read_commits(data: bytes) -> list[GitCommit]:
    """`git log -z` in our format."""
    fields = data.decode("utf-8", "replace").split("\0")
    rows = (fields[start : start + 4] for start in range(0, len(fields) - 3, 4))
    return [GitCommit(id=row[0].strip(), title=row[1], author=row[2], at=float(row[3] or 0)) for row in rows]


def read_files(parts: Sequence[str]) -> list[DiffFile]:
    """`git diff-tree --raw --numstat -z`: first what happened to each file, then how many lines. Names are git's own:
    see `told`."""
    how: dict[str, tuple[str, str]] = {}
    counts: dict[str, tuple[int | None, int | None]] = {}
    waiting = iter(parts)
    for part in waiting:
        if part.startswith(":"):
            letter = part.rsplit(" ", 1)[1][:1]
            path = next(waiting, "")
            was, path = (path, next(waiting, "")) if letter in "RC" else ("", path)
            how[path] = (letter, was)
        else:
            added, removed, path = part.split("\t", 2)
            if not path:
                next(waiting, "")
                path = next(waiting, "")
            counts[path] = (_count(added), _count(removed))
    return [
        DiffFile(path=path, how=letter, was=was, added=lines[0], removed=lines[1])
        for path, (letter, was) in how.items()
        for lines in (counts.get(path, (None, None)),)
    ]


def told(file: DiffFile) -> DiffFile:
    """The same with names that JSON can say."""
    return replace(file, path=shown(file.path), was=shown(file.was))


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None

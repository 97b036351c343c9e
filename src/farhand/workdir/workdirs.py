"""Looks into workers' folders for whoever may: files by themselves, all else as git tells it."""

import re
from pathlib import Path

import anyio.to_thread

from farhand.model.errors import BadInput, CannotDo, NotInFolder
from farhand.model.present import Worker
from farhand.model.secret_names import may_hold_secret
from farhand.model.words import TurnId, replace
from farhand.model.workdir import (
    PATCH_BYTES,
    FileText,
    FolderListing,
    GitCommit,
    GitStatus,
    WorkdirDiff,
)
from farhand.workdir import parse
from farhand.workdir.files import list_folder, parts_of, read_content, read_text
from farhand.workdir.git import Git
from farhand.workdir.repository import Repository, find_repository, split_z
from farhand.workdir.snapshots import Snapshots

MOST_COMMITS = 200
# Files whose patch is shown at once: they stand on git's command line.
MOST_NAMED = 1000
_REVISION = re.compile(r"[0-9a-f]{4,64}|HEAD(?:~[0-9]{1,4})?")
_DIFF = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")


class LocalWorkdirs:
    """The folders of this machine's workers; `closed` says why nobody may look into them, if that is so."""

    def __init__(self, snapshots: Snapshots, closed: str = "") -> None:
        self._snapshots = snapshots
        self._closed = closed

    async def listing(self, worker: Worker, path: str) -> FolderListing:
        """What is in that folder."""
        return await anyio.to_thread.run_sync(list_folder, self._root(worker), path)

    async def text(self, worker: Worker, path: str) -> FileText:
        """That file as text."""
        return await anyio.to_thread.run_sync(read_text, self._root(worker), _not_secret(path))

    async def content(self, worker: Worker, path: str) -> bytes:
        """That file, byte for byte."""
        return await anyio.to_thread.run_sync(read_content, self._root(worker), _not_secret(path))

    def _root(self, worker: Worker) -> Path:
        if self._closed:
            raise CannotDo(self._closed)
        return Path(worker.directory)

    # --- git

    async def _git(self, worker: Worker) -> Git:
        repository = await anyio.to_thread.run_sync(find_repository, self._root(worker))
        git = Git(repository, self._snapshots.ours(worker))
        await git.open()
        return git

    async def status(self, worker: Worker) -> GitStatus:
        """What git says of the folder."""
        git = await self._git(worker)
        words = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=all")
        answer = await git.run(*words, "--", ".", cwd=Path(worker.directory))
        inside = _inside(git.repository, Path(worker.directory))
        status = parse.read_status(list(split_z(answer.data)), f"{inside}/" if inside else "")
        return replace(status, more=status.more or answer.cut)

    async def commits(self, worker: Worker, limit: int) -> list[GitCommit]:
        """The newest commits that touch the folder."""
        git = await self._git(worker)
        if not await _has_head(git):
            return []
        most = str(min(max(limit, 1), MOST_COMMITS))
        words = ("log", "-z", "-n", most, f"--format={parse.COMMIT_FORMAT}", "--no-show-signature", "HEAD", "--", ".")
        return parse.read_commits((await git.run(*words, cwd=Path(worker.directory))).data)

    async def worktree_diff(self, worker: Worker, path: str) -> WorkdirDiff:
        """What differs from the last commit, new files included."""
        git = await self._git(worker)
        head = "HEAD" if await _has_head(git) else await _empty_tree(git)
        return await _diff(git, worker, head, await self._snapshots.take(worker, git.repository), path)

    async def commits_diff(self, worker: Worker, base: str, head: str, path: str) -> WorkdirDiff:
        """What changed between two commits; without a base, in that commit."""
        for one in filter(None, (base, head)):
            if not _REVISION.fullmatch(one):
                raise BadInput("A commit is named by its id, or HEAD~1.", commit=one[:80])
        git = await self._git(worker)
        return await _diff(git, worker, base or await _parent(git, head), head, path)

    async def turn_diff(self, worker: Worker, turn: TurnId, path: str) -> WorkdirDiff:
        """What changed between the start and the end of a turn."""
        git = await self._git(worker)
        start, end = await anyio.to_thread.run_sync(self._snapshots.of_turn, worker, turn)
        if not start:
            raise NotInFolder("Nobody looked at the folder when that turn started.", turn=turn)
        running = not end and worker.turn is not None and worker.turn.id == turn
        if not end and not running:
            raise NotInFolder("Nobody looked at the folder when that turn ended.", turn=turn)
        tree = end or await self._snapshots.take(worker, git.repository)
        return replace(await _diff(git, worker, start, tree, path), running=running)


def _not_secret(path: str) -> str:
    if may_hold_secret(path) or any(may_hold_secret(part) for part in parts_of(path)):
        raise NotInFolder(f"{path} is not shown: it may hold a secret.", path=path)
    return path


async def _has_head(git: Git) -> bool:
    answer = await git.run("for-each-ref", "--count=1", "--format=%(objectname)")
    named = await git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}") if answer.data else None
    return named is not None and bool(named.data.strip())


async def _empty_tree(git: Git) -> str:
    return (await git.run("mktree", stdin=b"")).data.decode().strip()


async def _parent(git: Git, commit: str) -> str:
    listed = await git.run("rev-list", "--parents", "-n", "1", commit, "--")
    parents = listed.data.decode().split()[1:]
    return parents[0] if parents else await _empty_tree(git)


async def _diff(git: Git, worker: Worker, base: str, head: str, path: str) -> WorkdirDiff:
    """The changed files, and the patch of them or of that path alone."""
    where = Path(worker.directory)
    wanted = "/".join(parts_of(path)) or "."
    relative = ("--relative",) if _inside(git.repository, where) else ()
    words = ("diff-tree", *_DIFF, *relative, base, head, "--")
    listed = await git.run(*words[:1], "--raw", "--numstat", "-z", *words[1:], ".", cwd=where)
    files = [one for one in parse.read_files(list(split_z(listed.data))) if not may_hold_secret(one.path)]
    shown = [one.path for one in files if wanted == "." or one.path == wanted or one.path.startswith(f"{wanted}/")]
    if not shown:
        return WorkdirDiff(base=base, head=head, files=tuple(files))
    named = sorted({*shown, *(one.was for one in files if one.was and one.path in shown)})
    patch = await git.run(*words[:1], "-p", *words[1:], *named[:MOST_NAMED], most=PATCH_BYTES, cwd=where)
    text, cut = patch.data.decode("utf-8", "replace"), patch.cut or len(named) > MOST_NAMED
    return WorkdirDiff(base=base, head=head, files=tuple(files[: parse.MOST_FILES]), patch=text, cut=cut)


def _inside(repository: Repository, where: Path) -> str:
    """Where the worker's folder lies in its repository; empty for the top of it."""
    inside = where.resolve().relative_to(repository.top).as_posix()
    return "" if inside == "." else inside

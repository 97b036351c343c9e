"""Looks into workers' folders for whoever may: files by themselves, all else as git tells it."""

from functools import partial
from pathlib import Path, PurePosixPath

import anyio.to_thread

from farhand.model.errors import BadInput, CannotDo, NotInFolder
from farhand.model.lazy_pattern import lazy_pattern
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
from farhand.workdir.files import is_private, list_folder, parts_of, read_content, read_text
from farhand.workdir.git import ANSWER_BYTES, Git, GitAnswer
from farhand.workdir.repository import Repository, split_z
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.verified_objects import verified_difference

OTHERS_FOLDERS = "The agents of this node run as another user, whose folders it does not look into."
MOST_COMMITS = 200
# Files whose patch is shown at once: they stand on git's command line.
MOST_NAMED = 1000
_REVISION = lazy_pattern(r"[0-9a-f]{4,64}|HEAD(?:~[0-9]{1,4})?")
_DIFF = ("-M", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")


class LocalWorkdirs:
    """The folders of this machine's workers; `closed` says why nobody may look into them, if that is so."""

    def __init__(self, snapshots: Snapshots, closed: str = "") -> None:
        self._snapshots = snapshots
        self._closed = closed

    async def listing(self, worker: Worker, path: str) -> FolderListing:
        """What is in that folder."""
        return await anyio.to_thread.run_sync(list_folder, self._root(worker), self._not_the_nodes(worker, path))

    async def text(self, worker: Worker, path: str) -> FileText:
        """That file as text."""
        return await anyio.to_thread.run_sync(read_text, self._root(worker), self._not_secret(worker, path))

    async def content(self, worker: Worker, path: str) -> bytes:
        """That file, byte for byte."""
        return await anyio.to_thread.run_sync(read_content, self._root(worker), self._not_secret(worker, path))

    def _root(self, worker: Worker) -> Path:
        if self._closed:
            raise CannotDo(self._closed)
        return Path(worker.directory)

    def _not_secret(self, worker: Worker, path: str) -> str:
        if may_hold_secret(path) or any(may_hold_secret(part) for part in parts_of(path)):
            raise NotInFolder(f"{path} is not shown: it may hold a secret.", path=path)
        return self._not_the_nodes(worker, path)

    def _not_the_nodes(self, worker: Worker, path: str) -> str:
        if is_private(Path(worker.directory), "/".join(parts_of(path)), self._snapshots.private):
            raise NotInFolder(f"{path or '.'} is not shown: it is the node's own.", path=path)
        return path

    # --- git

    async def _git(self, worker: Worker) -> Git:
        self._root(worker)
        repository = await self._snapshots.repository(worker)
        git = Git(repository, self._snapshots.ours(worker))
        await git.open()
        return git

    async def status(self, worker: Worker) -> GitStatus:
        """What git says of the folder."""
        git = await self._git(worker)
        words = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=all")
        answer = await git.run(*words, "--", ".", cwd=Path(worker.directory))
        inside = inside_of(git.repository, Path(worker.directory))
        status = parse.read_status(list(split_z(answer.data)), f"{inside}/" if inside else "")
        return replace(status, more=status.more or answer.cut)

    async def commits(self, worker: Worker, limit: int) -> list[GitCommit]:
        """The newest commits that touch the folder."""
        git = await self._git(worker)
        if not await has_head(git):
            return []
        most = str(min(max(limit, 1), MOST_COMMITS))
        words = ("log", "-z", "-n", most, f"--format={parse.COMMIT_FORMAT}", "--no-show-signature", "HEAD", "--", ".")
        return parse.read_commits((await git.run(*words, cwd=Path(worker.directory))).data)

    async def worktree_diff(self, worker: Worker, path: str) -> WorkdirDiff:
        """What differs from the last commit, new files included."""
        git = await self._git(worker)
        head = "HEAD" if await has_head(git) else await empty_tree(git)
        return await diff_trees(git, worker, head, await self._snapshots.take(worker, git.repository), path)

    async def commits_diff(self, worker: Worker, base: str, head: str, path: str) -> WorkdirDiff:
        """What changed between two commits; without a base, in that commit."""
        for one in filter(None, (base, head)):
            if not _REVISION.fullmatch(one):
                raise BadInput("A commit is named by its id, or HEAD~1.", commit=one[:80])
        git = await self._git(worker)
        return await diff_trees(git, worker, base or await parent_of(git, head), head, path)

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
        return replace(await diff_trees(git, worker, start, tree, path), running=running)


async def has_head(git: Git) -> bool:
    """Whether there is a commit."""
    answer = await git.run("for-each-ref", "--count=1", "--format=%(objectname)")
    named = await git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}") if answer.data else None
    return named is not None and bool(named.data.strip())


async def empty_tree(git: Git) -> str:
    """The tree that has nothing in it."""
    return (await git.run("mktree", stdin=b"")).data.decode().strip()


async def parent_of(git: Git, commit: str) -> str:
    """The first parent of a commit; the empty tree for the first one."""
    listed = await git.run("rev-list", "--parents", "-n", "1", commit, "--")
    parents = listed.data.decode().split()[1:]
    return parents[0] if parents else await empty_tree(git)


async def diff_trees(git: Git, worker: Worker, base: str, head: str, path: str) -> WorkdirDiff:
    """The changed files, and the patch of them or of that path alone."""
    async with verified_difference(git, base, head) as (verified, before, after):
        shown = (await shown_diff(verified, worker, before, after, path))[0]
    return replace(shown, base=base, head=head)


async def shown_diff(git: Git, worker: Worker, base: str, head: str, path: str) -> tuple[WorkdirDiff, frozenset[str]]:
    """The same, and the files that the patch has: as git names them, from the top of the repository."""
    inside = inside_of(git.repository, Path(worker.directory))
    prefix = f"{inside}/" if inside else ""
    wanted = "/".join(parts_of(path)) or "."
    words = (*_DIFF, *((f"--relative={prefix}",) if inside else ()), base, head, "--")
    listed = await compare(git, "--raw", "--numstat", "-z", *words)
    changed = parse.read_files(list(split_z(listed.data)))
    files = [one for one in changed if not may_hold_secret(one.path)]
    told = tuple(parse.told(one) for one in files[: parse.MOST_FILES])
    # A name stands for all that is below it, where it is a file on one side and a folder on the other; and of a file
    # that had another name before, git shows what was in it then.
    above = {str(folder) for one in changed if may_hold_secret(one.path) for folder in PurePosixPath(one.path).parents}
    open_ones = [one for one in files if not ({one.path, one.was} & above or (one.was and may_hold_secret(one.was)))]
    shown = [one for one in open_ones if wanted == "." or f"{parse.shown(one.path)}/".startswith(f"{wanted}/")]
    if not shown:
        return WorkdirDiff(base=base, head=head, files=told), frozenset()
    named = sorted({f"{prefix}{name}" for one in shown for name in (one.path, one.was) if name})
    given = named[:MOST_NAMED]
    escapes = any(parse.shown(name) != name for name in given)
    patch = await compare(git, "-p", *words, *given, most=PATCH_BYTES, escapes=escapes)
    text, cut = patch.data.decode("utf-8", "replace"), patch.cut or len(named) > MOST_NAMED
    return WorkdirDiff(base=base, head=head, files=told, patch=text, cut=cut), frozenset(given)


async def compare(git: Git, *words: str, most: int = ANSWER_BYTES, escapes: bool = False) -> GitAnswer:
    """What `git diff-tree -r` says in a folder without files and without an index: in the worker's own, attributes say
    what is text, and an agent can write them. `escapes` writes names in ASCII."""
    nowhere = git.ours / "nowhere"
    await anyio.to_thread.run_sync(partial(nowhere.mkdir, mode=0o700, parents=True, exist_ok=True))
    variables = {"GIT_WORK_TREE": str(nowhere)}
    if escapes:
        variables |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.quotePath", "GIT_CONFIG_VALUE_0": "true"}
    given = ("diff-tree", "-r", *words)
    return await git.run(*given, index=nowhere / "index", most=most, cwd=nowhere, variables=variables)


def inside_of(repository: Repository, where: Path) -> str:
    """Where the worker's folder lies in its repository; empty for the top of it."""
    inside = where.resolve().relative_to(repository.top).as_posix()
    return "" if inside == "." else inside

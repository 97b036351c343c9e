"""What a review does in a worker's folder: captures what is judged, and commits exactly that.

Git runs with a configuration of ours throughout: nothing of the repository's is run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

import anyio.to_thread

from farhand.model.errors import BadInput, CannotDo, GitFailed, NoRepository, NotInFolder
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.present import Worker
from farhand.model.review import Captured, FolderNow, ReviewBinding, ReviewScope, ReviewState
from farhand.workdir.git import Git, together
from farhand.workdir.plain_config import why_not_plain
from farhand.workdir.repository import split_z
from farhand.workdir.review_copies import ReviewCopies
from farhand.workdir.reviewed_commit import ReviewedCommit
from farhand.workdir.snapshots import Snapshots
from farhand.workdir.verified_objects import FORGED, VerifiedObjects, verified_objects
from farhand.workdir.workdirs import compare, empty_tree, has_head, parent_of, shown_diff

NO_REPOSITORY = "The folder belongs to no git repository, so there is no change that could be judged."
TOO_LARGE = "The change is too large to be judged: nobody would see all of it."
CONFINED = "Not merged: this worker is in a sandbox, and git would read what it wrote outside of it."
KEPT_BACK = (
    "Changed as well, and not shown here (a submodule, a file that may hold a secret, or one outside of the worker's "
    "folder): {path}"
)
_NAMES = ("-z", "--name-only", "--no-renames", "--ignore-submodules=none")
_OBJECT = lazy_pattern(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REVISION = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._/~^-]{0,200}")


class LocalReviewTools:
    """Reads workers' folders through snapshots; `refusal` says why it may not for a worker, and for one that is
    `confined` nothing is committed from outside."""

    def __init__(
        self,
        snapshots: Snapshots,
        folder: Path,
        environment: Mapping[str, str],
        refusal: Callable[[Worker], str] = lambda _: "",
        confined: Callable[[Worker], bool] = lambda _: False,
    ) -> None:
        self._confined = confined
        self._snapshots = snapshots
        self._environment = environment
        self._refusal = refusal
        self._copies = ReviewCopies(folder)

    async def prepare(self, worker: Worker, asked: ReviewState, answer: str) -> tuple[Captured, str]:
        """What is to be judged, and a folder for the reviewers with the files that changed. Raises an error of our tree
        when there is nothing that could be judged."""
        if refusal := self._refusal(worker):
            raise CannotDo(refusal)
        try:
            git = await self._git(worker)
        except NoRepository:
            if asked.scope is not ReviewScope.ANSWER:
                raise CannotDo(NO_REPOSITORY) from None
            return Captured(data=answer), await self._copies.empty(asked.id, answer)
        binding = await self._binding(worker, git, asked)

        async def capture() -> Captured:
            if asked.scope is ReviewScope.ANSWER:
                return Captured(binding=binding, data=answer)
            return await _captured(store.git, worker, binding)

        async with verified_objects(git) as store:
            await _take(store, binding, asked.scope)
            copy = partial(self._copies.begin, asked.id, store.git, Path(worker.directory), binding)
            captured, directory = await together(capture, copy)
        await self._copies.keep_text(directory, captured.data)
        return captured, directory

    async def finish(self, worker: Worker, asked: ReviewState) -> None:
        """Completes the reviewers' folder with all that did not change."""
        if asked.binding is not None and asked.binding.tree:
            await self._copies.finish(asked.id, await self._git(worker), asked.binding)

    async def bind(self, worker: Worker, asked: ReviewState) -> ReviewBinding:
        """What a verdict on that would be bound to now."""
        return await self._binding(worker, await self._git(worker), asked)

    async def _binding(self, worker: Worker, git: Git, asked: ReviewState) -> ReviewBinding:
        now = await self._now(worker, git)
        match asked.scope:
            case ReviewScope.ANSWER:
                return ReviewBinding(base=now.head, head=now.head, tree=now.tree)
            case ReviewScope.COMMITS:
                head = await _commit(git, asked.head or "HEAD")
                base = await _commit(git, asked.base) if asked.base else await parent_of(git, head)
                return ReviewBinding(base=base, head=head, tree=await _tree(git, head))
            case ReviewScope.TURN:
                start, end = await anyio.to_thread.run_sync(self._snapshots.of_turn, worker, asked.turn)
                if not start or not end:
                    raise NotInFolder("Nobody looked at the folder when that turn started or ended.", turn=asked.turn)
                return ReviewBinding(base=start, head=now.head, tree=end)
            case ReviewScope.TREE:
                base = asked.base or now.head or await empty_tree(git)
                if not _OBJECT.fullmatch(base):
                    base = await _commit(git, base)
                return ReviewBinding(base=base, head=now.head, tree=now.tree)

    async def now(self, worker: Worker) -> FolderNow:
        """How the folder stands; all of it is empty where there is no repository."""
        if self._refusal(worker):
            return FolderNow()
        try:
            return await self._now(worker, await self._git(worker))
        except (NoRepository, GitFailed, OSError):
            return FolderNow()

    async def commit(self, worker: Worker, binding: ReviewBinding, subject: str, trailer: str) -> tuple[str, str]:
        """Commits the tree that was judged, and nothing else: the commit's id, or why there is none."""
        if refusal := self._refusal(worker):
            return "", refusal
        if self._confined(worker):
            return "", ""
        try:
            if problem := await anyio.to_thread.run_sync(why_not_plain, Path(worker.directory)):
                return "", problem
            return await ReviewedCommit(await self._git(worker), self._environment).make(binding, subject, trailer)
        except (NoRepository, GitFailed) as error:
            return "", error.text

    async def tip(self, worker: Worker, branch: str) -> str:
        """The commit that the branch is at; Refused when there is no such branch."""
        if refusal := self._refusal(worker):
            raise CannotDo(refusal)
        try:
            return await _commit(await self._git(worker), f"refs/heads/{branch}")
        except GitFailed:
            raise CannotDo(f"There is no branch {branch[:80]}.") from None

    async def fast_forward(self, worker: Worker, branch: str, before: str, after: str) -> None:
        """Moves the branch from the one commit to the other, which must follow it: in the repository itself, by its own
        configuration."""
        if self._confined(worker):
            raise CannotDo(CONFINED)
        if problem := await anyio.to_thread.run_sync(why_not_plain, Path(worker.directory)):
            raise CannotDo(problem.replace("Not committed", "Not merged", 1).replace("commit by", "merge by", 1))
        git = await self._git(worker)
        try:
            await git.run("merge-base", "--is-ancestor", before, after)
        except GitFailed:
            raise CannotDo(
                f"Not merged: {branch} has commits of its own. Rebase on it, and have that judged."
            ) from None
        if not await ReviewedCommit(git, self._environment).move(branch, before, after):
            raise CannotDo(f"Not merged: {branch} is checked out somewhere, or was moved meanwhile.")

    async def keep_only(self, reviews: Collection[str]) -> None:
        """Removes the copies of all other reviews."""
        await self._copies.keep_only(reviews)

    async def _git(self, worker: Worker) -> Git:
        repository = await self._snapshots.repository(worker)
        git = Git(repository, self._snapshots.ours(worker))
        await git.open()
        return git

    async def _now(self, worker: Worker, git: Git) -> FolderNow:
        """The commit and the files may be of two moments; a gate opens only when both are again what was judged."""
        tree = await self._snapshots.take(worker, git.repository, exact=True)
        await git.open()
        if not await has_head(git):
            return FolderNow(tree=tree)
        async with verified_objects(git) as store:
            head = await store.find("HEAD")
        return FolderNow(head=head.name, head_tree=head.line("tree"), parent=" ".join(head.lines("parent")), tree=tree)


async def _take(store: VerifiedObjects, binding: ReviewBinding, scope: ReviewScope) -> None:
    """All that is judged, by what its name says. What is said of commits is bound to the last of them."""
    if scope is ReviewScope.COMMITS and await store.tree_of(binding.head) != binding.tree:
        raise GitFailed(FORGED.format(name=binding.head))
    await store.take_difference(await store.tree_of(binding.base or binding.tree), binding.tree)
    await store.take_folders(binding.tree)


async def _captured(git: Git, worker: Worker, binding: ReviewBinding) -> Captured:
    (diff, shown), listed = await together(
        partial(shown_diff, git, worker, binding.base, binding.tree, ""),
        partial(compare, git, *_NAMES, binding.base, binding.tree, "--"),
    )
    if diff.cut or listed.cut:
        raise CannotDo(TOO_LARGE)
    kept_back = [name for name in split_z(listed.data) if name not in shown]
    if not diff.files and not kept_back:
        raise CannotDo("There is no change that could be judged.")
    told = "".join(f"{KEPT_BACK.format(path=ascii(path))}\n" for path in kept_back)
    return Captured(
        binding=binding,
        data=told + diff.patch,
        files=len(diff.files) + len(kept_back),
        added=sum(one.added or 0 for one in diff.files),
        removed=sum(one.removed or 0 for one in diff.files),
    )


async def _commit(git: Git, named: str) -> str:
    if not _REVISION.fullmatch(named) or ".." in named:
        raise BadInput("A commit is named by its id, a branch, or HEAD~1.", commit=named[:80])
    answer = await git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")
    return answer.data.decode().strip()


async def _tree(git: Git, commit: str) -> str:
    return (await git.run("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}")).data.decode().strip()

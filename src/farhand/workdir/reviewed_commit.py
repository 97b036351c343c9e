"""Commits a tree that was judged, on the commit that it was judged on: what else is in the folder stays out of it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import anyio

from farhand.model.errors import GitFailed
from farhand.model.review import CHANGED_SINCE, MOVED_ON, ReviewBinding
from farhand.workdir.git import SYSTEM_PATH, Git
from farhand.workdir.process_group import running_git
from farhand.workdir.repository import unlock
from farhand.workdir.sprint_tools import RUNS_NOTHING, SUBJECT_CHARACTERS

_INDEX = "reviewed-index"
_SECONDS = 60.0


class ReviewedCommit:
    """Makes commits in one repository."""

    def __init__(self, git: Git, environment: Mapping[str, str]) -> None:
        self._git = git
        self._environment = {**environment, "PATH": SYSTEM_PATH, "GIT_TERMINAL_PROMPT": "0"}
        self._environment["GIT_NO_REPLACE_OBJECTS"] = "1"

    async def make(self, binding: ReviewBinding, subject: str, trailer: str) -> tuple[str, str]:
        """The commit's id, or why there is none; both are empty when nothing was changed."""
        head = await self._last()
        if head != binding.head:
            return await self._made_before(head, binding, trailer)
        before = await self._tree_of(head) if head else await self._empty_tree()
        if before == binding.tree:
            return "", ""
        if await self._written(before, binding.tree) != binding.tree:
            return "", CHANGED_SINCE
        title = " ".join(subject.split())[:SUBJECT_CHARACTERS]
        parent = ("-p", head) if head else ()
        words = ("commit-tree", binding.tree, *parent, "-m", title, "-m", trailer)
        made = (await self._git.run(*words, variables={**self._real_objects(), **await self._author()})).data
        commit = made.decode().strip()
        # Only from the commit that was judged: whoever commits meanwhile wins, and this is judged anew.
        if not await self._real("update-ref", "-m", f"commit: {title}", "HEAD", commit, head or "0" * len(commit)):
            return "", MOVED_ON
        await self._real("read-tree", commit)
        return commit, ""

    async def move(self, branch: str, before: str, after: str) -> bool:
        """Moves a branch, unless somebody has it checked out or it is no longer where it was."""
        listed = await self._run_real("worktree", "list", "--porcelain")
        if listed is None or f"branch refs/heads/{branch}" in listed.splitlines():
            return False
        return await self._real("update-ref", "-m", "farhand: merged", f"refs/heads/{branch}", after, before)

    async def _made_before(self, head: str, binding: ReviewBinding, trailer: str) -> tuple[str, str]:
        """The commit that a killed node had made already."""
        told = (await self._git.run("log", "-1", "--format=%T%n%P%n%B", head, "--")).data.decode("utf-8", "replace")
        tree, parent, *body = told.splitlines()
        made = tree == binding.tree and parent == binding.head and trailer in body
        return (head, "") if made else ("", MOVED_ON)

    async def _written(self, before: str, tree: str) -> str:
        """The tree that the changed files of the folder make, its objects written to the repository itself."""
        index = self._git.ours / _INDEX
        listed = await self._git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, tree, "--")
        variables = self._real_objects()
        unlock(index)
        await self._git.run("read-tree", before, index=index, variables=variables)
        words = ("update-index", "-z", "--add", "--remove", "--stdin")
        await self._git.run(*words, index=index, stdin=listed.data, variables=variables)
        return (await self._git.run("write-tree", index=index, variables=variables)).data.decode().strip()

    def _real_objects(self) -> dict[str, str]:
        return {"GIT_OBJECT_DIRECTORY": str(self._git.repository.shared / "objects")}

    async def _last(self) -> str:
        await self._git.open()
        try:
            return (await self._git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")).data.decode().strip()
        except GitFailed:
            return ""

    async def _tree_of(self, commit: str) -> str:
        return (await self._git.run("rev-parse", f"{commit}^{{tree}}")).data.decode().strip()

    async def _empty_tree(self) -> str:
        return (await self._git.run("mktree", stdin=b"", variables=self._real_objects())).data.decode().strip()

    async def _author(self) -> dict[str, str]:
        """Whoever commits in that repository otherwise."""
        name = await self._setting("user.name") or "Farhand"
        email = await self._setting("user.email") or "farhand@localhost"
        who = {"NAME": name, "EMAIL": email}
        return {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in who.items()}

    async def _setting(self, key: str) -> str:
        return await self._run_real("config", "--get", key) or ""

    async def _real(self, *words: str) -> bool:
        return await self._run_real(*words) is not None

    async def _run_real(self, *words: str) -> str | None:
        """Git in the repository itself, for what changes its references: it runs no hook and no filter for that."""
        top, printed = str(self._git.repository.top), bytearray()
        with anyio.fail_after(_SECONDS):
            async with running_git([*RUNS_NOTHING, *words], top, self._environment, subprocess.DEVNULL) as process:
                if process.stdout is not None:
                    async for piece in process.stdout:
                        printed += piece
                code = await process.wait()
        return printed.decode("utf-8", "replace").strip() if code == 0 else None

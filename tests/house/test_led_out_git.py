"""A repository of a worker in a sandbox shows nothing of another one: not by a link, nor by objects from elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.house.workdir_client import git, repository

from farhand.model.errors import NoRepository
from farhand.model.present import Worker
from farhand.workdir.git import Git
from farhand.workdir.snapshots import Snapshots

pytestmark = pytest.mark.anyio
SECRET = "what nobody inside may see"


class Machine:
    """A repository of somebody's outside, and one of a worker's in what its sandbox shows."""

    def __init__(self, folder: Path) -> None:
        self.other, self.mine = repository(folder / "other"), repository(folder / "seen" / "mine")
        (self.other / "secret.txt").write_text(SECRET)
        git(self.other, "add", "-A")
        git(self.other, "commit", "-qm", "a secret")
        self.worker = Worker(name="ann", backend="demo", directory=str(self.mine), since=0)
        seen = [str(folder / "seen")]
        self.taking = Snapshots(folder / "s", {"ann": self.worker}.get, folder / "node", lambda _: seen)
        self.theirs, self.own = self.other / ".git", self.mine / ".git"

    async def shows(self) -> str:
        """What the node finds in the worker's repository."""
        found = Git(await self.taking.repository(self.worker), self.taking.ours(self.worker))
        await found.open()
        return (await found.run("log", "--all", "-p")).data.decode()

    def exchange(self, name: str) -> None:
        """Puts a link to the other repository's in the place of the own one."""
        (self.own / name).parent.mkdir(exist_ok=True)
        if (self.own / name).is_dir():
            shutil.rmtree(self.own / name)
        (self.own / name).unlink(missing_ok=True)
        (self.own / name).symlink_to(self.theirs / name)

    def link_objects(self) -> None:
        """Links to single objects of the other one, with a reference to its last commit."""
        for one in (self.theirs / "objects").glob("??/*"):
            here = self.own / "objects" / one.parent.name / one.name
            here.parent.mkdir(exist_ok=True)
            if not here.exists():
                here.symlink_to(one)
        self.name_commit()

    def link_folders(self) -> None:
        """Links to the folders of its objects."""
        for one in (self.theirs / "objects").glob("??"):
            if not (self.own / "objects" / one.name).exists():
                (self.own / "objects" / one.name).symlink_to(one)
        self.name_commit()

    def name_alternates(self, line: str = "{objects}") -> None:
        """A list of further folders of objects that names the other one's."""
        (self.own / "objects" / "info").mkdir(exist_ok=True)
        text = line.format(objects=self.theirs / "objects")
        (self.own / "objects" / "info" / "alternates").write_text(f"# mine\n{text}\n")
        self.name_commit()

    def name_by_another(self) -> None:
        """The same by way of a third repository, which is seen."""
        third = repository(self.mine.parent / "third")
        (third / ".git/objects/info").mkdir(exist_ok=True)
        (third / ".git/objects/info/alternates").write_text(f"{self.theirs / 'objects'}\n")
        self.name_alternates(f"{third / '.git' / 'objects'}")

    def name_commit(self) -> None:
        """An own branch that is the other one's last commit."""
        (self.own / "refs/heads/shown").write_text(git(self.other, "rev-parse", "HEAD"))


WAYS: dict[str, Callable[[Machine], None]] = {
    "all objects": lambda machine: machine.exchange("objects"),
    "single objects": Machine.link_objects,
    "folders of objects": Machine.link_folders,
    "further objects": Machine.name_alternates,
    "further objects by a relative path": lambda machine: machine.name_alternates("../../../../other/.git/objects"),
    "further objects in quotes": lambda machine: machine.name_alternates('"{objects}"'),
    "further objects of another one": Machine.name_by_another,
    "references": lambda machine: machine.exchange("refs"),
    "a branch": lambda machine: machine.exchange("refs/heads/main"),
    "packed references": lambda machine: machine.exchange("packed-refs"),
    "the index": lambda machine: machine.exchange("index"),
    "what is ignored": lambda machine: machine.exchange("info/exclude"),
}


@pytest.mark.parametrize("how", WAYS)
async def test_nothing_leads_to_another_repository(tmp_path: Path, how: str) -> None:
    machine = Machine(tmp_path)
    assert SECRET not in await machine.shows()
    WAYS[how](machine)
    with pytest.raises(NoRepository, match="outside of its sandbox"):
        await machine.shows()


async def test_what_stays_inside_is_shown(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    third = repository(machine.mine.parent / "third")
    (machine.own / "refs/heads/linked").symlink_to(
        machine.own / "refs/heads" / git(machine.mine, "branch", "--show-current").strip()
    )
    machine.name_alternates(str(third / ".git" / "objects"))
    (machine.own / "refs/heads/shown").write_text(git(third, "rev-parse", "HEAD"))
    assert "commit" in await machine.shows()
    # A worktree of it, too.
    git(machine.mine, "worktree", "add", "-q", str(machine.mine.parent / "second"))
    machine.worker = Worker(name="ann", backend="demo", directory=str(machine.mine.parent / "second"), since=0)
    assert "commit" in await machine.shows()

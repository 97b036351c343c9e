"""A sandbox begins where the last one was: an agent that moves folders about gets no others with its next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.model.errors import DriverError
from farhand.model.present import Worker
from farhand.model.sandbox import Mount
from farhand.sandbox.known_places import KnownPlaces


class Machine:
    """A home with the node's folder, a project in a folder that is mounted, and something that is not."""

    def __init__(self, folder: Path) -> None:
        self.home, self.secret = folder / "home", folder / "secret"
        self.nodes, self.project = self.home / ".claude" / "telegram", self.home / "code" / "team" / "shop"
        self.records = self.nodes / "sandboxes"
        for one in (self.secret, self.nodes, self.project):
            one.mkdir(parents=True)

    def places(self) -> KnownPlaces:
        code = str(self.home / "code" / "team")
        return KnownPlaces(self.records, str(self.nodes), str(self.home), [Mount(source=code, target=code)])

    def worker(self, directory: Path | None = None) -> Worker:
        return Worker(name="ann", since=1, backend="claude", directory=str(directory or self.project))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def everybody(_: str) -> bool:
    return True


def test_a_folder_that_is_where_it_was_is_used_in_every_life_of_the_node(machine: Machine) -> None:
    for _ in range(2):
        assert machine.places().checked(machine.worker(), everybody) == str(machine.project)


def test_a_link_in_the_place_of_the_folder_is_refused(machine: Machine) -> None:
    machine.places().checked(machine.worker(), everybody)
    machine.project.rename(machine.project.with_name("old"))
    machine.project.symlink_to(machine.secret)
    with pytest.raises(DriverError, match=r"leads to .*secret now"):
        machine.places().checked(machine.worker(), everybody)


def test_a_mount_that_leads_elsewhere_is_refused(machine: Machine) -> None:
    places, team = machine.places(), machine.project.parent
    places.checked(machine.worker(), everybody)
    team.rename(team.with_name("old"))
    team.symlink_to(machine.secret)
    with pytest.raises(DriverError, match="leads to"):
        places.checked(machine.worker(machine.secret), everybody)


def test_without_the_nodes_own_folder_in_its_place_nobody_starts(machine: Machine) -> None:
    places = machine.places()
    above = machine.nodes.parent
    above.rename(above.with_name(".moved"))
    machine.nodes.mkdir(parents=True)
    with pytest.raises(DriverError, match="not where it was"):
        places.checked(machine.worker(), everybody)


def test_no_folder_above_the_home_is_mounted(machine: Machine) -> None:
    for above in (machine.home.parent, Path("/")):
        with pytest.raises(DriverError, match="above the home"):
            machine.places().checked(machine.worker(above), everybody)
    assert machine.places().checked(machine.worker(machine.home), everybody) == str(machine.home)


def test_what_was_kept_for_others_goes(machine: Machine) -> None:
    places, bob = machine.places(), Worker(name="bob", since=2, backend="claude", directory=str(machine.home))
    places.checked(machine.worker(), everybody)
    places.checked(bob, lambda hiring: hiring == bob.hiring_id)
    assert places.directory(machine.worker()) == ""
    assert places.directory(bob) == str(machine.home)

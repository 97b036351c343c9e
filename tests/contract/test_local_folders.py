"""The quick look for a repository says the same as the whole one, and is for disks of this machine alone."""

from pathlib import Path

import pytest

from farhand.disk.local_disks import is_local
from farhand.model.errors import NoRepository
from farhand.workdir.repository import find_repository, is_in_none


def _has_none(folder: Path) -> bool:
    try:
        find_repository(folder)
    except NoRepository:
        return True
    return False


def test_the_quick_look_agrees_with_the_whole_one(tmp_path: Path) -> None:
    (tmp_path / "plain" / "below").mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "into").symlink_to(tmp_path / "repository" / "src" / "deep")
    (tmp_path / "repository" / "out").symlink_to(tmp_path / "plain" / "below")
    folders = [
        tmp_path / "plain",
        tmp_path / "plain" / "below",
        tmp_path / "repository",
        tmp_path / "repository" / "src" / "deep",
        tmp_path / "into",
        tmp_path / "repository" / "out",
    ]
    said = [is_in_none(str(folder)) for folder in folders]
    assert said == [_has_none(folder) for folder in folders] == [True, True, False, False, False, True]


def test_a_repository_that_was_just_made_is_seen(tmp_path: Path) -> None:
    assert is_in_none(str(tmp_path))
    (tmp_path / ".git").mkdir()
    assert not is_in_none(str(tmp_path))


@pytest.mark.parametrize("name", ["missing", "file", "missing\0"])
def test_where_the_quick_look_cannot_tell_it_leaves_it_to_the_whole_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert not is_in_none(str(tmp_path / name))


def test_folders_of_this_machines_disks_are_known(tmp_path: Path) -> None:
    # Of a kind that no disk has, and one that is not there: in doubt it is none.
    assert not is_local(Path("/proc/self"))
    assert not is_local(tmp_path / "missing")
    (tmp_path / "odd").symlink_to("/proc")
    assert not is_local(tmp_path / "odd" / "self")

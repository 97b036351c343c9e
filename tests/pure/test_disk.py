"""Files are written whole or not at all, for their owner alone, and lines are appended likewise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from farhand.disk.atomic import append, replace_file, write_private
from farhand.testing.full_disk import full_disk


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o277, 0o777])
@pytest.mark.parametrize("sync", [False, True])
def test_only_the_owner_reads_it_under_any_umask(tmp_path: Path, mask: int, sync: bool) -> None:
    path = tmp_path / "file"
    with umask(mask):
        write_private(path, "text ü", sync=sync)
    assert path.read_text("utf-8") == "text ü"
    assert path.stat().st_mode & 0o7777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    write_private(tmp_path / "one" / "file", b"x")
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o700


def test_a_file_that_anybody_could_read_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_private(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"theirs")
    link.symlink_to(target)
    write_private(link, b"ours")
    assert target.read_bytes() == b"theirs"
    assert not link.is_symlink()
    assert link.read_bytes() == b"ours"


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, b"old")
    with full_disk(100), pytest.raises(OSError, match="File too large"):
        write_private(path, b"x" * 1000, sync=True)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_another_mode_is_had_exactly_and_a_long_name_fits(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)
    with umask(0o077):
        replace_file(path, b"program", mode=0o755)
    assert path.stat().st_mode & 0o7777 == 0o755


def test_lines_are_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lines"
    assert append(path, b"one\n", sync=True) == 4
    assert path.stat().st_mode & 0o777 == 0o600
    with full_disk(10), pytest.raises(OSError, match="File too large"):
        append(path, b"x" * 20 + b"\n")
    assert append(path, b"two\n") == 8
    assert path.read_bytes() == b"one\ntwo\n"

"""Changes in folders are heard, those in folders that the kernel cannot watch or tell of among them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from farhand.disk.watch import FolderChange, FolderWatcher

pytestmark = pytest.mark.anyio


async def heard(change: FolderChange) -> None:
    """Waits for a change; a generous while."""
    with anyio.fail_after(240):
        await change.wait()


def watches() -> int:
    """How many watches this process has, as the kernel counts them."""
    return sum(_read(file).count("inotify wd:") for file in Path("/proc/self/fdinfo").iterdir())


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


async def until_watched(change: FolderChange, count: int) -> None:
    """Waits until the kernel has so many watches; without one, a change is told now and then."""
    while watches() != count:
        await heard(change)


async def test_a_folder_that_cannot_be_watched_is_looked_at_until_it_can_be(short_folder: Path) -> None:
    before, folder = watches(), short_folder / "later"
    async with FolderWatcher().opened() as folders:
        with capture_logs() as lines, folders.watched(folder) as change, folders.watched(folder) as other:
            for each in (change, other, change):
                await heard(each)
            folder.mkdir()
            await until_watched(change, before + 1)
            (folder / "new").touch()
            await heard(change)
        assert watches() == before
    assert [(line["event"], line["why"]) for line in lines] == [("folder not watched", os.strerror(errno.ENOENT))]


async def test_when_the_queue_overflows_everybody_looks(short_folder: Path) -> None:
    busy, quiet = short_folder / "busy", short_folder / "quiet"
    busy.mkdir()
    quiet.mkdir()
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    async with FolderWatcher().opened() as folders:
        with folders.watched(busy), folders.watched(quiet) as change:
            files = [os.open(busy / name, os.O_WRONLY | os.O_CREAT) for name in ("a", "b")]
            # The same change again is counted once: so two files take turns.
            for number in range(most + 1):
                os.write(files[number % 2], b"x")
            for file in files:
                os.close(file)
            await heard(change)


async def test_a_folder_that_nobody_watches_any_more_costs_no_watch(short_folder: Path) -> None:
    before = watches()
    async with FolderWatcher().opened() as folders:
        with folders.watched(short_folder):
            with folders.watched(short_folder):
                assert watches() == before + 1
            assert watches() == before + 1
        assert watches() == before
        with folders.watched(short_folder) as change:
            (short_folder / "new").touch()
            await heard(change)


async def test_two_paths_of_one_folder_are_both_told(short_folder: Path) -> None:
    real, link = short_folder / "real", short_folder / "link"
    real.mkdir()
    link.symlink_to(real)
    async with FolderWatcher().opened() as folders:
        with folders.watched(real) as one:
            with folders.watched(link) as other:
                (real / "new").touch()
                await heard(one)
                await heard(other)
            (real / "newer").touch()
            await heard(one)


async def test_a_folder_that_was_removed_and_made_again_is_heard(short_folder: Path) -> None:
    before, folder = watches(), short_folder / "again"
    folder.mkdir()
    async with FolderWatcher().opened() as folders:
        with folders.watched(folder) as change:
            folder.rmdir()
            await heard(change)
            folder.mkdir()
            await until_watched(change, before + 1)
            (folder / "new").touch()
            await heard(change)


async def test_a_file_that_does_not_count_wakes_nobody(short_folder: Path) -> None:
    busy, beside = short_folder / "busy", short_folder / "beside"
    busy.mkdir()
    beside.mkdir()
    async with FolderWatcher().opened() as folders:
        with folders.watched(busy, but="lock") as change, folders.watched(beside) as later:
            (busy / "lock").write_text("held")
            (beside / "new").touch()
            await heard(later)
            assert not change.is_due, "the kernel tells changes in their order"
            (busy / "locked").touch()
            await heard(change)
            # Whoever else watches it by the same path hears of every file.
            with folders.watched(busy) as every:
                (busy / "lock").write_text("held again")
                await heard(every)
                await heard(change)

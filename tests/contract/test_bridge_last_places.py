"""The last of the hundred places in the two files: nobody of ours writes one more; what finds no place waits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject, read

from farhand.bridge.hook import deliver, files, rules, swap
from farhand.bridge.hook.files import BridgeState, FolderLock
from farhand.bridge.hook.rules import INBOX, MOST_MESSAGES, READ, SENT, BridgeMessage, new_message
from farhand.bridge.project import FULL, ProjectFiles
from farhand.model.errors import DriverError


@pytest.fixture
def hooked(tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, "gemini")


def unread(count: int, name: str = "m") -> list[BridgeMessage]:
    return [new_message("msg", "user", f"{name}{n}", time.time(), f"{name}{n}", READ) for n in range(count)]


def unsent(count: int, name: str = "r") -> list[BridgeMessage]:
    return [new_message("resp", "agent", f"{name}{n}", time.time(), f"{name}{n}", SENT) for n in range(count)]


def write(path: Path, messages: list[BridgeMessage]) -> None:
    """As a foreign script writes: beside, and renamed."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_bytes(rules.encode(messages))
    temporary.rename(path)


def texts(path: Path) -> list[str]:
    return [str(one["text"]) for one in read(path)]


class Writes:
    """All that our side puts in the place of a file, and what somebody else does in the moment before it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, can_exchange: bool) -> None:
        self.longest = 0
        self.before: list[Callable[[], object]] = []
        self._exchange = swap.exchange if can_exchange else lambda *_: False
        monkeypatch.setattr(files, "exchange", self._at_the_exchange)

    def _at_the_exchange(self, fresh: str, target: str) -> bool:
        self.longest = max(self.longest, len(read(Path(fresh))))
        if self.before:
            self.before.pop(0)()
        return self._exchange(fresh, target)


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def writes(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Writes:
    return Writes(monkeypatch, can_exchange=request.param)


def test_the_node_and_another_take_the_last_place_at_once(hooked: HookedProject, writes: Writes) -> None:
    there = unread(99)
    write(hooked.inbox, there)
    writes.before.append(lambda: write(hooked.inbox, [*there, *unread(1, "theirs")]))
    ProjectFiles(hooked.folder).put("n1", "ours")
    assert writes.longest == MOST_MESSAGES
    assert texts(hooked.inbox) == [*(f"m{n}" for n in range(99)), "theirs0"], "what others wrote stays where it is"
    assert ProjectFiles(hooked.folder).look().inbox["n1"] is False
    told = hooked.context().splitlines()
    assert sorted(told[1:]) == sorted([*(f"m{n}" for n in range(99)), "theirs0", "ours"])
    assert hooked.context() == ""
    assert not list(hooked.folder.glob(f"{INBOX}.*.tmp"))


def test_another_writes_again_and_again_while_the_node_takes_the_last_place(
    hooked: HookedProject, writes: Writes
) -> None:
    """It reads in the moment in which its own message is displaced, and takes that place for free."""
    there = unread(99)
    write(hooked.inbox, there)
    writes.before += [
        lambda: write(hooked.inbox, [*there, *unread(1, "a")]),
        lambda: write(hooked.inbox, [*there, *unread(1, "b")]),
        lambda: write(hooked.inbox, [*there, *unread(1, "c")]),
    ]
    ProjectFiles(hooked.folder).put("n1", "ours")
    assert writes.longest == MOST_MESSAGES
    assert len(read(hooked.inbox)) == MOST_MESSAGES
    assert sorted(hooked.context().splitlines()[100:]) == sorted(["a0", "b0", "c0", "ours"])


def test_what_found_no_place_is_in_the_file_when_there_is_one(hooked: HookedProject, writes: Writes) -> None:
    """For a script in the place of our hooks, which knows the two files alone."""
    project = ProjectFiles(hooked.folder)
    there = unread(99)
    write(hooked.inbox, there)
    writes.before.append(lambda: write(hooked.inbox, [*there, *unread(1, "theirs")]))
    project.put("n1", "ours")
    project.look()
    assert "ours" not in texts(hooked.inbox), "there is no place yet"
    write(hooked.inbox, [{**one, READ: True} for one in read(hooked.inbox)])
    project.look()
    assert [one["text"] for one in read(hooked.inbox) if not one[READ]] == ["ours"]
    written = hooked.inbox.stat().st_mtime_ns
    project.look()
    assert hooked.inbox.stat().st_mtime_ns == written
    write(hooked.inbox, [{**one, READ: True} for one in read(hooked.inbox)])
    assert project.look().inbox["n1"] is True
    assert writes.longest <= MOST_MESSAGES


def test_to_more_than_a_hundred_of_a_foreign_writer_nothing_is_added_and_nothing_of_them_is_lost(
    hooked: HookedProject, writes: Writes
) -> None:
    project = ProjectFiles(hooked.folder)
    there = unread(99)
    write(hooked.inbox, there)
    project.put("n1", "ours")
    many = [*read(hooked.inbox), *unread(30, "more")]
    write(hooked.inbox, many)
    with pytest.raises(DriverError, match=FULL):
        project.put("n2", "one more")
    assert read(hooked.inbox) == many, "left as it is"
    assert project.take_back("n1")
    assert writes.longest <= MOST_MESSAGES
    told = hooked.context().splitlines()[1:]
    assert sorted(told) == sorted([*(f"m{n}" for n in range(99)), *(f"more{n}" for n in range(30))])


def test_what_is_in_a_full_inbox_already_is_not_refused(hooked: HookedProject) -> None:
    """A node that was killed after it wrote does it again."""
    project = ProjectFiles(hooked.folder)
    write(hooked.inbox, unread(99))
    project.put("n1", "ours")
    project.put("n1", "ours")
    assert len(read(hooked.inbox)) == MOST_MESSAGES
    with pytest.raises(DriverError, match=FULL):
        project.put("n2", "one more")


def test_a_hook_and_another_take_the_last_place_of_the_outbox_at_once(hooked: HookedProject, writes: Writes) -> None:
    there = unsent(99)
    write(hooked.outbox, there)
    writes.before.append(lambda: write(hooked.outbox, [*there, *unsent(1, "theirs")]))
    with FolderLock(str(hooked.folder)):
        state = BridgeState(str(hooked.folder))
        deliver.queue(str(hooked.folder), state, "ours", time.time())
        deliver.flush(str(hooked.folder), state, time.time())
    assert writes.longest == MOST_MESSAGES
    assert texts(hooked.outbox) == [*(f"r{n}" for n in range(99)), "theirs0"]
    write(hooked.outbox, [{**one, SENT: True} for one in read(hooked.outbox)])
    hooked.after("next")
    assert [one["text"] for one in read(hooked.outbox) if not one[SENT]] == ["ours", "next"]


def test_answers_of_a_foreign_script_that_found_no_place_are_passed_on_once(
    hooked: HookedProject, writes: Writes
) -> None:
    """Old ones, too: what is unsent never goes."""
    project = ProjectFiles(hooked.folder)
    there = unsent(100)
    theirs = [{**one, "timestamp": "2020-01-01T00:00:00Z"} for one in unsent(20, "theirs")]
    write(hooked.outbox, there)
    writes.before.append(lambda: write(hooked.outbox, [*there, *theirs]))
    project.mark_sent((rules.key(there[0]),))
    assert writes.longest <= MOST_MESSAGES
    answers = project.look().answers
    assert sorted(one.text for one in answers) == sorted(
        [*(f"r{n}" for n in range(1, 100)), *(f"theirs{n}" for n in range(20))]
    )
    project.mark_sent(tuple(one.key for one in answers))
    assert project.look().answers == ()


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_where_files_cannot_change_places_nothing_is_lost_that_comes_in_that_moment(
    hooked: HookedProject, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Somebody writes right before the file is moved, and, where hard links tell us of it, right after that."""
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    write(hooked.inbox, unread(1, "first"))
    rename, moments = os.rename, ["before", "after"] if links else ["before"]

    def renamed(source: str, target: str) -> None:
        is_ours = str(hooked.inbox) in (str(source), str(target))
        coming = [moments.pop(0) for _ in list(moments)] if is_ours and moments else []
        if "before" in coming:
            write(hooked.inbox, [*read(hooked.inbox), *unread(1, "before")])
        rename(source, target)
        if "after" in coming:
            write(hooked.inbox, [*read(hooked.inbox), *unread(1, "after")])

    monkeypatch.setattr(os, "rename", renamed)
    if not links:
        monkeypatch.setattr(os, "link", no_hard_links)
    ProjectFiles(hooked.folder).put("n1", "ours")
    assert moments == []
    wanted = ["first0", "before0", "ours", *(["after0"] if links else [])]
    assert sorted(texts(hooked.inbox)) == sorted(wanted)
    assert sorted(hooked.context().splitlines()[1:]) == sorted(wanted)


def no_hard_links(*_: object) -> None:
    raise PermissionError

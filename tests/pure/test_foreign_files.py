"""What an agent in a sandbox may put where the node reads: a pipe, a device, a file full of holes, a link."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from farhand.disk.head_tail import read_ends
from farhand.disk.plain_files import NotPlain, read_plain
from farhand.disk.tail import TailedLines, read_lines
from farhand.drivers.claude.launch import has_conversation
from farhand.drivers.claude.tmux.status import ClaudeCost, ClaudeStatus, read_cost, read_status
from farhand.drivers.gemini.tmux.session_file import follow
from farhand.drivers.gemini.tmux.state import GeminiCursor
from farhand.drivers.wires.hooks.spool import read_spool

HOLES = 1 << 40


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def holes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HOLES)


def folder(path: Path) -> None:
    path.mkdir()


def door(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


Put = Callable[[Path], None]
everything = pytest.mark.parametrize("put", [pipe, device, holes, folder, door])


@everything
def test_nothing_but_a_plain_file_of_some_size_is_read(short_folder: Path, put: Put) -> None:
    put(short_folder / "one")
    with pytest.raises(NotPlain):
        read_plain(short_folder / "one", 1000)


def test_a_name_that_no_file_has_is_an_answer() -> None:
    with pytest.raises(NotPlain):
        read_plain("a\0b", 1000)


def test_a_link_is_followed_where_it_may_be_one(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x")
    (tmp_path / "link").symlink_to("one")
    assert read_plain(tmp_path / "link", 1) == b"x"
    with pytest.raises(NotPlain):
        read_plain(tmp_path / "link", 1, links=False)


@everything
def test_what_is_no_report_goes_from_the_spool_and_the_rest_is_read(short_folder: Path, put: Put) -> None:
    put(short_folder / "1.2.Stop.json")
    (short_folder / "2.2.Stop.json").write_text("{}")
    assert [one.id for one in read_spool(short_folder)] == ["2"]
    assert put is folder or not os.path.lexists(short_folder / "1.2.Stop.json")


def test_a_report_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"hook_event_name": "Stop"}')
    (tmp_path / "1.2.Stop.json").symlink_to("secret")
    assert list(read_spool(tmp_path)) == []
    assert (tmp_path / "secret").exists()


@everything
def test_an_agents_own_files_stop_nobody(short_folder: Path, put: Put) -> None:
    for name in ("status.json", "one.jsonl", "whole.json"):
        put(short_folder / name)
    assert read_status(short_folder / "status.json") == ClaudeStatus()
    assert read_cost(short_folder / "status.json") == ClaudeCost()
    cursor = GeminiCursor(path=str(short_folder / "whole.json"))
    assert follow(cursor, 0.0) == ([], cursor)
    assert read_lines(short_folder / "one.jsonl", 0) == TailedLines((), 0)
    assert not has_conversation(short_folder / "one.jsonl")
    assert not read_ends(short_folder / "one.jsonl").head

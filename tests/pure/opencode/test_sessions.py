"""OpenCode's sessions as its own database tells of them: which there are, what was said last, who has them open."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.opencode import sessions
from farhand.drivers.opencode.past import read_past
from farhand.model.history import HistoryPage
from farhand.model.ports import SessionFound

SCHEMA = """
CREATE TABLE session (id text, parent_id text, directory text, title text, time_updated integer, time_archived integer);
CREATE TABLE message (id text, session_id text, time_created integer, data text);
CREATE TABLE part (id text, message_id text, session_id text, data text);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with some sessions."""
    path = sessions.database({"HOME": str(tmp_path)})
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        rows = [
            ("ses_1", None, str(tmp_path), "the  first", 1000, None),
            ("ses_2", None, str(tmp_path), "the second", 2000, None),
            ("ses_3", "ses_2", str(tmp_path), "a helper's", 3000, None),
            ("ses_4", None, str(tmp_path), "put away", 4000, 4000),
            ("ses_5", None, "/elsewhere", "another", 5000, None),
        ]
        database.executemany("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", rows)
    return path


def put(path: Path, session: str, number: int, parts: list[dict[str, Any]], **about: Any) -> None:
    """A message of the agent, unless it says something else."""
    message = f"msg_{number}"
    with closing(sqlite3.connect(path)) as database, database:
        data = json.dumps({"role": "assistant", **about})
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (message, session, number, data))
        for place, part in enumerate(parts):
            row = (f"prt_{number}_{place}", message, session, json.dumps(part))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)


def words(text: str) -> dict[str, Any]:
    """A piece of text."""
    return {"type": "text", "text": text}


def test_sessions_are_read_newest_first_and_nothing_is_made(path: Path, tmp_path: Path) -> None:
    assert [one.id for one in sessions.find_sessions(path, str(tmp_path))] == ["ses_2", "ses_1"]
    assert [one.id for one in sessions.find_sessions(path, "")] == ["ses_5", "ses_2", "ses_1"]
    found = sessions.find_sessions(path, str(tmp_path))[1]
    assert (found.title, found.at) == ("the first", 1.0)
    assert sessions.is_known(path, "ses_1")
    assert not sessions.is_known(path, "ses_9")
    nowhere = tmp_path / "nowhere" / "opencode.db"
    assert sessions.find_sessions(nowhere, "") == []
    assert not sessions.is_known(nowhere, "ses_1")
    assert not nowhere.parent.exists()
    path.write_bytes(b"this is no database" * 100)
    assert sessions.find_sessions(path, "") == []


def test_a_pipe_in_the_databases_place_hangs_nobody(tmp_path: Path) -> None:
    pipe = tmp_path / "opencode.db"
    os.mkfifo(pipe)
    assert sessions.find_sessions(pipe, "") == []
    assert not sessions.is_known(pipe, "ses_1")
    assert read_past(pipe, SessionFound(id="ses_1", directory=str(tmp_path)), None, 10) == HistoryPage()


def test_the_last_answer_is_what_the_agent_said_last(path: Path) -> None:
    tool = {"type": "tool", "state": {"output": "x" * 100_000}}
    put(path, "ses_1", 1, [words("hello")])
    put(path, "ses_1", 2, [words("let me look"), tool, words("it is empty")])
    put(path, "ses_1", 3, [tool, words("  ")])
    put(path, "ses_1", 4, [words("what a person said")], role="user")
    put(path, "ses_1", 5, [words("a summary that makes room")], summary=True)
    put(path, "ses_2", 6, [words("y" * 20_000)])
    answers = {one.id: one.answer for one in sessions.find_sessions(path, "")}
    assert answers == {"ses_1": "let me look\n\nit is empty", "ses_2": "y" * 8000, "ses_5": ""}


def test_a_message_that_cannot_be_read_costs_its_own_answer(path: Path) -> None:
    put(path, "ses_1", 1, [words("hello")])
    put(path, "ses_2", 2, [words("hello")])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE part SET data = '{' WHERE session_id = 'ses_1'")
    assert {one.id: one.answer for one in sessions.find_sessions(path, "")} == {
        "ses_1": "",
        "ses_2": "hello",
        "ses_5": "",
    }


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not tell")
def test_a_session_is_open_where_somebody_was_started_with_it_and_closed_where_nobody_is(path: Path) -> None:
    assert sessions.processes_with_open(path) == {}
    assert {one.open for one in sessions.find_sessions(path, "")} == {False}
    program = "import sys; held = open(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(path), "--session", "ses_1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"held\n"
        found = {one.id: one.open for one in sessions.find_sessions(path, "")}
        holding.communicate()
    assert found == {"ses_1": True, "ses_2": None, "ses_5": None}
    assert sessions.is_open("ses_1", None) is None

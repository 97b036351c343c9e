"""The sessions that OpenCode has on this machine, read from its own database, which is never written to."""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import anyio.to_thread

from farhand.drivers.opencode.past import opened_database, read_past
from farhand.model.history import HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.present import Worker
from farhand.model.words import Seq

MOST_SESSIONS = 200
LONGEST_ANSWER = 8000
PROCESSES = Path("/proc")
# The command line of each process, by its id.
CommandLines: TypeAlias = dict[int, list[str]]
_ALL = """SELECT id, directory, title, time_updated FROM session
    WHERE parent_id IS NULL AND time_archived IS NULL AND (? = '' OR directory = ?)
    ORDER BY time_updated DESC LIMIT ?"""
_ONE = "SELECT 1 FROM session WHERE id = ?"
# The texts of the agent's last messages, the newest message first. Only its end is read, however long a session is.
_SAID = """SELECT spoken.id, substr(json_extract(part.data, '$.text'), 1, ?) FROM (
        SELECT id FROM message WHERE session_id = ? AND CASE WHEN json_valid(data)
            THEN json_extract(data, '$.role') = 'assistant' AND json_extract(data, '$.summary') IS NOT 1 END
        ORDER BY time_created DESC, id DESC LIMIT 5
    ) AS spoken JOIN part ON part.message_id = spoken.id
    WHERE CASE WHEN json_valid(part.data)
        THEN json_extract(part.data, '$.type') = 'text' AND trim(json_extract(part.data, '$.text')) != '' END
    ORDER BY spoken.id DESC, part.id"""


def database(environment: Mapping[str, str]) -> Path:
    """Where OpenCode keeps its sessions."""
    home = environment.get("XDG_DATA_HOME") or f"{environment.get('HOME', '')}/.local/share"
    return Path(home) / "opencode" / "opencode.db"


def find_sessions(path: Path, directory: str) -> list[SessionFound]:
    """The sessions of that folder, or of every one for "", newest first. No database, or another kind, has none."""
    resolved = str(Path(directory).resolve()) if directory else ""
    users = processes_with_open(path)
    try:
        with opened_database(path) as opened:
            rows = opened.execute(_ALL, (resolved, resolved, MOST_SESSIONS)).fetchall()
            return [
                SessionFound(
                    id=str(name),
                    directory=str(folder),
                    title=" ".join(str(title).split()),
                    at=updated / 1000,
                    answer=_answer(opened, str(name)),
                    open=is_open(str(name), users),
                )
                for name, folder, title, updated in rows
                if isinstance(updated, int | float)
            ]
    except sqlite3.Error:
        return []


def is_known(path: Path, session: str) -> bool:
    """Whether there is a session of that name."""
    try:
        with opened_database(path) as opened:
            return opened.execute(_ONE, (session,)).fetchone() is not None
    except sqlite3.Error:
        return False


def is_open(session: str, users: CommandLines | None) -> bool | None:
    """Whether one of the processes that use the database has the session open; None when nobody knows."""
    if users is None:
        return None
    if not users:
        return False
    return True if any(session in line for line in users.values()) else None


def _answer(opened: sqlite3.Connection, session: str) -> str:
    """What the agent said last; empty where it is stored in another way."""
    try:
        rows = opened.execute(_SAID, (LONGEST_ANSWER, session)).fetchall()
    except sqlite3.Error:
        return ""
    return "\n\n".join(str(text) for message, text in rows if message == rows[0][0])[:LONGEST_ANSWER]


# --- who uses the database


def processes_with_open(path: Path) -> CommandLines | None:
    """The command line of every process that has the file open, but this one; None where there is no /proc."""
    if not (PROCESSES / "self" / "fd").is_dir():
        return None
    wanted = str(path.resolve())
    found: CommandLines = {}
    for process in PROCESSES.iterdir():
        ours = process.name == str(os.getpid())
        if process.name.isdecimal() and not ours and _has_open(process, wanted):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                found[int(process.name)] = words
    return found


def _has_open(process: Path, wanted: str) -> bool:
    """False for processes of other users, and for those that end meanwhile."""
    try:
        return any(_target(one) == wanted for one in (process / "fd").iterdir())
    except OSError:
        return False


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""


# --- what every driver of OpenCode offers


def resume_command(worker: Worker) -> str:
    """The shell command that goes on with the worker's session in a terminal."""
    session = f" --session {shlex.quote(worker.session)}" if worker.session else ""
    return f"cd {shlex.quote(worker.directory)} && opencode{session}"


class OpenCodeSessions:
    """The sessions of this machine, the same for every wire."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._database = database(environment)

    async def sessions(self, directory: str) -> list[SessionFound]:
        """OpenCode's conversations of that folder, or of every folder for "", newest first."""
        return await anyio.to_thread.run_sync(find_sessions, self._database, directory)

    async def messages(self, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
        """What was said in a session, a page of it."""
        return await anyio.to_thread.run_sync(read_past, self._database, session, before, limit)

    async def open_in(self, session: str) -> list[int]:
        """The processes that were started with that session."""
        users = await anyio.to_thread.run_sync(processes_with_open, self._database)
        return [process for process, words in (users or {}).items() if session in words]

    async def is_known(self, session: str) -> bool:
        """Whether there is a session of that id."""
        return bool(session) and await anyio.to_thread.run_sync(is_known, self._database, session)

    def resume_command(self, worker: Worker) -> str:
        """The shell command that goes on with the worker's session in a terminal."""
        return resume_command(worker)

"""The sessions that OpenCode has on this machine, read from its own database, which is never written to."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from farhand.model.ports import SessionFound
from farhand.model.present import Worker

MOST = 200
_ALL = """SELECT id, directory, title, time_updated FROM session
    WHERE parent_id IS NULL AND time_archived IS NULL AND (? = '' OR directory = ?)
    ORDER BY time_updated DESC LIMIT ?"""


def database(environment: Mapping[str, str]) -> Path:
    """Where OpenCode keeps its sessions."""
    home = environment.get("XDG_DATA_HOME") or f"{environment.get('HOME', '')}/.local/share"
    return Path(home) / "opencode" / "opencode.db"


def sessions(path: Path, directory: str) -> list[SessionFound]:
    """The sessions of that folder, or of every one for "", newest first. No database, or another kind, has none."""
    resolved = str(Path(directory).resolve()) if directory else ""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0)) as opened:
            rows = opened.execute(_ALL, (resolved, resolved, MOST)).fetchall()
    except sqlite3.Error:
        return []
    return [
        SessionFound(id=str(name), directory=str(folder), title=" ".join(str(title).split()), at=updated / 1000)
        for name, folder, title, updated in rows
        if isinstance(updated, int | float)
    ]


def resume_command(worker: Worker) -> str:
    """The shell command that goes on with the worker's session at the desk."""
    session = f" --session {shlex.quote(worker.session)}" if worker.session else ""
    return f"cd {shlex.quote(worker.directory)} && opencode{session}"

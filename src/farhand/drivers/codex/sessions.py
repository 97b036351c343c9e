"""The conversations that Codex keeps on this machine: listed from both ends of its rollouts, handed back by its id."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from farhand.disk.head_tail import HeadAndTail, newest, read_ends
from farhand.drivers.codex import launch
from farhand.drivers.codex.schema import Item, read_item
from farhand.drivers.codex.tmux.state import CodexRolloutState
from farhand.drivers.codex.tmux.translate import translate
from farhand.drivers.wires.context import DriverContext
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.past import past_of_file
from farhand.drivers.wires.preflight import is_folder
from farhand.drivers.wires.text.tool_title import one_line
from farhand.model.history import HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.present import Worker
from farhand.model.words import Mode, Seq

MOST_SESSIONS = 200
LONGEST_ANSWER = 8000


def find_sessions(home: Path, directory: str) -> list[SessionFound]:
    """Those of a folder, or of every folder for "", newest first."""
    wanted = str(Path(directory).resolve()) if directory else ""
    files = newest((home / "sessions").glob("*/*/*/rollout-*.jsonl"), MOST_SESSIONS)
    found = (session_of(read_ends(path)) for path in files)
    return [one for one in found if one is not None and (not wanted or is_folder(one.directory, wanted))]


def session_of(ends: HeadAndTail) -> SessionFound | None:
    """The conversation whose rollout has these ends; None when nobody spoke, or it is a helper's. Pure."""
    head, tail = _records(ends.head), _records(ends.tail)
    about = next((one.fields("payload") for one in head if one.text("type") == "session_meta"), Fields({}))
    first = next((item.text for item in _items(head) if item.kind == "user" and item.text.strip()), "")
    if not about.text("id") or not first or isinstance(about.any("source"), dict):
        return None
    context = next((one.fields("payload") for one in (*reversed(tail), *reversed(head)) if is_context(one)), Fields({}))
    answers = [item.text for item in _items(tail) if item.kind == "said" and item.text.strip()]
    return SessionFound(
        id=about.text("id"),
        directory=about.text("cwd"),
        title=one_line(first),
        at=ends.written_at,
        answer=answers[-1][:LONGEST_ANSWER] if answers else "",
        mode=_mode(context),
        model=context.text("model"),
    )


def is_context(line: Fields) -> bool:
    """Whether the line tells how a turn was run."""
    return line.text("type") == "turn_context"


def _mode(context: Fields) -> str:
    """The mode that allows no more than the turn of that context could do; empty where nothing is told."""
    sandbox = context.fields("sandbox_policy").text("type")
    if context.fields("collaboration_mode").text("mode") == "plan":
        return Mode.PLAN
    if sandbox == "danger-full-access":
        return Mode.YOLO if context.text("approval_policy") == "never" else Mode.DEFAULT
    free = sandbox == "workspace-write" and context.text("approval_policy") != "untrusted"
    return Mode.AUTO_EDIT if free else Mode.DEFAULT if sandbox else ""


def _records(lines: Iterable[bytes]) -> list[Fields]:
    parsed = (parse(line) for line in lines)
    return [line for line in parsed if line is not None]


def _items(records: Iterable[Fields]) -> list[Item]:
    payloads = (one.fields("payload") for one in records if one.text("type") == "event_msg")
    return [read_item(one.fields("item")) for one in payloads if one.text("type") == "item_completed"]


def rollout_of(home: Path, session: str) -> Path | None:
    """Where the session of that id is written, if it is."""
    if not session or not session.replace("-", "").isalnum():
        return None
    found = newest((home / "sessions").glob(f"*/*/*/rollout-*-{session}.jsonl"), 1)
    return found[0] if found else None


def _past(home: Path, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
    path, state = rollout_of(home, session.id), CodexRolloutState(session=session.id)
    running = bool(session.open)
    return past_of_file(path, before, limit, state, translate, running=running) if path else HistoryPage()


class CodexSessions:
    """What every driver of Codex knows of its sessions, and of where it lives."""

    def __init__(self, context: DriverContext) -> None:
        self._context = context

    @property
    def environment(self) -> dict[str, str]:
        """What Codex finds in its environment: its settings may name a variable at any time."""
        return self._context.child(launch.agent_variables(self._context.variables))

    async def sessions(self, directory: str) -> list[SessionFound]:
        """Codex's conversations of that folder, or of every folder for "", newest first."""
        return await anyio.to_thread.run_sync(find_sessions, launch.home(self.environment), directory)

    async def messages(self, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
        """What was said in a conversation, a page of it."""
        return await anyio.to_thread.run_sync(_past, launch.home(self.environment), session, before, limit)

    def resume_command(self, worker: Worker) -> str:
        """What to type at the desk to go on with the worker's session."""
        return launch.resume_command(worker, self.environment)

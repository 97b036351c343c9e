"""The conversations that Claude Code keeps on this machine: listed from its own files, handed back with its flag."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio.to_thread

from farhand.disk.head_tail import HeadAndTail, newest, read_ends
from farhand.disk.plain_files import read_plain
from farhand.drivers.claude.launch import ClaudePaths
from farhand.drivers.claude.past import read_past
from farhand.drivers.claude.schema import blocks
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.preflight import is_folder
from farhand.drivers.wires.text.tool_title import one_line
from farhand.drivers.wires.tmux.death import is_alive
from farhand.model.history import HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.present import Worker
from farhand.model.words import Mode, Seq

MOST_SESSIONS = 200
LONGEST_ANSWER = 8000
LARGEST_RECORD = 4 * 1024 * 1024
MODES = {
    "default": Mode.DEFAULT,
    "manual": Mode.DEFAULT,
    "acceptEdits": Mode.AUTO_EDIT,
    "plan": Mode.PLAN,
    "bypassPermissions": Mode.YOLO,
}
# What a conversation is called, the best name first: the field that has it, by the kind of line.
TITLES = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary"))


def find_sessions(places: ClaudePaths, directory: str) -> list[SessionFound]:
    """Those of a folder, or of every folder for "", newest first."""
    projects = places.config / "projects"
    wanted = str(Path(directory).resolve()) if directory else ""
    folders = [places.transcript(wanted, "any").parent] if wanted else sorted(projects.glob("*/"))
    files = (path for folder in folders for path in folder.glob("*.jsonl"))
    running = open_sessions(places)
    found = (session_of(path.stem, read_ends(path), running) for path in newest(files, MOST_SESSIONS))
    # Two folders may share a name of Claude Code's: only the lines themselves tell them apart.
    return [one for one in found if one is not None and (not wanted or is_folder(one.directory, wanted))]


def open_sessions(places: ClaudePaths) -> frozenset[str]:
    """Which sessions a running Claude Code says it has open."""
    return frozenset(by_process(places).values())


def open_in(places: ClaudePaths, session: str) -> list[int]:
    """The processes of Claude Code that say they have the session open."""
    return [process for process, one in by_process(places).items() if one == session]


def by_process(places: ClaudePaths) -> dict[int, str]:
    """What each running Claude Code has open."""
    found: dict[int, str] = {}
    for file in (places.config / "sessions").glob("*.json"):
        record = _record(file)
        if file.stem.isdecimal() and record is not None and is_alive(int(file.stem)) and record.text("sessionId"):
            found[int(file.stem)] = record.text("sessionId")
    return found


def _record(file: Path) -> Fields | None:
    try:
        return parse(read_plain(file, LARGEST_RECORD))
    except OSError:
        return None


def session_of(session: str, ends: HeadAndTail, running: frozenset[str] = frozenset()) -> SessionFound | None:
    """The conversation whose transcript has these ends; None for one in which nobody spoke. Pure."""
    head, tail = _records(ends.head), _records(ends.tail)
    first = next((line for line in head if _asked(line)), None)
    title = _title(head, tail) or (_asked(first) if first else "") or _last_prompt(tail)
    if first is None and (ends.whole or not title):
        return None
    directory = next((line.text("cwd") for line in (*head, *tail) if line.text("cwd")), "")
    return SessionFound(
        id=session,
        directory=directory,
        title=one_line(title),
        at=ends.written_at,
        answer=_answer(tail)[:LONGEST_ANSWER],
        open=session in running,
        mode=_mode(tail) or _mode(head),
        model=_model(tail),
    )


def _mode(lines: list[Fields]) -> str:
    """The last mode that a line names, in the CLI's own words."""
    return next((MODES[one] for line in reversed(lines) if (one := line.text("permissionMode")) in MODES), "")


def _model(lines: list[Fields]) -> str:
    """The model of the last answer; what the CLI itself says has none."""
    spoken = (line.fields("message").text("model") for line in reversed(lines) if line.text("type") == "assistant")
    return next((model for model in spoken if model and not model.startswith("<")), "")


def _records(lines: Iterable[bytes]) -> list[Fields]:
    parsed = (parse(line) for line in lines)
    return [line for line in parsed if line is not None and not line.flag("isSidechain")]


def _asked(line: Fields) -> str:
    """What a person said in that line, if one did."""
    if line.text("type") != "user" or line.flag("isMeta") or line.flag("isCompactSummary"):
        return ""
    content = blocks(line.fields("message"))
    text = "\n".join(block.text("text") for block in content if block.text("type") == "text").strip()
    # Commands and their output are written as tags that no person typed.
    return "" if text.startswith(("<command-", "<local-command-", "[Request interrupted")) else text


def _title(head: list[Fields], tail: list[Fields]) -> str:
    lines = [*reversed(tail), *reversed(head)]
    for kind, field in TITLES:
        found = next((line.text(field) for line in lines if line.text("type") == kind and line.text(field)), "")
        if found:
            return found
    return ""


def _last_prompt(tail: list[Fields]) -> str:
    return next((line.text("lastPrompt") for line in reversed(tail) if line.text("lastPrompt")), "")


def _answer(tail: list[Fields]) -> str:
    """The text of the last message in which the agent spoke; its blocks are lines of their own."""
    spoken = [
        (line.fields("message").text("id"), block.text("text"))
        for line in tail
        if line.text("type") == "assistant" and not line.flag("isApiErrorMessage")
        for block in blocks(line.fields("message"))
        if block.text("type") == "text" and block.text("text").strip()
    ]
    return "\n".join(text for message, text in spoken if message == spoken[-1][0]).strip() if spoken else ""


def resume_command(worker: Worker, environment: Mapping[str, str]) -> str:
    """What to type at the desk to go on with the worker's conversation."""
    config = environment.get("CLAUDE_CONFIG_DIR", "")
    where = f"CLAUDE_CONFIG_DIR={shlex.quote(config)} " if config else ""
    return f"cd {shlex.quote(worker.directory)} && {where}claude --resume {shlex.quote(worker.session)}"


class ClaudeSessions:
    """What every driver of Claude Code knows of its conversations."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._places = ClaudePaths.of(environment)

    async def sessions(self, directory: str) -> list[SessionFound]:
        """The conversations that Claude Code has in that folder, or in every one."""
        return await anyio.to_thread.run_sync(find_sessions, self._places, directory)

    async def messages(self, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
        """What was said in a conversation, a page of it."""
        return await read_past(self._places, session, before, limit)

    async def open_in(self, session: str) -> list[int]:
        """Who has a conversation open at the desk."""
        return await anyio.to_thread.run_sync(open_in, self._places, session)

    def resume_command(self, worker: Worker) -> str:
        """What to type at the desk to go on with the worker's session."""
        return resume_command(worker, self._environment)

"""Records sessions in the CLI's own JSONL, with a sidecar for what it drops, and finds recorded ones again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from farhand.disk.atomic import append
from farhand.sdk import wire
from farhand.sdk.conversation import SIDECAR_SUFFIX, SessionRecords, read_conversation
from farhand.sdk.errors import RecordingTaken, SessionNotFound
from farhand.sdk.json_shapes import is_object
from farhand.sdk.projects import project_hash
from farhand.sdk.protocols import Content, Part, ToolCall


def timestamp(now: datetime | None = None) -> str:
    """A time as the CLI writes it."""
    moment = now or datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def new_id() -> str:
    """A random id in the form of a UUID; the module of that name costs more to import than a session does to start."""
    raw = bytearray(os.urandom(16))
    raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished tool call, as it is recorded."""

    call: ToolCall
    result: Sequence[Part]
    status: str
    display: str = ""
    description: str = ""


class Recording:
    """Appends to one session file. When the disk refuses, it says so once through `failed` and writes no more.

    Nothing half-written stays: the file is cut back to its last whole line.
    """

    def __init__(self, path: Path, failed: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self.failed = failed
        self._broken = False
        self._last: dict[str, Any] = {}
        # How long the file is as far as we know; somebody else has written to it when it is longer.
        self.known_bytes: int | None = None

    def start(self, session_id: str, root: Path, kind: str = "main") -> None:
        """Writes the first line of a new session."""
        now = timestamp()
        self._append(
            {
                "sessionId": session_id,
                "projectHash": project_hash(root),
                "startTime": now,
                "lastUpdated": now,
                "kind": kind,
            }
        )

    def checkpoint(self, contents: Sequence[Content]) -> None:
        """Writes the whole conversation anew: at its start, and after a compression."""
        messages: list[dict[str, Any]] = []
        exact: list[dict[str, Any]] = []
        for content in contents:
            message = _message(content)
            messages.append(message)
            if message["type"] == "gemini":
                exact.append({"id": message["id"], "content": content})
        self._append({"$set": {"messages": messages, "lastUpdated": timestamp()}}, exact)

    def said(self, content: Content) -> str:
        """Records a message of the person; returns its id."""
        message = _message(content)
        self._append(message)
        self._touch()
        return str(message["id"])

    def answered(self, content: Content, usage: Mapping[str, Any], model: str) -> str:
        """Records a message of the model, its exact content in the sidecar; returns its id."""
        thoughts = [wire.thought_of(part["text"]) for part in wire.parts_of(content) if wire.is_thought(part)]
        now = timestamp()
        message = {
            "id": new_id(),
            "timestamp": now,
            "type": "gemini",
            "content": wire.text_of(content),
            "thoughts": [{"subject": subject, "description": text, "timestamp": now} for subject, text in thoughts],
            "tokens": _tokens(usage),
            "model": model,
        }
        self._last = message
        self._append(message, [{"id": message["id"], "content": content}])
        self._touch()
        return str(message["id"])

    def called(self, records: Sequence[CallRecord]) -> None:
        """Records finished tool calls on the model's last message.

        The CLI writes each result a second time as a message of the person and repeats both when it resumes; ours
        stands in one place, so that it comes back once.
        """
        now = timestamp()
        self._last = {**self._last, "toolCalls": [_call(record, now) for record in records]}
        self._append(self._last)
        self._touch()

    def go_on_from(self, message: Mapping[str, Any]) -> None:
        """Takes a recorded message for the model's last one: its calls end only now."""
        self._last = dict(message)

    def rename(self, name: str) -> None:
        """Gives the session a name."""
        self._append({"$set": {"summary": name, "lastUpdated": timestamp()}})

    def rewind(self, message_id: str) -> None:
        """Takes back a message and all that follows."""
        self._append({"$rewindTo": message_id})

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keeps every other session of ours from writing while a turn runs; refuses when somebody has written since."""
        import fcntl

        if self._broken or not self.path.exists():
            yield
            return
        with self.path.open("rb") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RecordingTaken(f"Another turn writes to {self.path.name}. Wait for its end.") from None
            if not self._is_where_we_left_it(held):
                raise RecordingTaken(f"Somebody else has gone on with {self.path.name}. Resume it to go on from there.")
            yield

    def _is_where_we_left_it(self, held: IO[bytes]) -> bool:
        """Whether nobody has gone on with the conversation; a name that it was given meanwhile is no going on."""
        size = os.fstat(held.fileno()).st_size
        if self.known_bytes is None or size == self.known_bytes:
            return True
        held.seek(self.known_bytes)
        if size < self.known_bytes or not all(_only_describes(line) for line in held.read().splitlines()):
            return False
        self.known_bytes = size
        return True

    def _touch(self) -> None:
        self._append({"$set": {"lastUpdated": timestamp()}})

    def _append(self, record: Mapping[str, Any], exact: Sequence[Mapping[str, Any]] = ()) -> None:
        if self._broken:
            return
        try:
            if exact:
                sidecar = self.path.with_name(self.path.name + SIDECAR_SUFFIX)
                _append_line(sidecar, "".join(wire.compact(each) + "\n" for each in exact))
            self.known_bytes = _append_line(self.path, wire.compact(record) + "\n")
        except OSError as error:
            self._broken = True
            self.failed(
                f"The session is no longer recorded: {self.path} cannot be written ({error.strerror}). "
                "What was recorded before is whole; the conversation goes on in memory."
            )


# What a Gemini CLI that starts in the folder adds to the last session there, for its own list of them.
_DESCRIPTIONS: Final = {"summary", "lastUpdated", "memoryScratchpad"}


def _only_describes(line: bytes) -> bool:
    """Whether a line says something about the session and nothing of what was said in it."""
    try:
        record: object = json.loads(line)
    except ValueError:
        return False
    described = record.get("$set") if is_object(record) and len(record) == 1 else None
    return is_object(described) and described.keys() <= _DESCRIPTIONS


def _append_line(path: Path, text: str) -> int:
    return append(path, text.encode("utf-8", "surrogatepass"))


def _message(content: Content) -> dict[str, Any]:
    return {
        "id": new_id(),
        "timestamp": timestamp(),
        "type": "gemini" if content.get("role") == "model" else "user",
        "content": wire.parts_of(content),
    }


def _tokens(usage: Mapping[str, Any]) -> dict[str, int]:
    names = {
        "input": "promptTokenCount",
        "output": "candidatesTokenCount",
        "cached": "cachedContentTokenCount",
        "thoughts": "thoughtsTokenCount",
        "tool": "toolUsePromptTokenCount",
        "total": "totalTokenCount",
    }
    return {name: int(usage.get(field) or 0) for name, field in names.items()}


def _call(record: CallRecord, now: str) -> dict[str, Any]:
    return {
        "id": record.call.id,
        "name": record.call.name,
        "args": record.call.arguments,
        "result": list(record.result),
        "status": record.status,
        "timestamp": now,
        "resultDisplay": record.display,
        "description": record.description,
        "displayName": record.call.name,
        "renderOutputAsMarkdown": False,
    }


def session_path(folder: Path, session_id: str, now: datetime | None = None) -> Path:
    """Where a new session is recorded."""
    minute = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H-%M")
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", session_id)[:8]
    return folder / "chats" / f"session-{minute}-{safe}.jsonl"


def list_sessions(folder: Path) -> list[tuple[Path, SessionRecords]]:
    """The recorded sessions of a project that have a prompt in them, the oldest first."""
    found: list[tuple[Path, SessionRecords]] = []
    for path in sorted((folder / "chats").glob("session-*.json*")):
        if path.suffix not in (".json", ".jsonl"):
            continue
        try:
            conversation = read_conversation(path)
        except (OSError, ValueError):
            continue
        if conversation.session_id and conversation.metadata.get("kind") != "subagent":
            found.append((path, conversation))
    once = {each[1].session_id: each for each in sorted(found, key=_standing)}
    return sorted(once.values(), key=lambda each: str(each[1].metadata.get("startTime", "")))


def _standing(found: tuple[Path, SessionRecords]) -> tuple[bool, str]:
    """Which of two files of a session counts: the Gemini CLI leaves an empty one if it resumes in another minute."""
    return bool(found[1].messages), str(found[1].metadata.get("lastUpdated", ""))


def find_session(folder: Path, session_id: str) -> tuple[Path, SessionRecords]:
    """A recorded session by its id, the start of its id, or `latest`."""
    candidates = _by_name(folder, session_id) or list_sessions(folder)
    if session_id == "latest" and candidates:
        return max(candidates, key=lambda each: str(each[1].metadata.get("lastUpdated", "")))
    matching = [each for each in candidates if each[1].session_id == session_id]
    matching = matching or [each for each in candidates if each[1].session_id.startswith(session_id) and session_id]
    if not matching:
        known = [conversation.session_id for _, conversation in list_sessions(folder)]
        raise SessionNotFound(session_id, str(folder / "chats"), known)
    return max(matching, key=_standing)


def is_recorded(folder: Path, session_id: str) -> bool:
    """Whether a session of exactly this id is recorded."""
    return bool(_by_name(folder, session_id))


def _by_name(folder: Path, session_id: str) -> list[tuple[Path, SessionRecords]]:
    """The one file whose name fits, so that resuming reads one session and not all."""
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", session_id)[:8]
    if not safe:
        return []
    found = [(path, read_conversation(path)) for path in sorted((folder / "chats").glob(f"session-*-{safe}.jsonl"))]
    return [each for each in found if each[1].session_id == session_id]

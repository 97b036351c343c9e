"""The recorded sessions of a project: listed, copied, named and removed, in the CLI's own files."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from farhand.disk.atomic import append
from farhand.sdk import wire
from farhand.sdk.conversation import SIDECAR_SUFFIX, SessionRecords
from farhand.sdk.json_shapes import is_list, is_object
from farhand.sdk.messages import clean_messages
from farhand.sdk.recording import Recording, find_session, list_sessions, new_id, session_path, timestamp


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """One recorded session. `name` is what it was called, by us or by the CLI; `opening` is its first prompt.

    `messages` counts what was said and answered, without what was put around it."""

    id: str
    name: str
    opening: str
    started: str
    updated: str
    messages: int
    path: Path


def recorded_sessions(folder: Path) -> list[RecordedSession]:
    """What is recorded, the latest first."""
    found = [_info(path, records) for path, records in list_sessions(folder)]
    return sorted(found, key=lambda each: each.updated, reverse=True)


def fork(folder: Path, session_id: str) -> str:
    """Copies a session under a new id, which is returned; both go on by themselves."""
    path, records = find_session(folder, session_id)
    made = new_id()
    copy = session_path(folder, made)
    head = {**records.metadata, "sessionId": made, "startTime": timestamp(), "lastUpdated": timestamp()}
    lines = [head, *records.messages]
    sidecar = path.with_name(path.name + SIDECAR_SUFFIX)
    if sidecar.exists():
        append(copy.with_name(copy.name + SIDECAR_SUFFIX), sidecar.read_bytes())
    append(copy, "".join(wire.compact(line) + "\n" for line in lines).encode("utf-8", "surrogatepass"))
    return made


def rename(folder: Path, session_id: str, name: str) -> None:
    """Gives a session a name, where the CLI keeps its summary; also while a turn writes to it."""
    path, _ = find_session(folder, session_id)
    Recording(path).rename(name)


def delete(folder: Path, session_id: str) -> None:
    """Removes a session with all that is its own: its subagents' recordings, questions, plans, and what tools left."""
    path, records = find_session(folder, session_id)
    with Recording(path).alone():
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
    own = records.session_id
    owned = (path.parent / own, folder / own / "plans", folder / "tool-outputs" / f"session-{own}")
    for each in owned:
        shutil.rmtree(each, ignore_errors=True)


def _info(path: Path, records: SessionRecords) -> RecordedSession:
    said = [{"role": "user", "parts": _parts(each)} for each in records.messages if each.get("type") == "user"]
    texts = [each["text"] for each in clean_messages(said)]
    opening = next((text for text in texts if text), "")
    data = records.metadata
    return RecordedSession(
        records.session_id,
        str(data.get("summary") or ""),
        opening,
        str(data.get("startTime") or ""),
        str(data.get("lastUpdated") or ""),
        len(records.messages) - (len(said) - len(texts)),
        path,
    )


def _parts(message: dict[str, object]) -> list[dict[str, object]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"text": content}]
    return [part for part in content if is_object(part)] if is_list(content) else []

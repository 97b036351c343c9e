"""The conversations that the Gemini CLI has on this machine, read from the files in its `.gemini` folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio.to_thread

from farhand.disk.plain_files import open_plain
from farhand.drivers.gemini.launch import MANIFEST, GeminiPaths
from farhand.drivers.gemini.schema import words
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.model.history import HistoryPage
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.ports import SessionFound
from farhand.model.present import Worker
from farhand.model.words import Seq
from farhand.sdk.projects import MARKER, find_slug

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
TITLE_CHARACTERS = 120
MOST = 200
# As the CLI names its files.
MINUTE = "%Y-%m-%dT%H-%M"
_NAME = lazy_pattern(r"^session-(?P<minute>\d{4}-\d\d-\d\dT\d\d-\d\d)-(?P<start>[A-Za-z0-9_-]{1,8})\.jsonl?$")
_SUMMARY = lazy_pattern(rb'"summary":\s*("(?:[^"\\]|\\.)*")')
_SESSION = lazy_pattern(rb'"sessionId":\s*"([^"]+)"')
_KIND = lazy_pattern(rb'"kind":\s*"subagent"')


def folders(directory: str, home: Path) -> Iterator[tuple[str, Path]]:
    """The folders of the CLI's sessions for that directory, or for each there is, when it is empty."""
    if directory:
        slug = find_slug(Path(directory).resolve(), home)
        if slug:
            yield str(Path(directory).resolve()), home / "tmp" / slug / "chats"
        return
    for marker in sorted((home / "tmp").glob(f"*/{MARKER}")):
        try:
            yield marker.read_text("utf-8").strip(), marker.parent / "chats"
        except (OSError, UnicodeDecodeError):
            continue


def list_sessions(directory: str, home: Path) -> list[SessionFound]:
    """The sessions of a directory, newest first; of each file the beginning and the end are read, and no more."""
    files = [(owner, entry) for owner, folder in folders(directory, home) for entry in _entries(folder)]
    newest = sorted(files, key=lambda each: -each[1].stat().st_mtime)[:MOST]
    found: dict[str, SessionFound] = {}
    for owner, entry in newest:
        session = _described(owner, Path(entry.path), entry.stat().st_mtime)
        if session is not None:
            found.setdefault(session.id, session)
    return list(found.values())


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if _NAME.match(entry.name) and entry.is_file()]
    except OSError:
        return []


def _described(owner: str, path: Path, at: float) -> SessionFound | None:
    try:
        head, tail = _ends(path)
    except OSError:
        return None
    session = _SESSION.search(head)
    if session is None or _KIND.search(head[:4096]):
        return None
    first = first_words(head, whole=path.suffix == ".json")
    if not first:
        # Nobody has said anything in it.
        return None
    return SessionFound(id=session[1].decode(), directory=owner, title=_title(tail, first), at=at)


def _ends(path: Path) -> tuple[bytes, bytes]:
    with os.fdopen(open_plain(path), "rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return head, file.read(TAIL_BYTES)


def _title(tail: bytes, first: str) -> str:
    summaries = _SUMMARY.findall(tail)
    try:
        title = json.loads(summaries[-1]) if summaries else first
    except ValueError:
        title = first
    line = " ".join(str(title).split()) or first
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def first_words(head: bytes, *, whole: bool) -> str:
    """The first thing that a person said, as far as the beginning of the file shows. What was taken back is not."""
    for message in _whole_messages(head) if whole else _lines(head):
        text = words(message.any("content")).strip()
        if message.text("type") == "user" and text and not text.startswith(("/", "?")):
            return text
    return ""


def _lines(head: bytes) -> list[Fields]:
    messages: list[Fields] = []
    for line in head.split(b"\n"):
        record = parse(line)
        if record is None:
            continue
        if record.text("id"):
            messages.append(record)
        elif isinstance(record.fields("$set").any("messages"), list):
            messages = list(record.fields("$set").list("messages"))
    return messages


def _whole_messages(head: bytes) -> Iterator[Fields]:
    """The messages at the beginning of a file in one piece, which may be cut off anywhere."""
    text = head.decode("utf-8", "ignore")
    place = text.find("[", text.find('"messages"'))
    decoder = json.JSONDecoder()
    while 0 < place < len(text):
        start = text.find("{", place)
        try:
            message, place = decoder.raw_decode(text, start)
        except ValueError:
            return
        yield Fields(message)


def find_file(session: str, home: Path) -> Path | None:
    """The file of a session, known by its id and not by where the agent works.

    Of several, the newest in which somebody spoke: a session that is taken up leaves a file with nothing in it."""
    start = re.sub(r"[^A-Za-z0-9_-]", "_", session)[:8]
    found = [path for path in (home / "tmp").glob(f"*/chats/session-*-{start}.json*") if _NAME.match(path.name)]
    newest = sorted(found, key=lambda each: (each.suffix == ".jsonl", each.stat().st_mtime), reverse=True)
    ours = [path for path in newest if _is_of(path, session)]
    return next((path for path in ours if _is_spoken(path)), ours[0] if ours else None)


def _is_of(path: Path, session: str) -> bool:
    return _session_of(path) == session


def _session_of(path: Path) -> str:
    name = _SESSION.search(_head(path, 4096))
    return name[1].decode() if name is not None else ""


def _is_spoken(path: Path) -> bool:
    return bool(first_words(_head(path, HEAD_BYTES), whole=path.suffix == ".json"))


def _head(path: Path, size: int) -> bytes:
    """How the file begins; empty for one that cannot be read."""
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            return file.read(size)
    except OSError:
        return b""


def has_conversation(session: str, home: Path) -> bool:
    """Whether there is something to resume: the CLI refuses a session in which nobody spoke."""
    path = find_file(session, home) if session else None
    return path is not None and _is_spoken(path)


def session_to_start(session: str, home: Path) -> tuple[str, bool]:
    """The session to start with, and whether it is resumed.

    The CLI resumes none in which nobody spoke, and begins none that has a file: such a one is left for a new one."""
    if has_conversation(session, home):
        return session, True
    left = not session or find_file(session, home) is not None
    return str(uuid.uuid4()) if left else session, False


def remove_empty_twins(home: Path) -> None:
    """Removes the empty file that a session leaves beside its own when it is taken up in a later minute.

    When the CLI (0.61) starts, it removes sessions in which nobody spoke: with such a file it would remove every file
    of the same session, and with it the conversation.
    """
    files: dict[tuple[Path, str], list[Path]] = {}
    for path in (home / "tmp").glob("*/chats/session-*.json*"):
        if name := _NAME.match(path.name):
            files.setdefault((path.parent, name["start"]), []).append(path)
    for twins in files.values():
        spoken = {_session_of(path) for path in twins if len(twins) > 1 and _is_spoken(path)} - {""}
        for path in twins if spoken else ():
            if _session_of(path) in spoken and not _is_spoken(path):
                path.unlink(missing_ok=True)


def age(session: str, home: Path, minute: str) -> None:
    """Gives a session that began in this minute an older name.

    Over ACP the CLI (0.61) opens a new file before it loads the old one, and both would have the same name.
    """
    path = find_file(session, home)
    name = _NAME.match(path.name) if path is not None else None
    if path is None or name is None or name["minute"] < minute:
        return
    before = datetime.strptime(name["minute"], MINUTE).replace(tzinfo=UTC) - timedelta(minutes=1)
    older = path.with_name(f"session-{before.strftime(MINUTE)}-{name['start']}{path.suffix}")
    if not older.exists():
        path.rename(older)


class GeminiSessions:
    """Lists the sessions of a folder, and says how to go on with one at the desk."""

    places: GeminiPaths

    async def sessions(self, directory: str) -> list[SessionFound]:
        """The CLI's conversations of that folder, newest first; of every folder, when it is empty."""
        return await anyio.to_thread.run_sync(list_sessions, directory, self.places.kept)

    async def messages(self, session: SessionFound, before: Seq | None, limit: int) -> HistoryPage:
        """What was said in a conversation, a page of it."""
        # Its translation reads this module's files.
        from farhand.drivers.gemini.past import read_past

        return await anyio.to_thread.run_sync(read_past, self.places.kept, session, before, limit)

    def resume_command(self, worker: Worker) -> str:
        """What a person types to go on with the worker's session."""
        return f"cd {shlex.quote(worker.directory)} && {MANIFEST['program']} --resume {shlex.quote(worker.session)}"

"""Keeps what a real agent CLI wrote during a test, and tells how it differs from what was recorded of another version.

`make live` sets FARHAND_WITNESS; a test without it keeps nothing."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

FOLDER = "FARHAND_WITNESS"
LARGEST = 32 * 1024 * 1024
# Under these names a line tells more of its kind than its own type does.
NO_TYPE = "(no type)"
INNER = ("item", "payload", "event", "part", "message", "update", "params")


class Kind(msgspec.Struct, frozen=True):
    """One kind of line: every field that it ever had, and those that it always had."""

    fields: frozenset[str]
    always: frozenset[str]
    count: int = 1

    def and_(self, fields: frozenset[str]) -> Kind:
        """The kind after one more line of it."""
        return Kind(self.fields | fields, self.always & fields, self.count + 1)


Kinds = dict[str, Kind]


def keep(*places: Path) -> None:
    """Copies every file of JSON lines under these places to where they are wanted, if they are."""
    wanted = os.environ.get(FOLDER)
    if not wanted:
        return
    for file in (file for place in places for file in place.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.stat().st_size < LARGEST and _has_lines(file):
            shutil.copyfile(file, Path(wanted) / f"{uuid.uuid4().hex}.jsonl")


def _has_lines(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return record(opened.readline()) is not None
    except OSError:
        return False


def record(line: bytes) -> dict[str, Any] | None:
    """One JSON object; None for any other line."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    # A recording of both directions wraps each message with its time and its way.
    inside = found.get("msg")
    return inside if isinstance(inside, dict) and "dir" in found else found


def kind_of(line: Mapping[str, Any]) -> str:
    """What a line is called: its type and subtype, and the type of what is in it."""
    names = [line.get(name) for name in ("type", "subtype", "method", "hook_event_name")]
    inner = [
        part.get("type") or part.get("sessionUpdate") for name in INNER if isinstance(part := line.get(name), dict)
    ]
    told = [name for name in (*names, *inner) if isinstance(name, str)]
    marks = sorted(name for name in line if name.startswith("$"))
    return "/".join(told or marks) or NO_TYPE


def fields_of(line: Mapping[str, Any]) -> frozenset[str]:
    """The names of its fields, and of those inside of it that tell its kind."""
    inner = {f"{name}.{field}" for name in INNER if isinstance(part := line.get(name), dict) for field in part}
    return frozenset({*line, *inner})


def kinds_of(lines: Iterable[bytes]) -> Kinds:
    """Every kind of line there is."""
    found: Kinds = {}
    for line in (record(one) for one in lines):
        if line is not None:
            kind, fields = kind_of(line), fields_of(line)
            found[kind] = found[kind].and_(fields) if kind in found else Kind(fields, fields)
    return found


def merged(several: Iterable[Kinds]) -> Kinds:
    """The kinds of several files together."""
    whole: Kinds = {}
    for kinds in several:
        for name, kind in kinds.items():
            before = whole.get(name)
            whole[name] = (
                Kind(before.fields | kind.fields, before.always & kind.always, before.count + kind.count)
                if before
                else kind
            )
    return whole


def kinds_in(files: Iterable[Path]) -> list[Kinds]:
    """The kinds of each file."""
    return [kinds_of(file.read_bytes().splitlines()) for file in files]


def compared(recorded: Kinds, seen: Kinds) -> Iterator[str]:
    """What is new, what has changed, and what did not come up, a line each."""
    for name in sorted(seen.keys() - recorded.keys()):
        yield f"+ new kind      {name} ({seen[name].count} lines): {', '.join(sorted(seen[name].fields))}"
    for name in sorted(seen.keys() & recorded.keys()):
        added = sorted(seen[name].fields - recorded[name].fields)
        gone = sorted(recorded[name].always - seen[name].fields)
        if added:
            yield f"~ new fields    {name}: {', '.join(added)}"
        if gone:
            yield f"! fields gone   {name}: {', '.join(gone)}"
    for name in sorted(recorded.keys() - seen.keys()):
        yield f"- not seen now  {name}"


def report(recordings: Iterable[Path], witnessed: Iterable[Path]) -> list[str]:
    """How what was seen differs from what was recorded. Files in which nothing is known speak something else."""
    recorded = merged(kinds_in(recordings))
    seen = kinds_in(witnessed)
    ours = [kinds for kinds in seen if (kinds.keys() & recorded.keys()) - {NO_TYPE}]
    lines = list(compared(recorded, merged(ours)))
    lines.append(
        f"{len(recorded)} kinds recorded, {len(merged(ours))} seen in {len(ours)} files; "
        f"{len(seen) - len(ours)} files speak something else"
    )
    return lines

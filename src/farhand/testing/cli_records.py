"""Keeps what a real agent CLI wrote during a test: the files in its home, and what it printed.

`make live` sets FARHAND_WITNESS; a test without it keeps nothing."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

FOLDER = "FARHAND_WITNESS"
LARGEST = 32 * 1024 * 1024
NO_TYPE = "(no type)"
# Under these names a line tells more of its kind than its own type does.
INNER = ("item", "payload", "event", "part", "message", "update", "params")
# The program itself, and not a child of the shell; a screen is no lines.
PRINTED = """#!/bin/bash
if [ -t 1 ]; then exec "{program}" "$@"; fi
exec "{program}" "$@" > >(trap '' INT TERM; exec tee -a "{folder}/$$.jsonl")
"""


def keep(*places: Path) -> None:
    """Copies every file of JSON lines under these places to where they are wanted, if they are."""
    wanted = os.environ.get(FOLDER)
    if not wanted:
        return
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                # An agent that is not gone yet may take its files away under our eyes.
                with suppress(FileNotFoundError):
                    _keep(Path(folder) / name, Path(wanted))


def _keep(file: Path, wanted: Path) -> None:
    if not file.is_file() or file.is_symlink() or file.stat().st_size >= LARGEST:
        return
    with file.open("rb") as opened:
        has_lines = record(opened.readline()) is not None
    if has_lines:
        shutil.copyfile(file, wanted / f"{uuid.uuid4().hex}.jsonl")


def recorded_programs(programs: Path, name: str) -> Path:
    """Where to find that program so that what it prints is kept, if that is wanted; else where it was."""
    wanted = os.environ.get(FOLDER)
    if not wanted or not (programs / name).exists():
        return programs
    recorders = Path(wanted) / "programs"
    recorders.mkdir(exist_ok=True)
    # Another test may be about to run it: it is there whole, or not yet.
    fresh = recorders / f".{name}.{uuid.uuid4().hex}"
    fresh.write_text(PRINTED.format(program=programs / name, folder=wanted))
    fresh.chmod(0o755)
    fresh.replace(recorders / name)
    return recorders


# --- what a line is


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
    """What a line is called: its type and subtype, or its method, and the type of what is in it."""
    names = [line.get(name) for name in ("type", "subtype", "method", "hook_event_name")]
    inner = [
        part.get("type") or part.get("sessionUpdate") for name in INNER if isinstance(part := line.get(name), dict)
    ]
    texts = [name for name in (*names, *inner) if isinstance(name, str)]
    marks = sorted(name for name in line if name.startswith("$"))
    calls = "rpc " if isinstance(line.get("method"), str) else ""
    return calls + "/".join(texts or marks) if texts or marks else NO_TYPE


def fields_of(line: Mapping[str, Any]) -> dict[str, str]:
    """Its fields and those of the part that tells its kind, each with what it is."""
    found = {name: type_of(value) for name, value in line.items()}
    for name in INNER:
        if isinstance(part := line.get(name), dict):
            found |= {f"{name}.{field}": type_of(value) for field, value in part.items()}
    return found


def type_of(value: object) -> str:
    """What a value of JSON is."""
    known = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return known.get(type(value), "null")


class Kind(msgspec.Struct, frozen=True):
    """One kind of line: every field that it ever had, with what it was, and those that it always had."""

    fields: dict[str, tuple[str, ...]]
    always: tuple[str, ...]
    count: int = 1


Kinds = dict[str, Kind]


def kinds_of(lines: Iterable[bytes]) -> Kinds:
    """Every kind of line there is."""
    found = (line for one in lines if (line := record(one)) is not None)
    return merged({kind_of(line): _kind(fields_of(line))} for line in found)


def kinds_in(files: Iterable[Path]) -> list[Kinds]:
    """The kinds of each file."""
    return [kinds_of(file.read_bytes().splitlines()) for file in files if file.is_file()]


def merged(several: Iterable[Kinds]) -> Kinds:
    """All of them together."""
    whole: Kinds = {}
    for kinds in several:
        for name, kind in kinds.items():
            whole[name] = _both(whole[name], kind) if name in whole else kind
    return dict(sorted(whole.items()))


def _kind(fields: Mapping[str, str]) -> Kind:
    return Kind({name: (types,) for name, types in sorted(fields.items())}, tuple(sorted(fields)))


def _both(one: Kind, other: Kind) -> Kind:
    names = sorted({*one.fields, *other.fields})
    fields = {name: tuple(sorted({*one.fields.get(name, ()), *other.fields.get(name, ())})) for name in names}
    return Kind(fields, tuple(sorted({*one.always} & {*other.always})), one.count + other.count)

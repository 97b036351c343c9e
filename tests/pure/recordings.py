"""What the tests of every CLI's recordings share: one is translated, compared with its snapshot, and mutated."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

Translator = Callable[[bytes, Any], tuple[list[Any], Any]]
# The way to a field of a record, at any depth.
Place = tuple[Any, ...]
REMOVED = object()


def lines_of(path: Path) -> list[bytes]:
    """The lines of a recording."""
    return [line for line in path.read_bytes().splitlines() if line.strip()]


def hook_payloads(path: Path) -> list[bytes]:
    """What the CLI handed its hooks, without what the recorder put around it."""
    return [msgspec.json.encode(json.loads(line)["payload"]) for line in lines_of(path)]


def translated(records: Iterable[bytes], translator: Translator, state: Any) -> dict[str, Any]:
    """All that the records say, as plain data, and how many of them were skipped."""
    facts: list[Any] = []
    for record in records:
        heard, state = translator(record, state)
        facts += [json.loads(msgspec.json.encode(one)) for one in heard]
    return {"skipped": state.skipped, "facts": facts}


def same_as_snapshot(folder: Path, name: str, found: Any) -> bool:
    """Whether it is what it was; written anew when that is asked for."""
    snapshot = folder / "snapshots" / f"{name}.json"
    if os.environ.get("FARHAND_SNAPSHOTS") == "write":
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return bool(found == json.loads(snapshot.read_text("utf-8")))


def places(value: Any, path: Place = ()) -> list[Place]:
    """The way to every field of a record."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((*path, key), *places(inner, (*path, key)))]


def mutated(record: Any, place: Place, change: Any) -> Any:
    """The record with another value in that place, or, with `REMOVED`, without it. Only the way there is copied."""
    fresh = parent = copy.copy(record)
    for key in place[:-1]:
        parent[key] = copy.copy(parent[key])
        parent = parent[key]
    if change is REMOVED:
        del parent[place[-1]]
    else:
        parent[place[-1]] = change
    return fresh

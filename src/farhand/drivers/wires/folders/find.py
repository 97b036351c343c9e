"""What a folder's own settings give an agent: hooks, servers, permissions, all that is not known as harmless. Pure."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Final

from farhand.drivers.wires.asks.actions import compact_json
from farhand.model.words import Word

SHOWN_CHARACTERS: Final = 400
# A comment of JSON, or a string, in which nothing is a comment; and a comma with nothing behind it.
_COMMENTED: Final = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_SERVERS: Final = frozenset("mcpServers mcp_servers mcp".split())


class FolderReads(Word):
    """What an agent reads in the folder that it works in: patterns of files, by what they are."""

    # Settings, as JSON or TOML; what stands in them counts setting by setting.
    settings: tuple[str, ...] = ()
    # Settings that give nothing, by their first words: `model`, `permissions.deny`.
    harmless: tuple[str, ...] = ()
    # Files that run, or that tell the agent what it may run.
    code: tuple[str, ...] = ()


class Finding(Word):
    """One thing that counts or runs without a question once the agent is started there."""

    file: str
    words: str
    # Names it with all that it says: changed, it is another one.
    digest: str


def in_settings(file: str, content: bytes, harmless: Iterable[str]) -> list[Finding]:
    """What that file of settings gives; one that cannot be read counts as a whole."""
    try:
        read = _parsed(file, content.decode("utf-8"))
    except (ValueError, RecursionError):
        return [_finding(file, "settings that cannot be read here", hashlib.sha256(content).hexdigest())]
    known = tuple(harmless)
    return [
        _finding(file, words, value)
        for name, value in read.items()
        if not _is_empty(value)
        for words, value in _told(name, value, known)
    ]


def as_code(file: str, content: bytes) -> Finding:
    """A file that runs, or that tells the agent what it may run."""
    return _finding(file, "extends the agent", hashlib.sha256(content).hexdigest())


def unreadable(file: str, why: str) -> Finding:
    """Something that should be looked at and cannot be."""
    return _finding(file, f"cannot be looked at: {why}", why)


def _finding(file: str, words: str, value: object) -> Finding:
    exact = hashlib.sha256(compact_json([file, words, value]).encode()).hexdigest()
    short = words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS]}… ({len(words):,} characters)"
    return Finding(file=file, words=short, digest=exact)


def _parsed(file: str, text: str) -> dict[str, object]:
    if file.endswith(".toml"):
        return tomllib.loads(text)
    plain = _TRAILING.sub(lambda found: found[1] or "", _COMMENTED.sub(lambda found: found[1] or "", text))
    read = json.loads(plain or "{}")
    if not isinstance(read, dict):
        raise ValueError("no object")
    return read


def _told(name: str, value: object, harmless: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """A setting in words, with what it says: each hook and each server of its own, and parts that may be harmless."""
    if name in harmless:
        return
    if name == "hooks" and isinstance(value, dict):
        for event, hooks in value.items():
            yield f"hook at {event}: {', '.join(_commands(hooks)) or compact_json(hooks)}", hooks
    elif name in _SERVERS and isinstance(value, dict):
        for server, about in value.items():
            yield f"MCP server {server}: {', '.join(_commands(about)) or compact_json(about)}", about
    elif isinstance(value, dict) and any(one.startswith(f"{name}.") for one in harmless):
        for part, given in value.items():
            if f"{name}.{part}" not in harmless and not _is_empty(given):
                yield f"setting {name}.{part}: {compact_json(given)}", given
    else:
        yield f"setting {name}: {compact_json(value)}", value


def _commands(value: object) -> list[str]:
    """The commands and addresses in a hook or a server, with their arguments."""
    if isinstance(value, list):
        return [one for each in value for one in _commands(each)]
    if not isinstance(value, dict):
        return []
    given = value.get("args")
    arguments = [str(one) for one in given] if isinstance(given, list) else []
    found: list[str] = []
    for name in ("command", "url", "httpUrl"):
        said = value.get(name)
        if isinstance(said, str):
            found.append(" ".join((said, *arguments)))
        elif isinstance(said, list):
            found.append(" ".join(map(str, said)))
    return found + [one for each in value.values() if isinstance(each, dict | list) for one in _commands(each)]


def _is_empty(value: object) -> bool:
    return value in ({}, [], "", None)

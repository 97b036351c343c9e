"""What a folder's own settings give an agent: hooks, servers, permissions, all that is not known as harmless. Pure."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from farhand.drivers.wires.asks.actions import compact_json
from farhand.model.git_config import is_harmless, settings_of
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.visible import visible
from farhand.model.words import Word, replace

# So many stand before the whole, for the eye.
MOST_COMMANDS: Final = 5
# A comment of JSON, or a string, in which nothing is a comment; and a comma with nothing behind it.
_COMMENTED: Final = lazy_pattern(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING: Final = lazy_pattern(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
# A hundred names with dots between them, as no text has them.
_DEEP_KEY: Final = lazy_pattern(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
_SERVERS: Final = frozenset("mcpServers mcp_servers mcp".split())


class FolderReads(Word):
    """What an agent reads in the folder that it works in: patterns of files, by what they are."""

    # Settings, as JSON or TOML; what stands in them counts setting by setting.
    settings: tuple[str, ...] = ()
    # Settings that give nothing, by their first words: `model`, `permissions.deny`.
    harmless: tuple[str, ...] = ()
    # Files that run, or that tell the agent what it may run.
    code: tuple[str, ...] = ()
    # The same, of each folder below: the agent finds them where it reads a file beside them.
    below: tuple[str, ...] = ()


class Finding(Word):
    """One thing that counts or runs without a question once the agent is started there."""

    file: str
    words: str
    # Names it with all that it says: changed, it is another one.
    digest: str
    # Nobody could look into it.
    unseen: bool = False


def in_settings(file: str, content: bytes, harmless: Iterable[str]) -> list[Finding]:
    """What that file of settings gives; one that cannot be read counts as a whole."""
    known = tuple(harmless)
    try:
        return [
            _finding(file, words, value)
            for name, value in _parsed(file, content.decode("utf-8")).items()
            if not _is_empty(value)
            for words, value in _describe(name, value, known)
        ]
    except (ValueError, RecursionError):
        return [_finding(file, "settings that cannot be read here", hashlib.sha256(content).hexdigest())]


def in_git_settings(file: str, content: bytes, is_own: Callable[[str], bool]) -> list[Finding]:
    """What a repository's own configuration gives: programs that git would run, files that it would read.

    A working tree may be named where it is the repository's own."""
    try:
        read = settings_of(content.decode("utf-8"))
    except ValueError:
        return [_finding(file, "settings that cannot be read here", hashlib.sha256(content).hexdigest())]
    given = [(key, value) for key, value in read if not is_harmless(key, value)]
    return [
        _finding(file, f"setting {key}: {value}", value)
        for key, value in given
        if not (key == "core.worktree" and is_own(value))
    ]


def as_code(file: str, digest: str) -> Finding:
    """A file that runs, or that tells the agent what it may run."""
    return _finding(file, "extends the agent", digest)


def as_led_out(file: str, target: str) -> Finding:
    """Instructions that are read, and sent to the model, from somewhere else."""
    return _finding(file, f"a link; the agent reads and sends {target}", target)


def too_long(file: str, size: int, digest: str) -> Finding:
    """Settings of which there are too many to be shown."""
    return _finding(file, f"settings too long to be shown: {size:,} bytes", digest)


def unseen(file: str, why: str, mark: str) -> Finding:
    """Something that should be looked at and cannot be; the mark is another one when it was changed."""
    return replace(_finding(file, f"cannot be looked at: {why}", mark), unseen=True)


def one_line(text: str) -> str:
    """The text as it should be shown, its line ends spelled out: nothing passes for a line of its own."""
    return visible(text.replace("\n", "‹U+000A›"))


def _finding(file: str, words: str, value: object) -> Finding:
    return Finding(file=file, words=words, digest=hashlib.sha256(_json([file, words, value]).encode()).hexdigest())


def _json(value: object) -> str:
    """As JSON on one line; what is no character (half of one, a byte of a file's name) by its number."""
    try:
        return compact_json(value)
    except (UnicodeEncodeError, TypeError):
        return json.dumps(value, default=str)


def _parsed(file: str, text: str) -> dict[str, object]:
    if file.endswith(".toml"):
        if _DEEP_KEY.search(text):
            # Each part of it is a table: what reads it would take memory by the square of their number.
            raise ValueError("a key of too many parts")
        return tomllib.loads(text)
    plain = _TRAILING.sub(lambda found: found[1] or "", _COMMENTED.sub(lambda found: found[1] or "", text))
    read = json.loads(plain or "{}")
    if not isinstance(read, dict):
        raise ValueError("no object")
    return read


def _describe(name: str, value: object, harmless: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """A setting in words, with what it says: each hook and each server of its own, and parts that may be harmless."""
    if name in harmless:
        return
    if name == "hooks" and isinstance(value, dict):
        for event, hooks in value.items():
            yield f"hook at {event}: {_whole(hooks)}", hooks
    elif name in _SERVERS and isinstance(value, dict):
        for server, about in value.items():
            yield f"MCP server {server}: {_whole(about)}", about
    elif isinstance(value, dict) and any(one.startswith(f"{name}.") for one in harmless):
        for part, given in value.items():
            if f"{name}.{part}" not in harmless and not _is_empty(given):
                yield f"setting {name}.{part}: {_json(given)}", given
    else:
        yield f"setting {name}: {_json(value)}", value


def _whole(value: object) -> str:
    """The commands first, then all that there is: variables, helpers and prompts run as well."""
    return " ".join((*_commands(value)[:MOST_COMMANDS], _json(value)))


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

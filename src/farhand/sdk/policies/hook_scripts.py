"""Knows the files that hooks, tool servers and tasks name: whoever changes one changes what runs without a question.

It reads what configures them as text, whatever its form, and takes every word in it that could be a path for one. What
a script reads or runs in turn is not followed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from farhand.model.lazy_pattern import lazy_pattern

LARGEST_CHARACTERS = 256 * 1024
LONGEST_PATH = 300
MOST_FILES = 200
MOST_FOLDERS = 20
# A folder that was changed less than this ago may be changed again without another time of change.
SETTLED_NANOSECONDS = 1_000_000_000
# With more, or with a longer file, every file counts as named.
MOST_WORDS = 5000
# Where commands are named that run without a question, in a folder and in the person's home.
_FILES: dict[str, frozenset[str]] = {
    folder: frozenset(names.split())
    for folder, names in {
        "": ".mcp.json opencode.json opencode.jsonc .envrc .pre-commit-config.yaml lefthook.yml lefthook.yaml"
        " .lintstagedrc .lintstagedrc.json",
        ".claude": "settings.json settings.local.json",
        ".gemini": "settings.json",
        ".codex": "config.toml hooks.json",
        ".opencode": "opencode.json opencode.jsonc",
        ".cursor": "mcp.json hooks.json",
        ".vscode": "mcp.json tasks.json",
        ".devcontainer": "devcontainer.json",
        ".git": "config",
        # Everything in these runs by itself, and may name more.
        ".husky": "",
        ".git/hooks": "",
        ".claude/hooks": "",
        ".gemini/hooks": "",
        ".codex/hooks": "",
        ".cursor/hooks": "",
    }.items()
}
_HOME_FILES: dict[str, frozenset[str]] = {
    ".claude": _FILES[".claude"],
    ".gemini": _FILES[".gemini"],
    ".codex": _FILES[".codex"],
    ".config/opencode": _FILES[".opencode"],
}
# They run what the scripts in package.json say.
_RUNS_SCRIPTS = lazy_pattern(r"\b(?:npm|npx|pnpm|yarn|bun|lint-staged)\b")
_PACKAGE = "package.json"
_GIT_CONFIG = "/.git/config"
_ESCAPED = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_BLANKS = {"n": " ", "t": " ", "r": " "}
_VARIABLE = lazy_pattern(r"\$\{[^}\n]{0,200}\}|\$\w+|\$\([^)\n]{0,200}\)|%\w{1,100}%")
_APART = lazy_pattern(r"[\s;|&<>()\[\]{},=:`!]+")
_QUOTED = (lazy_pattern(r"\"([^\"\n]{1,300})\""), lazy_pattern(r"'([^'\n]{1,300})'"))
# All that lies in the folder behind these runs.
_RUN_WHOLE = lazy_pattern(r"(?i:hookspath)[\s\"':=]+([^\s\"',]+)|run-parts((?:\s+[^\s\"';|&]+)+)")
# What an interpreter is given may be a folder, a module, or a file without its suffix.
_RUN = lazy_pattern(
    r"\b(?:python[\d.]*|node|bun|deno|tsx|ts-node|uv)\b[\s\"',:\[\]]+"
    r"(?:(?:args|run|-(?!m\b)[\w-]+)[\s\"',:\[\]]+)*(-m[\s\"',]+)?([\w./-]+)"
)
# Words with a star are, as a rule, filters; these are lists of scripts.
_SCRIPTS = lazy_pattern(r"[^*?]*/[^/]*[*?][^/]*\.(?:sh|bash|zsh)")
# Of a repository's configuration, what names a program.
_GIT_PROGRAM = lazy_pattern(
    r"(?im)^.*\b(?:hookspath|fsmonitor|sshcommand|pager|editor|textconv|command|clean|smudge|process|external|program"
    r"|driver|askpass|helper)\s*=.*$|^.*=\s*!.*$"
)
_RUN_WITHOUT_SUFFIX = frozenset({".js", ".cjs", ".mjs", ".ts", ".py", ".sh"})
_RUN_FOR_FOLDER = frozenset({"__main__.py", "__init__.py", "index.js", "index.cjs", "index.mjs", "index.ts"})


@dataclass(frozen=True, slots=True)
class _Named:
    """The paths that are named, followed through links, and patterns of such."""

    marks: tuple[object, ...]
    paths: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    # Folders, modules and files without their suffix.
    run: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _FolderNames:
    """The names in a folder, as they were at that time of its last change."""

    mark: tuple[int, int]
    names: frozenset[str]


_known: dict[str, _Named] = {}
_listings: dict[str, _FolderNames] = {}


def is_hook_script(paths: Iterable[str], root: str) -> bool:
    """Whether something that runs without a question in that folder names one of these; all are real paths."""
    named = _named(root)
    return any(_is_named(path, named) for path in paths)


def _is_named(path: str, named: _Named) -> bool:
    stem, suffix = os.path.splitext(path)  # noqa: PTH122 - strings all the way
    folder, name = os.path.split(path)
    return (
        path in named.paths
        or (suffix in _RUN_WITHOUT_SUFFIX and stem in named.run)
        or (name in _RUN_FOR_FOLDER and folder in named.run)
        or any(fnmatchcase(path, pattern) for pattern in named.patterns)
    )


def _named(root: str) -> _Named:
    """What is named there. The files are read again when one of them changed."""
    files = [*_files(root, _FILES), *_files(os.path.expanduser("~"), _HOME_FILES)]  # noqa: PTH111
    marks = tuple((file, _mark(file)) for file in (*files, f"{root}/{_PACKAGE}"))
    known = _known.get(root)
    if known is None or known.marks != marks:
        if len(_known) > MOST_FOLDERS:
            _known.clear()
        known = _known[root] = _read(root, files, marks)
    return known


def _files(root: str, wanted: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Those of the files that are there; a folder in which nothing came or went is not listed again."""
    for folder, names in wanted.items():
        place = f"{root}/{folder}" if folder else root
        there = _names_in(place)
        # No names means all of them.
        found = names & there if names else sorted(there)[:MOST_FILES]
        yield from (f"{place}/{name}" for name in found if not name.endswith(".sample"))


def _names_in(folder: str) -> frozenset[str]:
    try:
        about = os.stat(folder)  # noqa: PTH116
        mark = (about.st_ino, about.st_ctime_ns)
        known = _listings.get(folder)
        if known is not None and known.mark == mark:
            return known.names
        names = frozenset(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()
    if len(_listings) > 20 * MOST_FOLDERS:
        _listings.clear()
    if time.time_ns() - about.st_ctime_ns > SETTLED_NANOSECONDS:
        _listings[folder] = _FolderNames(mark, names)
    return names


def _mark(file: str) -> tuple[int, int, int] | None:
    try:
        about = os.stat(file)  # noqa: PTH116
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_ctime_ns


def _read(root: str, files: list[str], marks: tuple[object, ...]) -> _Named:
    texts = [_text(file) for file in files]
    if any(_RUNS_SCRIPTS.search(text) for text in texts):
        texts.append(_text(f"{root}/{_PACKAGE}"))
    if any(len(text) > LARGEST_CHARACTERS for text in texts):
        return _Named(marks, patterns=("*",))
    said = [one for text in texts for one in _said(text)]
    words = {word for one in said for word in _words(one)}
    if len(words) > MOST_WORDS:
        return _Named(marks, patterns=("*",))
    paths = {os.path.realpath(os.path.join(root, word)) for word in words} - {root}  # noqa: PTH118
    # A command may go into a folder first.
    folders = sorted(one for one in paths if one.startswith(root + os.sep) and os.path.isdir(one))[:MOST_FOLDERS]  # noqa: PTH112
    below = {os.path.normpath(f"{folder}/{word}") for folder in folders for word in words}
    linked = {os.path.realpath(one) for one in below if os.path.lexists(one)}
    places = (root, *folders)
    scripts = {word for word in words if _SCRIPTS.fullmatch(word)} | {one for text in said for one in _whole(text)}
    run = {one for text in said for one in _run(text)}
    return _Named(
        marks,
        frozenset(paths | below | linked),
        tuple(sorted({os.path.normpath(f"{place}/{one}") for place in places for one in scripts})),
        frozenset(os.path.realpath(os.path.join(place, one)) for place in places for one in run) - {root},  # noqa: PTH118
    )


def _text(file: str) -> str:
    """What stands in an ordinary file; of one that is too long more than is looked at."""
    if not os.path.isfile(file):  # noqa: PTH113
        return ""
    try:
        with open(file, encoding="utf-8", errors="replace") as content:  # noqa: PTH123
            text = content.read(LARGEST_CHARACTERS + 1)
    except OSError:
        return ""
    return "\n".join(found[0] for found in _GIT_PROGRAM.finditer(text)) if file.endswith(_GIT_CONFIG) else text


def _said(text: str) -> Iterator[str]:
    """The text as it is, and with its escapes resolved; a variable is, as a rule, the folder itself."""
    yield from {_VARIABLE.sub(".", text), _VARIABLE.sub(".", _ESCAPED.sub(_unescaped, text))}


def _words(text: str) -> Iterator[str]:
    """Everything in a text that could be a path: words as a shell takes them, and whole strings."""
    quoted = [found[1] for quotes in _QUOTED for found in quotes.finditer(text)]
    for word in (*_APART.split(text), *quoted):
        bare = word.strip().replace('"', "").replace("'", "").replace("\\", "")
        if bare and "\0" not in bare and set(bare) != {"."} and len(bare) <= LONGEST_PATH:
            yield bare


def _whole(text: str) -> Iterator[str]:
    """All that lies in folders that are run whole, as patterns."""
    for found in _RUN_WHOLE.finditer(text):
        yield from (f"{one}/*" for one in (found[1] or found[2]).split())


def _run(text: str) -> Iterator[str]:
    """What interpreters are given, modules as paths."""
    for found in _RUN.finditer(text.replace('\\"', '"')):
        yield found[2].replace(".", "/") if found[1] else found[2]


def _unescaped(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3]
    if number is None:
        return _BLANKS.get(found[4], found[4])
    return chr(int(number, 16)) if int(number, 16) < 0x110000 else ""

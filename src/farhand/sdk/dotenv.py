"""Reads `.env` files as the Gemini CLI does: the nearest one wins, and what the environment already has stays."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from farhand.model.lazy_pattern import lazy_pattern

EXCLUDED_FROM_PROJECTS = ("DEBUG", "DEBUG_MODE")
_LINE = lazy_pattern(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*
    (?: '(?P<single>(?:\\'|[^'])*)' | "(?P<double>(?:\\"|[^"])*)" | `(?P<back>(?:\\`|[^`])*)` | (?P<bare>[^\r\n#]*) )
    [ \t]*(?:\#[^\r\n]*)?$""",
    re.MULTILINE | re.VERBOSE,
)


def parse_dotenv(text: str) -> dict[str, str]:
    """The variables of one file. Quotes may span lines, a later line wins, what is no assignment is skipped."""
    found: dict[str, str] = {}
    for match in _LINE.finditer(text.replace("\r\n", "\n")):
        found[match["name"]] = _value(match)
    return found


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of a file; none when it cannot be read."""
    try:
        return parse_dotenv(path.read_text("utf-8", errors="replace"))
    except OSError:
        return {}


def _value(match: re.Match[str]) -> str:
    if (double := match["double"]) is not None:
        return double.replace("\\n", "\n").replace("\\r", "\r").replace('\\"', '"')
    for kind in ("single", "back"):
        if (quoted := match[kind]) is not None:
            return quoted
    return (match["bare"] or "").strip()


def find_dotenv(cwd: Path, home: Path, *, trusted: bool = True) -> Path | None:
    """The one file to load: `.gemini/.env` before `.env`, from a trusted folder upwards, then at home."""
    for folder in _folders(cwd, trusted=trusted):
        for candidate in (folder / ".gemini" / ".env", folder / ".env"):
            if candidate.is_file():
                return candidate
    for candidate in (home / ".gemini" / ".env", home / ".env"):
        if candidate.is_file():
            return candidate
    return None


def _folders(cwd: Path, *, trusted: bool) -> Iterator[Path]:
    if trusted:
        yield cwd
        yield from cwd.parents


def with_dotenv(
    environ: Mapping[str, str],
    path: Path | None,
    *,
    excluded: Collection[str] = EXCLUDED_FROM_PROJECTS,
) -> dict[str, str]:
    """The environment with the file's variables added; a variable that is set already is never replaced."""
    merged = dict(environ)
    if path is None:
        return merged
    # A project's own .env often carries DEBUG for the project itself; one under .gemini is meant for the agent.
    skipped = () if path.parent.name == ".gemini" else excluded
    for name, value in parse_dotenv(path.read_text("utf-8", errors="replace")).items():
        if name not in skipped:
            merged.setdefault(name, value)
    return merged

"""The built-in tools that find files and text: glob and grep_search."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from farhand.sdk.context import LiveContext, live
from farhand.sdk.ignore import IgnoreRules, walk
from farhand.sdk.protocols import SessionContext, ToolResult
from farhand.sdk.shell import finished
from farhand.sdk.shell_process import Limits, RunningCommand
from farhand.sdk.tools.files import path_in, rules_for
from farhand.sdk.tools.patterns import glob_matcher
from farhand.sdk.tools.result import ToolError
from farhand.sdk.workspace import OutsideWorkspace

MOST_MATCHES = 100
MOST_FILES = 1000
SEARCH_SECONDS = 60.0
RECENT_SECONDS = 24 * 3600.0
_SCRIPT = str(Path(__file__).with_name("search_process.py"))


def glob(
    context: SessionContext,
    pattern: Annotated[str, "A glob pattern such as **/*.py or src/**/*.{ts,tsx}."],
    dir_path: Annotated[str | None, "The folder to search; the workspace when left out."] = None,
    case_sensitive: Annotated[bool, "Whether capitals count."] = False,
    respect_git_ignore: Annotated[bool, "Leave out what .gitignore names."] = True,
    respect_gemini_ignore: Annotated[bool, "Leave out what .geminiignore names."] = True,
) -> ToolResult:
    """Finds files by name. Those changed within a day come first, newest first; the others by name."""
    own = live(context)
    root = _folder(context, dir_path)
    rules = rules_for(own, {"respect_git_ignore": respect_git_ignore, "respect_gemini_ignore": respect_gemini_ignore})
    if not pattern.strip():
        raise ToolError("The pattern is empty.")
    matcher = glob_matcher(_relative(pattern, root), case_sensitive=case_sensitive)
    found = [path for path in walk(root, rules) if matcher.match(path.relative_to(root).as_posix())]
    shown = _place(own, root)
    if not found:
        return ToolResult(content=f"No file in {shown} matches {pattern!r}.", display="No file found.")
    ordered = _newest_first(found, time.time())
    more = f"\n... and {len(ordered) - MOST_FILES} more" if len(ordered) > MOST_FILES else ""
    listing = "\n".join(str(path) for path in ordered[:MOST_FILES])
    summary = f"Found {len(found)} {'file' if len(found) == 1 else 'files'} in {shown} for {pattern!r}"
    return ToolResult(content=f"{summary}:\n{listing}{more}", display=f"{summary}.")


def _folder(context: SessionContext, dir_path: str | None) -> Path:
    root = path_in(context, dir_path or ".")
    if not root.is_dir():
        raise ToolError(f"{dir_path} is no folder.")
    return root


def _place(context: LiveContext, root: Path) -> str:
    return "the workspace" if root == context.workspace.cwd else context.workspace.shown(root)


def _relative(pattern: str, root: Path) -> str:
    return pattern.removeprefix(f"{root}/")


def _newest_first(paths: list[Path], now: float) -> list[Path]:
    def rank(path: Path) -> tuple[bool, float, str]:
        try:
            changed = path.stat().st_mtime
        except OSError:
            changed = 0.0
        recent = now - changed < RECENT_SECONDS
        return (not recent, -changed if recent else 0.0, str(path))

    return sorted(paths, key=rank)


async def grep_search(
    session: SessionContext,
    pattern: Annotated[str, "The regular expression to look for, line by line."],
    dir_path: Annotated[str | None, "The folder, or one file, to search; the workspace when left out."] = None,
    include_pattern: Annotated[str | None, "Only files that match this glob pattern, such as *.py."] = None,
    exclude_pattern: Annotated[str | None, "A regular expression; lines that match it too are left out."] = None,
    names_only: Annotated[bool, "Tell the files alone, without lines."] = False,
    max_matches_per_file: Annotated[int | None, "At most this many matches a file."] = None,
    total_max_matches: Annotated[int, "At most this many matches in all."] = MOST_MATCHES,
    case_sensitive: Annotated[bool, "Whether capitals count."] = False,
    fixed_strings: Annotated[bool, "Take the pattern for plain text."] = False,
    context: Annotated[int, "Lines to show around each match."] = 0,
    after: Annotated[int, "Lines to show after each match."] = 0,
    before: Annotated[int, "Lines to show before each match."] = 0,
    no_ignore: Annotated[bool, "Search ignored files too."] = False,
) -> ToolResult:
    """Finds text in the files of a folder by a regular expression. Ignored and binary files are left out."""
    import anyio.to_thread

    own = live(session)
    root = path_in(session, dir_path or ".")
    expression = re.escape(pattern) if fixed_strings else pattern
    _check(expression, "pattern")
    if exclude_pattern:
        _check(exclude_pattern, "exclude_pattern")
    rules = None if no_ignore else rules_for(own)
    files = await anyio.to_thread.run_sync(_candidates, own, root, rules, include_pattern)
    request = {
        "pattern": expression,
        "exclude": exclude_pattern,
        "files": files,
        "case_sensitive": case_sensitive,
        "names_only": names_only,
        "per_file": max(0, max_matches_per_file or 0),
        "total": max(1, total_max_matches),
        "before": max(0, before, context),
        "after": max(0, after, context),
    }
    found, ended_early = await _searched(request, own.cwd)
    return _report(own, found, pattern, _place(own, root), names_only=names_only, ended_early=ended_early)


def _check(expression: str, name: str) -> None:
    try:
        re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError(f"{name} is no regular expression: {error}") from error


def _candidates(context: LiveContext, root: Path, rules: IgnoreRules | None, include: str | None) -> list[str]:
    if root.is_file():
        return [str(root)]
    if not root.is_dir():
        raise ToolError(f"There is no folder {context.workspace.shown(root)}.")
    # A pattern without a slash names files at any depth.
    wanted = glob_matcher(include if "/" in include else f"**/{include}") if include else None
    return [
        str(path)
        for path in walk(root, rules)
        if (wanted is None or wanted.match(path.relative_to(root).as_posix())) and _stays_inside(context, path)
    ]


def _stays_inside(context: LiveContext, path: Path) -> bool:
    if not path.is_symlink():
        return True
    try:
        context.workspace.resolve(str(path))
    except OutsideWorkspace:
        return False
    return True


async def _searched(request: dict[str, Any], cwd: str) -> tuple[list[dict[str, Any]], bool]:
    command = RunningCommand(
        [sys.executable, "-I", "-S", _SCRIPT],
        cwd=cwd,
        env={"PYTHONIOENCODING": "utf-8"},
        limits=Limits(timeout_seconds=SEARCH_SECONDS, grace_seconds=0.5),
        text=json.dumps(request),
    )
    result = await finished(command)
    if result.exit_code != 0 and not result.timed_out:
        raise ToolError(f"The search failed: {result.stderr.strip()[-500:]}")
    found: list[Any] = []
    for line in result.stdout.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found, result.timed_out


def _report(
    context: LiveContext,
    found: list[dict[str, Any]],
    pattern: str,
    shown: str,
    *,
    names_only: bool,
    ended_early: bool,
) -> ToolResult:
    files = [entry for entry in found if "file" in entry]
    note = f"\nThe search took longer than {SEARCH_SECONDS:g} seconds and is not complete." if ended_early else ""
    if len(files) < len(found):
        note += "\nThere are more; raise total_max_matches or search a smaller folder."
    if not files:
        return ToolResult(content=f"No match for {pattern!r} in {shown}.{note}", display=f"No match.{note}")
    count = sum(entry["count"] for entry in files)
    summary = f"Found {count} {'match' if count == 1 else 'matches'} for {pattern!r} in {shown}"
    if names_only:
        names = "\n".join(_name(context, entry) for entry in files)
        return ToolResult(content=f"{summary}:\n{names}{note}", display=f"{summary}.{note}")
    blocks = [
        f"File: {_name(context, entry)}\n" + "\n".join(_line(*line) for line in entry["lines"]) for entry in files
    ]
    body = "\n---\n".join(blocks)
    return ToolResult(content=f"{summary}:\n---\n{body}\n---{note}", display=f"{summary}.{note}")


def _name(context: LiveContext, entry: dict[str, Any]) -> str:
    return context.workspace.shown(Path(entry["file"]))


def _line(number: int, text: str, hit: bool) -> str:
    return f"L{number}{':' if hit else '-'} {text}"

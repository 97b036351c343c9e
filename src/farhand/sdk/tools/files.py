"""The built-in tools that read and write files: read_file, write_file, replace, list_directory, read_many_files."""

from __future__ import annotations

import base64
import dataclasses
import difflib
import fnmatch
import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypedDict

from farhand.sdk.context import LiveContext, live
from farhand.sdk.ignore import IgnoreRules, walk
from farhand.sdk.protocols import Part, SessionContext, ToolResult
from farhand.sdk.tools.patterns import glob_matcher
from farhand.sdk.tools.replace_text import NoMatch, replaced, with_line_ends
from farhand.sdk.tools.result import ToolError
from farhand.sdk.workspace import OutsideWorkspace, read_text, write_text

MOST_LINES = 2000
LONGEST_LINE = 2000
LARGEST_MEDIA_BYTES = 20 * 1024 * 1024
LARGEST_TOGETHER_CHARACTERS = 2_000_000
_MEDIA = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp", "application/pdf", "audio/", "video/")
_DEFAULT_EXCLUDES = (
    "**/node_modules/**",
    "**/.git/**",
    "**/__pycache__/**",
    "**/.venv/**",
    "**/dist/**",
    "**/build/**",
    "**/*.{pyc,so,dll,exe,class,jar,zip,tar,gz,bz2,7z,bin,o,lock}",
)


class FileFilteringOptions(TypedDict, total=False):
    """Which ignore files count for this call."""

    respect_git_ignore: Annotated[bool, "Leave out what .gitignore names. True unless set."]
    respect_gemini_ignore: Annotated[bool, "Leave out what .geminiignore names. True unless set."]


def path_in(context: SessionContext, path: str, *, to_write: bool = False) -> Path:
    """The real path behind a name, or an error that the model can act on."""
    try:
        return live(context).workspace.resolve(path, to_write=to_write)
    except OutsideWorkspace as error:
        raise ToolError(str(error)) from error


def rules_for(context: LiveContext, options: FileFilteringOptions | None = None) -> IgnoreRules:
    """The ignore rules that a call is under."""
    chosen = options or {}
    return context.workspace.rules(
        context.settings, git=chosen.get("respect_git_ignore"), gemini=chosen.get("respect_gemini_ignore")
    )


def with_memory(context: SessionContext, result: ToolResult, *paths: Path) -> ToolResult:
    """A result with the memory of the sub-folders that were touched for the first time."""
    text = live(context).discovered_memory(*paths)
    if not text:
        return result
    added = f"\n\n--- Newly Discovered Project Context ---\n{text}\n--- End Project Context ---"
    content = result.content
    return dataclasses.replace(
        result, content=content + added if isinstance(content, str) else [*content, {"text": added}]
    )


def read_file(
    context: SessionContext,
    file_path: Annotated[str, "The file, relative to the workspace or absolute."],
    start_line: Annotated[int | None, "The first line to read, counted from 1."] = None,
    end_line: Annotated[int | None, "The last line to read, itself included."] = None,
) -> ToolResult:
    """Reads a file of the workspace: text (up to 2000 lines a call), images, PDFs, audio and video.

    A longer text comes with the line at which to go on.
    """
    own = live(context)
    path = path_in(context, file_path)
    if start_line is not None and start_line < 1:
        raise ToolError("start_line counts from 1.")
    if end_line is not None and end_line < (start_line or 1):
        raise ToolError("end_line lies before start_line.")
    if path.is_dir():
        raise ToolError(f"{file_path} is a folder; list_directory shows what is in it.")
    if not path.is_file():
        raise ToolError(f"There is no file {file_path}.")
    if path.is_relative_to(own.workspace.cwd) and rules_for(own).ignores(path):
        raise ToolError(f"{file_path} is ignored by .gitignore or .geminiignore.")
    shown = own.workspace.shown(path)
    if (media := media_part(path)) is not None:
        return with_memory(context, ToolResult(content=[media], display=f"Read {shown}"), path)
    text, note = _lines_of(path, shown, start_line or 1, end_line)
    return with_memory(context, ToolResult(content=note + text, display=note.strip() or f"Read {shown}"), path)


def media_part(path: Path) -> Part | None:
    """A file that models see or hear, as a part; None for anything else."""
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith(_MEDIA):
        return None
    if path.stat().st_size > LARGEST_MEDIA_BYTES:
        raise ToolError(f"{path.name} is larger than {LARGEST_MEDIA_BYTES // 1024 // 1024} MB.")
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(path.read_bytes()).decode()}}


def is_binary(path: Path) -> bool:
    """Whether a file's beginning holds a NUL byte outside of UTF-16."""
    with path.open("rb") as file:
        start = file.read(8192)
    return b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff"))


def _lines_of(path: Path, shown: str, first: int, last: int | None) -> tuple[str, str]:
    if is_binary(path):
        raise ToolError(f"{shown} is a binary file of {path.stat().st_size} bytes; it has no text to read.")
    limit = MOST_LINES if last is None else min(MOST_LINES, last - first + 1)
    kept: list[str] = []
    total, cut = 0, False
    for total, line in enumerate(_text_lines(path), start=1):
        if first <= total < first + limit:
            kept.append(line[:LONGEST_LINE] + "... [line cut]\n" if len(line) > LONGEST_LINE else line)
            cut = cut or len(line) > LONGEST_LINE
    if first > max(total, 1):
        raise ToolError(f"{shown} has {total} lines; there is no line {first}.")
    end = first + len(kept) - 1
    if not cut and end >= (total if last is None else min(last, total)):
        return "".join(kept), ""
    more = f" Go on with start_line {end + 1}." if end < total else ""
    return "".join(kept), f"[Lines {first} to {end} of {total} of {shown}.{more}]\n"


def _text_lines(path: Path) -> Iterator[str]:
    encoding = "utf-8-sig"
    with path.open("rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
    with path.open("r", encoding=encoding, errors="replace", newline="") as text:
        while line := text.readline(1_000_000):
            yield line


def write_file(
    context: SessionContext,
    file_path: Annotated[str, "The file to write, relative to the workspace or absolute."],
    content: Annotated[str, "The whole new text of the file."],
) -> ToolResult:
    """Writes a file whole, making it and its folders when they are missing. What was in it before is gone."""
    path = path_in(context, file_path, to_write=True)
    if path.is_dir():
        raise ToolError(f"{file_path} is a folder; name a file.")
    old = read_text(path)
    if old is not None and "\r\n" in old:
        content = with_line_ends(content, "\r\n")
    write_text(path, content)
    shown = live(context).workspace.shown(path)
    verb = "Created" if old is None else "Overwrote"
    result = ToolResult(content=f"{verb} {shown}.", display=_difference(old or "", content, shown))
    return with_memory(context, result, path)


def replace(
    context: SessionContext,
    file_path: Annotated[str, "The file to change, relative to the workspace or absolute."],
    instruction: Annotated[str, "What the change is for, in a sentence."],  # noqa: ARG001
    old_string: Annotated[
        str, "The exact text to replace, with enough lines around it to be unique. Empty makes a new file."
    ],
    new_string: Annotated[str, "The text that takes its place."],
    allow_multiple: Annotated[bool, "Replace every occurrence, not just one."] = False,
) -> ToolResult:
    """Replaces text within a file. The old text has to occur exactly once, unless allow_multiple is set."""
    path = path_in(context, file_path, to_write=True)
    shown = live(context).workspace.shown(path)
    old = read_text(path)
    if old is None:
        if old_string:
            raise ToolError(f"There is no file {file_path}. An empty old_string makes a new one.")
        write_text(path, new_string)
        return ToolResult(content=f"Created {shown}.", display=_difference("", new_string, shown))
    try:
        new, count = replaced(old, old_string, new_string, allow_multiple=allow_multiple)
    except NoMatch as error:
        raise ToolError(f"{shown} was not changed: {error}") from error
    write_text(path, new)
    times = "1 place" if count == 1 else f"{count} places"
    result = ToolResult(content=f"Changed {shown} in {times}.", display=_difference(old, new, shown))
    return with_memory(context, result, path)


def _difference(old: str, new: str, shown: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{shown}", f"b/{shown}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def list_directory(
    context: SessionContext,
    dir_path: Annotated[str, "The folder, relative to the workspace or absolute."],
    ignore: Annotated[list[str] | None, "Names to leave out, as glob patterns."] = None,
    file_filtering_options: FileFilteringOptions | None = None,
) -> ToolResult:
    """Lists what is directly in a folder: folders first, then files with their sizes."""
    own = live(context)
    path = path_in(context, dir_path)
    if not path.is_dir():
        raise ToolError(f"{dir_path} is no folder.")
    rules = rules_for(own, file_filtering_options)
    entries: list[str] = []
    left_out = 0
    for entry in sorted(path.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name)):
        if any(fnmatch.fnmatch(entry.name, pattern) for pattern in ignore or ()):
            continue
        if rules.ignores(entry, is_folder=entry.is_dir()):
            left_out += 1
            continue
        entries.append(_entry(entry))
    shown = own.workspace.shown(path)
    note = f"\n({left_out} ignored)" if left_out else ""
    if not entries:
        return ToolResult(content=f"{shown} is empty.{note}", display=f"{shown} is empty.{note}")
    listing = "\n".join(entries)
    result = ToolResult(content=f"In {shown}:\n{listing}{note}", display=f"Listed {len(entries)} entries of {shown}.")
    return with_memory(context, result, path)


def _entry(path: Path) -> str:
    if path.is_dir():
        return f"[DIR] {path.name}"
    try:
        return f"{path.name} ({path.stat().st_size} bytes)"
    except OSError:
        return f"{path.name} (a link that leads nowhere)"


def read_many_files(
    context: SessionContext,
    include: Annotated[list[str], "Paths and glob patterns, relative to the workspace, such as src/**/*.py."],
    exclude: Annotated[list[str] | None, "Glob patterns to leave out."] = None,
    recursive: Annotated[bool, "Whether patterns reach into folders of folders."] = True,
    useDefaultExcludes: Annotated[bool, "Leave out dependencies, build output and archives."] = True,  # noqa: N803
    file_filtering_options: FileFilteringOptions | None = None,
) -> ToolResult:
    """Reads many files at once and puts their texts one after the other. Binary files are named and left out."""
    own = live(context)
    if not include:
        raise ToolError("include names no file.")
    matchers = [glob_matcher(_as_pattern(own, pattern)) for pattern in include]
    excluded = [*(exclude or ()), *(_DEFAULT_EXCLUDES if useDefaultExcludes else ())]
    refusing = [glob_matcher(pattern) for pattern in excluded]
    parts: list[Part] = []
    skipped: list[str] = []
    read: list[Path] = []
    length = 0
    for path in walk(own.workspace.cwd, rules_for(own, file_filtering_options), recursive=recursive):
        shown = own.workspace.shown(path)
        if not any(one.match(shown) for one in matchers) or any(one.match(shown) for one in refusing):
            continue
        found = _one_of_many(own, path, shown, named=shown in include, full=length > LARGEST_TOGETHER_CHARACTERS)
        if isinstance(found, str):
            skipped.append(found)
        else:
            parts += found
            read.append(path)
            length += sum(len(part.get("text", "")) for part in found)
    return with_memory(context, _together(parts, skipped), *read)


def _as_pattern(context: LiveContext, pattern: str) -> str:
    path = Path(pattern)
    if path.is_absolute() and path.is_relative_to(context.workspace.cwd):
        pattern = path.relative_to(context.workspace.cwd).as_posix()
    folder = context.workspace.cwd / pattern
    return f"{pattern.rstrip('/')}/**" if folder.is_dir() else pattern


def _one_of_many(context: LiveContext, path: Path, shown: str, *, named: bool, full: bool) -> list[Part] | str:
    """The parts of one file, or the sentence that says why it was left out."""
    try:
        real = context.workspace.resolve(str(path))
        if full:
            return f"{shown}: the files together are too long; read it with read_file"
        if named and (media := media_part(real)) is not None:
            return [{"text": f"--- {shown} ---\n"}, media]
        if is_binary(real):
            return f"{shown}: binary"
        text, note = _lines_of(real, shown, 1, None)
    except (OutsideWorkspace, ToolError, OSError) as error:
        return f"{shown}: {error}"
    return [{"text": f"--- {shown} ---\n{note}{text}\n"}]


def _together(parts: list[Part], skipped: list[str]) -> ToolResult:
    note = "Left out:\n" + "\n".join(skipped) if skipped else ""
    if not parts:
        return ToolResult(content=f"No file matched.\n{note}".strip(), display="No file matched.")
    texts = [part["text"] for part in parts if "text" in part]
    display = f"Read {len(texts)} files." + (f" {len(skipped)} left out." if skipped else "")
    if len(texts) == len(parts):
        return ToolResult(content="".join([*texts, note]), display=display)
    return ToolResult(content=[*parts, {"text": note}] if note else parts, display=display)

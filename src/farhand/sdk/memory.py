"""Reads GEMINI.md files: the person's own and the project's, with their `@imports` put in place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.json_shapes import is_list, list_or_empty
from farhand.sdk.protocols import Memory

if TYPE_CHECKING:
    from farhand.sdk.settings import AgentSettings

DEFAULT_NAME = "GEMINI.md"
DEFAULT_BOUNDARY = ".git"
IMPORT_DEPTH = 5
LARGEST_FILE_BYTES = 1_000_000

# Fenced blocks and code spans hold text, not imports; what is left over matches the last group.
_IMPORT_OR_CODE = re.compile(
    r"^(?P<fence>[ ]{0,3}(?P<ticks>`{3,}|~{3,})[^\n]*\n(?:.*?\n)?[ ]{0,3}(?P=ticks)[`~]*[ \t]*(?=\n|\Z))"
    r"|(?P<span>(?P<quote>`+)(?!`).+?(?<!`)(?P=quote)(?!`))"
    r"|(?P<import>(?<!\S)@(?P<path>\.{0,2}/[^\s`]+|[A-Za-z0-9_][^\s`]*\.md\b))",
    re.DOTALL | re.MULTILINE,
)


def memory_names(settings: AgentSettings) -> tuple[str, ...]:
    """The file names that count as memory: those of `context.fileName`, and always GEMINI.md, as in the CLI."""
    named = settings.get("context.fileName")
    names = [named] if isinstance(named, str) else list_or_empty(named)
    found = {name.strip() for name in names if isinstance(name, str) and name.strip()}
    return tuple(sorted(found | {DEFAULT_NAME}))


def load_memory(cwd: Path | str, home: Path | str, settings: AgentSettings) -> Memory:
    """The memory of a folder: the global file, and every project file from the repository's root down to the folder."""
    cwd, home = Path(cwd).absolute(), Path(home)
    names = memory_names(settings)
    user_folder = home / ".gemini"
    global_files = _existing([user_folder], names)
    project_files = list(_project_files(cwd, names, settings)) if settings.trusted else []
    known = {os.path.realpath(path) for path in global_files}
    project_files = [path for path in project_files if os.path.realpath(path) not in known]
    root = project_root(cwd, _boundaries(settings))
    return Memory(
        global_text=joined(global_files, allowed=(user_folder,)),
        project_text=joined(project_files, allowed=(root, *_included(cwd, settings)), stays_inside=True),
    )


class Discovery:
    """Finds the memory of sub-folders when something in them is first touched; each file is told once."""

    def __init__(self, cwd: Path, settings: AgentSettings) -> None:
        self._cwd, self._settings = cwd, settings
        self._names = memory_names(settings)
        self._loaded_paths = {os.path.realpath(path) for path in _project_files(cwd, self._names, settings)}

    def at(self, *targets: Path) -> str:
        """What the folders between the session's own and the targets say, as far as it was not told yet."""
        found: list[Path] = []
        for target in targets:
            folder = target if target.is_dir() else target.parent
            if not folder.is_relative_to(self._cwd):
                continue
            steps = [self._cwd, *(self._cwd / step for step in _steps(folder.relative_to(self._cwd)))]
            fresh = [path for path in _existing(steps, self._names) if os.path.realpath(path) not in self._loaded_paths]
            self._loaded_paths |= {os.path.realpath(path) for path in fresh}
            found += fresh
        return joined(found, allowed=(project_root(self._cwd, _boundaries(self._settings)),), stays_inside=True)


def _steps(relative: Path) -> list[Path]:
    return [Path(*relative.parts[: count + 1]) for count in range(len(relative.parts))]


def _project_files(cwd: Path, names: Sequence[str], settings: AgentSettings) -> Iterator[Path]:
    root = project_root(cwd, _boundaries(settings))
    folders = [cwd, *cwd.parents]
    upward = folders[: folders.index(root) + 1]
    yield from _existing(upward[::-1], names)
    if settings.get("context.loadMemoryFromIncludeDirectories") is True:
        yield from _existing(_included(cwd, settings), names)


def project_root(cwd: Path, boundaries: Sequence[str]) -> Path:
    """The nearest folder upwards that holds a boundary marker such as `.git`; the folder itself when there is none."""
    for folder in (cwd, *cwd.parents):
        if any((folder / marker).exists() for marker in boundaries):
            return folder
    return cwd


def _boundaries(settings: AgentSettings) -> list[str]:
    # How far upwards files may be read is not for the project to say.
    named = settings.granted("context.memoryBoundaryMarkers", [DEFAULT_BOUNDARY])
    return [marker for marker in named if isinstance(marker, str) and marker] if is_list(named) else []


def _included(cwd: Path, settings: AgentSettings) -> list[Path]:
    named = settings.granted("context.includeDirectories", [])
    return [cwd / Path(folder).expanduser() for folder in named if isinstance(folder, str)]


def _existing(folders: Sequence[Path], names: Sequence[str]) -> list[Path]:
    return [folder / name for folder in folders for name in names if (folder / name).is_file()]


def joined(files: Sequence[Path], *, allowed: Sequence[Path], stays_inside: bool = False) -> str:
    """The texts of memory files, each under its path. A project's may not be links to what lies elsewhere."""
    blocks: list[str] = []
    for path in files:
        text = _read(path)
        if stays_inside and not _inside(os.path.realpath(path), allowed):
            text = "<!-- Not read: it leads out of the folders that may be read. -->"
        if text is None or not text.strip():
            continue
        whole = resolve_imports(text, path, allowed=allowed).strip()
        blocks.append(f"--- Context from: {path} ---\n{whole}\n--- End of Context from: {path} ---")
    return "\n\n".join(blocks)


def resolve_imports(text: str, path: Path, *, allowed: Sequence[Path], chain: tuple[str, ...] = ()) -> str:
    """Puts the text of each `@file` in its place. What cannot be imported leaves a comment that says why."""
    chain = (*chain, os.path.realpath(path))

    def put(match: re.Match[str]) -> str:
        named = match["path"]
        return match[0] if named is None else _imported(named, path, allowed, chain)

    return _IMPORT_OR_CODE.sub(put, text)


def _imported(named: str, importer: Path, allowed: Sequence[Path], chain: tuple[str, ...]) -> str:
    stem = named.rstrip(".,;:!?)")
    tail = named[len(stem) :]
    target = importer.parent / stem
    real = os.path.realpath(target)
    if len(chain) > IMPORT_DEPTH:
        return f"<!-- Import failed: {stem} - more than {IMPORT_DEPTH} imports deep -->{tail}"
    if real in chain:
        return f"<!-- Import failed: {stem} - it imports itself -->{tail}"
    if not _inside(real, (importer.parent, *allowed) if len(chain) == 1 else allowed):
        return f"<!-- Import failed: {stem} - outside the folders that may be read -->{tail}"
    text = _read(Path(real))
    if text is None:
        return f"<!-- Import failed: {stem} - no readable file of that name -->{tail}"
    body = resolve_imports(text, Path(real), allowed=allowed, chain=chain)
    return f"<!-- Imported from: {stem} -->\n{body}\n<!-- End of import from: {stem} -->{tail}"


def _inside(real: str, folders: Sequence[Path]) -> bool:
    return any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in folders)


def _read(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE_BYTES:
            return None
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None

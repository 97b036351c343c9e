"""Knows which files of a workspace are ignored: `.gitignore` at every level, `.git/info/exclude`, `.geminiignore`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST_ENTRIES = 200_000


class IgnoreRules:
    """The rules that hold below a folder. A deeper file overrules a higher one, a later line an earlier one."""

    def __init__(self, root: Path, *, git: bool = True, gemini: bool = True, extra: Sequence[str] = ()) -> None:
        self._git = git
        self._top = _repository(root) if git else root
        self._specs: dict[Path, GitIgnoreSpec | None] = {}
        self._fixed: list[tuple[Path, GitIgnoreSpec]] = []
        if git:
            self._fix(self._top, self._top / ".git" / "info" / "exclude")
        if gemini:
            self._fix(root, root / ".geminiignore")
        if extra:
            self._fixed.append((root, _spec(extra)))

    def _fix(self, folder: Path, path: Path) -> None:
        if lines := _lines(path):
            self._fixed.append((folder, _spec(lines)))

    def ignores(self, path: Path, *, is_folder: bool = False) -> bool:
        """Whether a path, or a folder above it, is ignored."""
        if not path.is_relative_to(self._top):
            return False
        above = [
            folder for folder in reversed(path.parents) if folder != self._top and folder.is_relative_to(self._top)
        ]
        return any(self.ignores_entry(folder, is_folder=True) for folder in above) or self.ignores_entry(
            path, is_folder=is_folder
        )

    def ignores_entry(self, path: Path, *, is_folder: bool) -> bool:
        """Whether a path itself is ignored, when the folders above it are known not to be."""
        if self._git and path.name == ".git":
            return True
        for folder, spec in reversed(self._fixed):
            verdict = _verdict(spec, path, folder, is_folder=is_folder)
            if verdict is not None:
                return verdict
        if not self._git:
            return False
        for folder in path.parents:
            spec_here = self._spec_in(folder)
            verdict = None if spec_here is None else _verdict(spec_here, path, folder, is_folder=is_folder)
            if verdict is not None:
                return verdict
            if folder == self._top:
                break
        return False

    def _spec_in(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            lines = _lines(folder / ".gitignore")
            self._specs[folder] = _spec(lines) if lines else None
        return self._specs[folder]


def walk(root: Path, rules: IgnoreRules | None, *, recursive: bool = True) -> Iterator[Path]:
    """Every file below a folder, in order, that is not ignored. Links to folders are not followed: no loops."""
    seen = 0
    folders = [root]
    while folders:
        folder = folders.pop()
        inner: list[Path] = []
        for entry in _entries(folder):
            seen += 1
            if seen > MOST_ENTRIES:
                return
            path = folder / entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules is not None and rules.ignores_entry(path, is_folder=is_folder):
                continue
            if is_folder:
                inner.append(path)
            elif _is_file(entry):
                yield path
        if recursive:
            folders.extend(reversed(inner))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _repository(root: Path) -> Path:
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return folder
    return root


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        # One line that is no pattern costs that line, not the file.
        good: list[str] = []
        for line in lines:
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:
                continue
            good.append(line)
        return GitIgnoreSpec.from_lines(good)


def _verdict(spec: GitIgnoreSpec, path: Path, folder: Path, *, is_folder: bool) -> bool | None:
    if not path.is_relative_to(folder):
        return None
    relative = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
    return spec.check_file(relative).include

"""Keeps paths inside the workspace, also when they go through symbolic links, and reads and writes its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.disk.atomic import replace_file
from farhand.sdk.errors import SdkError
from farhand.sdk.ignore import IgnoreRules

if TYPE_CHECKING:
    from farhand.sdk.settings import AgentSettings

LARGEST_TEXT_BYTES = 20 * 1024 * 1024


class OutsideWorkspace(SdkError):
    """A path that leads out of the workspace."""

    kind = "outside_workspace"

    def __init__(self, path: str, roots: Sequence[Path]) -> None:
        folders = ", ".join(str(root) for root in roots)
        super().__init__(f"{path!r} is outside the workspace. What may be used lies in: {folders}.")
        self.path = path


class Workspace:
    """The folders a session may touch: its own, the included ones, that of its plans, and to read what tools left."""

    def __init__(
        self,
        cwd: Path,
        *,
        included: Sequence[Path] = (),
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
    ) -> None:
        self.cwd = Path(os.path.realpath(cwd))
        self.roots = (self.cwd, *(Path(os.path.realpath(folder)) for folder in included))
        self._readable = (*readable, *writable)
        self._writable = tuple(writable)

    def open_for_reading(self, folder: Path) -> None:
        """Lets the files of one more folder be read."""
        if folder not in self._readable:
            self._readable = (*self._readable, folder)

    def resolve(self, path: str, *, to_write: bool = False) -> Path:
        """The real path behind a name. Raises OutsideWorkspace when that lies elsewhere."""
        if "\0" in path:
            raise OutsideWorkspace(path, self.roots)
        real = Path(os.path.realpath(self.cwd / Path(path).expanduser()))
        beside = self._writable if to_write else self._readable
        allowed = (*self.roots, *(Path(os.path.realpath(one)) for one in beside))
        if not any(real.is_relative_to(root) for root in allowed):
            raise OutsideWorkspace(path, self.roots)
        return real

    def entry(self, path: str) -> Path:
        """A name in a folder that may be written to, a link as the link that it is. Raises OutsideWorkspace."""
        named = self.cwd / Path(path).expanduser()
        return self.resolve(str(named.parent), to_write=True) / named.name

    def holds(self, path: Path) -> bool:
        """Whether a path lies in the workspace, followed through links to its end."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(root) for root in self.roots)

    def shown(self, path: Path) -> str:
        """A path as the model and the person read it: relative to the folder when it lies in it."""
        return path.relative_to(self.cwd).as_posix() or "." if path.is_relative_to(self.cwd) else str(path)

    def rules(self, settings: AgentSettings, *, git: bool | None = None, gemini: bool | None = None) -> IgnoreRules:
        """The ignore rules of the folder: `context.fileFiltering`, unless the call says otherwise."""

        def wanted(given: bool | None, name: str) -> bool:
            return given if given is not None else settings.get(f"context.fileFiltering.{name}") is not False

        return IgnoreRules(self.cwd, git=wanted(git, "respectGitIgnore"), gemini=wanted(gemini, "respectGeminiIgnore"))


class WorkspaceFiles:
    """The files of a workspace, for tools and hooks. Nothing outside is reached, also not through a link."""

    def __init__(self, workspace: Workspace, permit: Callable[[str, str], None] = lambda _tool, _path: None) -> None:
        self._workspace = workspace
        self._permit = permit

    async def read(self, path: str) -> str | None:
        """The text of a file, or None when there is no such file."""
        import anyio.to_thread

        self._permit("read_file", path)
        return await anyio.to_thread.run_sync(read_text, self._workspace.resolve(path))

    async def write(self, path: str, content: str) -> None:
        """Writes a file whole or not at all; missing folders are made."""
        import anyio.to_thread

        self._permit("write_file", path)
        await anyio.to_thread.run_sync(write_text, self._workspace.resolve(path, to_write=True), content)

    async def read_bytes(self, path: str) -> bytes | None:
        """The bytes of a file, or None when there is no such file."""
        import anyio.to_thread

        self._permit("read_file", path)
        return await anyio.to_thread.run_sync(read_bytes, self._workspace.resolve(path))

    async def write_bytes(self, path: str, content: bytes) -> None:
        """Writes a file whole or not at all; missing folders are made."""
        import anyio.to_thread

        self._permit("write_file", path)
        await anyio.to_thread.run_sync(write_bytes, self._workspace.resolve(path, to_write=True), content)

    async def list(self, path: str = ".") -> Sequence[str]:
        """The names in a folder, sorted, folders with a slash behind; empty when there is no such folder."""
        import anyio.to_thread

        self._permit("list_directory", path)
        return await anyio.to_thread.run_sync(_names_in, self._workspace.resolve(path))

    async def glob(self, pattern: str) -> Sequence[str]:
        """The files that a pattern such as `src/**/*.py` means, as paths in the folder, sorted."""
        import anyio.to_thread

        self._permit("glob", pattern)
        return await anyio.to_thread.run_sync(self._matching, pattern)

    def _matching(self, pattern: str) -> Sequence[str]:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise OutsideWorkspace(pattern, self._workspace.roots)
        found = (path for path in self._workspace.cwd.glob(pattern) if path.is_file())
        return sorted(self._workspace.shown(path) for path in found if self._workspace.holds(path))

    async def delete(self, path: str) -> bool:
        """Removes a file, and of a link the link alone; whether there was one. A folder is never removed."""
        import anyio.to_thread

        self._permit("write_file", path)
        return await anyio.to_thread.run_sync(_removed, self._workspace.entry(path))


def _names_in(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(f"{each.name}/" if each.is_dir() else each.name for each in folder.iterdir())


def _removed(file: Path) -> bool:
    if file.is_dir() and not file.is_symlink():
        raise SdkError(f"{file} is a folder; files alone are removed here.")
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    return True


def read_text(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None when it is not there."""
    content = read_bytes(path)
    return None if content is None else content.decode("utf-8", errors="replace")


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a file; None when it is not there."""
    if not path.is_file():
        return None
    if path.stat().st_size > LARGEST_TEXT_BYTES:
        raise SdkError(f"{path} is larger than {LARGEST_TEXT_BYTES // 1024 // 1024} MB.")
    return path.read_bytes()


def write_text(path: Path, content: str) -> None:
    """Replaces a file in one step, so that a full disk or a kill leaves the old one; its mode stays."""
    write_bytes(path, content.encode("utf-8", errors="surrogatepass"))


def write_bytes(path: Path, content: bytes) -> None:
    """As `write_text`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
    replace_file(path, content, mode=mode)


def _umask() -> int:
    # Python can only read the mask by setting it; on Linux the kernel tells it without that.
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    except OSError:
        pass
    return 0o022

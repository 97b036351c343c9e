"""The files of a folder, as an ACP client offers them to its agent: inside the folder, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from farhand.sdk.errors import SdkError
from farhand.sdk.workspace import Workspace, WorkspaceFiles


class LocalFiles:
    """Reads and writes text in one folder."""

    def __init__(self, cwd: str | Path) -> None:
        self._files = WorkspaceFiles(Workspace(Path(cwd)))

    async def read(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, or of `limit` lines from `line` on, counted from 1."""
        text = await self._files.read(path)
        if text is None:
            raise SdkError(f"There is no file {path}.")
        if line is None and limit is None:
            return text
        start = max(0, (line or 1) - 1)
        return "".join(text.splitlines(keepends=True)[start : None if limit is None else start + limit])

    async def write(self, path: str, content: str) -> None:
        """Writes a file whole."""
        await self._files.write(path, content)

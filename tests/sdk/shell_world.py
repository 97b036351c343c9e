"""A workspace with every trap that a hostile one may have, and something outside of it that nobody may reach."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class ShellWorld:
    """`workspace` is what may be read; `outside` is beside it."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.workspace = folder / "workspace"
        self.outside = folder / "outside"
        home = folder / "home"
        # As an agent's own environment is: with nothing in it that names a program.
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "GIT_PAGER": "cat"}
        for place in (self.workspace / "src", self.outside, home / ".ssh"):
            place.mkdir(parents=True)
        (self.outside / "key").write_text("a secret\n")
        (home / ".ssh" / "id_rsa").write_text("another secret\n")
        for name in ("in.txt", "with blank.txt", "src/a.py"):
            (self.workspace / name).write_text("needle a b\nother: c\n")
        (self.workspace / "link").symlink_to(self.outside / "key")
        (self.workspace / "folder").symlink_to(self.outside)
        self._trap()
        self._repository()
        (self.workspace / "gitlink").symlink_to(".git")
        (self.workspace / "hooks").symlink_to(".git/hooks")

    def _trap(self) -> None:
        """Programs of the workspace's own, under the names of others."""
        for name in ("trap", "cat", "ls", "sh", "git"):
            path = self.workspace / name
            path.write_text(f"#!/bin/sh\necho {name} >> {self.outside}/trapped\n")
            path.chmod(0o755)

    def _repository(self) -> None:
        for words in (
            ("init", "-q", "-b", "main"),
            ("add", "in.txt", "src"),
            ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"),
            ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "second", "--allow-empty"),
        ):
            subprocess.run(["git", *words], cwd=self.workspace, env=self.environment, check=True)
        (self.workspace / "in.txt").write_text("needle a b\nother: d\n")
        (self.workspace / ".gitattributes").write_text("*.txt diff=x filter=x\n")

    def everything(self) -> dict[str, tuple[int, int]]:
        """Every file with its size and its time of change, to see whether any was written."""
        found = {}
        for folder, _, names in os.walk(self.workspace.parent):
            for name in names:
                path = Path(folder) / name
                told = path.lstat()
                found[str(path)] = (told.st_size, told.st_mtime_ns)
        return found

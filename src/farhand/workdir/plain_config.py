"""Whether a repository's own git configuration is one that runs nothing: git is only told to write where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from farhand.model.errors import NoRepository
from farhand.model.git_config import is_plain, settings_of
from farhand.workdir.repository import find_repository, read_small

REFUSED: Final = (
    "Not committed: the repository's own git configuration can run programs ({what}), and an agent can write it. "
    "Look at it, and commit by hand."
)
# Has git read config.worktree, which is looked into here, too.
_SECOND_FILE: Final = "extensions.worktreeconfig = "


def why_not_plain(folder: Path) -> str:
    """Why git is not told to write there; empty where its configuration runs nothing."""
    try:
        found = find_repository(folder)
        for path in (found.shared / "config", found.git / "config.worktree"):
            if path.exists() or path.is_symlink():
                what = _not_plain(read_small(path))
                if what:
                    return REFUSED.format(what=what)
    except NoRepository as error:
        return error.text
    except OSError as error:
        return REFUSED.format(what=error.strerror or "it cannot be read")
    return ""


def _not_plain(text: str) -> str:
    """The first setting that is not known to run nothing."""
    try:
        unknown = (f"{key} = {value}"[:60] for key, value in settings_of(text) if not is_plain(key, value))
        return next((words for words in unknown if not words.startswith(_SECOND_FILE)), "")
    except ValueError as error:
        return str(error)

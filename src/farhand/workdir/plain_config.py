"""Whether a repository's own git configuration is one that runs nothing: git is only told to write where it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from farhand.model.errors import NoRepository
from farhand.workdir.repository import find_repository, read_small

REFUSED: Final = (
    "Not committed: the repository's own git configuration can run programs ({what}), and an agent can write it. "
    "Look at it, and commit by hand."
)
# Sections and their keys that run nothing and lead git nowhere else; whatever is not named here is refused.
_PLAIN: Final = {
    "core": r"repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol"
    r"|quotepath|longpaths|abbrev",
    "extensions": r"objectformat|worktreeconfig|refstorage",
    "user": r"name|email",
    "remote": r"url|pushurl|fetch|push|tagopt|mirror|prune|gh-resolved",
    "branch": r"remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base",
    "pull": r"rebase|ff",
    "push": r"default|autosetupremote|followtags",
    "init": r"defaultbranch",
    "color": r"\w+",
    "advice": r"\w+",
}
_SECTION: Final = re.compile(r"\[\s*([\w.-]+)(?:\s+\"[^\"\\]*\")?\s*\]")
_KEY: Final = re.compile(r"([A-Za-z][\w-]*)\s*(?:=.*)?")


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
    """The first line that is not known to run nothing."""
    section = ""
    for line in text.splitlines():
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        named = _SECTION.fullmatch(words)
        if named is not None and named[1].lower() in _PLAIN:
            section = named[1].lower()
            continue
        key = _KEY.fullmatch(words)
        is_plain = key is not None and section and re.fullmatch(_PLAIN[section], key[1].lower())
        if not is_plain or words.endswith("\\"):
            return words[:60]
    return ""

"""What a repository's own git configuration says, and what of it makes git run or read nothing else. Pure."""

from __future__ import annotations

import re
from typing import Final

_SECTION: Final = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')
_KEY: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# By section and key; what stands between them is a name of the person's.
_HARMLESS: Final = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol"
    r"|safecrlf|abbrev|quotepath|longpaths|sparsecheckout|sparsecheckoutcone|untrackedcache|preloadindex|compression)"
    r"|extensions\.(objectformat|worktreeconfig|refstorage|relativeworktrees|partialclone|preciousobjects)"
    r"|remote\..+\.(url|pushurl|fetch|push|tagopt|mirror|prune|gh-resolved|promisor|partialclonefilter|skipfetchall)"
    r"|remote\.pushdefault|branch\.(autosetuprebase|autosetupmerge|sort)"
    r"|branch\..+\.(remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)"
    r"|submodule\.active|submodule\..+\.(url|active|branch)|submodule\.(recurse|fetchjobs)"
    r"|user\.(name|email|signingkey|useconfigonly)|commit\.(gpgsign|verbose)|tag\.(gpgsign|sort)|init\.defaultbranch"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.(prune|prunetags|parallel|writecommitgraph)"
    r"|merge\.(ff|conflictstyle)|rebase\.(autostash|autosquash|updaterefs)|rerere\.(enabled|autoupdate)"
    r"|diff\.(algorithm|renames|colormoved|mnemonicprefix|noprefix)|status\.\w+|log\.(date|decorate)|color\.[\w.]+"
    r"|gc\.\w+|maintenance\.(auto|strategy)|pack\.\w+|index\.\w+|feature\.\w+|advice\.\w+|blame\.\w+|help\.\w+"
    r"|lfs\.(repositoryformatversion|url|locksverify)|lfs\..+\.(access|locksverify)"
)
# What `git lfs install --local` writes, to the letter.
_LARGE_FILES: Final = {
    "filter.lfs.clean": "git-lfs clean -- %f",
    "filter.lfs.smudge": "git-lfs smudge -- %f",
    "filter.lfs.process": "git-lfs filter-process",
    "filter.lfs.required": "true",
}


def settings_of(text: str) -> list[tuple[str, str]]:
    """The settings in order, as `section.name.key` and what stands behind it; ValueError for what git may read
    otherwise."""
    found: list[tuple[str, str]] = []
    section = ""
    text = text.replace("\r\n", "\n")
    if _CONTROLS.search(text):
        raise ValueError("a control character")
    for written in text.split("\n"):
        line = written.strip(" \t")
        if line.endswith("\\"):
            raise ValueError("a line that goes on")
        if head := _SECTION.fullmatch(line):
            section = head[1].lower() + (f".{head[2]}" if head[2] is not None else "")
            line = head[3]
        if not line or line[0] in "#;":
            continue
        key = _KEY.fullmatch(line)
        if key is None or not section:
            raise ValueError("neither a section nor a key")
        found.append((f"{section}.{key[1].lower()}", (key[2] or "").strip()))
    return found


def is_harmless(key: str, value: str) -> bool:
    """Whether the setting makes git neither run nor read anything else."""
    if key in _LARGE_FILES:
        return value.strip('"') == _LARGE_FILES[key]
    if key.endswith(("url", "fetch", "push")) and "::" in value:
        # `ext::` and its like name a program.
        return False
    return _HARMLESS.fullmatch(key) is not None

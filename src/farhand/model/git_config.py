"""What a repository's own git configuration says, read as git reads it, and what of it runs nothing. Pure.

Three ask: the question about a folder that an agent is to work in, the commits that a node makes there, and the shell
lines that an agent of the SDK may run unasked. They read with one parser and judge by one list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.visible import CONTROLS

_SECTION: Final = lazy_pattern(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?\](.*)')
_KEY: Final = lazy_pattern(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=(.*))?")
# A value without any of these says what stands there.
_SPECIAL: Final = lazy_pattern(r'["\\;#\t]')
_ESCAPED: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "b": "\b"}
# By section and key; what stands between them is a name of the person's. Nothing is run and nothing else is read,
# whatever git is told to do.
_PLAIN: Final = lazy_pattern(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol"
    r"|safecrlf|abbrev|quotepath|longpaths)"
    r"|extensions\.(objectformat|refstorage)"
    r"|remote\..+\.(url|pushurl|fetch|push|tagopt|mirror|prune|gh-resolved)|remote\.pushdefault"
    r"|branch\..+\.(remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)"
    r"|user\.(name|email|useconfigonly)|init\.defaultbranch"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.prune|merge\.ff|rerere\.enabled"
    r"|color\.(ui|branch|diff|status)(\.\w+)?|gc\.auto|advice\.\w+"
)
# Whoever commits has it signed.
_SIGNING: Final = lazy_pattern(r"user\.signingkey|(commit|tag)\.gpgsign")
# Harmless while agents look around and commit, though git may fetch what is missing, or read a list of its own.
_USUAL: Final = lazy_pattern(
    r"core\.(sparsecheckout|sparsecheckoutcone|untrackedcache|preloadindex|compression)"
    r"|extensions\.(worktreeconfig|relativeworktrees|partialclone|preciousobjects)"
    r"|remote\..+\.(promisor|partialclonefilter|skipfetchall)|branch\.(autosetuprebase|autosetupmerge|sort)"
    r"|submodule\.active|submodule\..+\.(url|active|branch)|submodule\.(recurse|fetchjobs)"
    r"|commit\.verbose|tag\.sort|fetch\.(prunetags|parallel|writecommitgraph)"
    r"|merge\.conflictstyle|rebase\.(autostash|autosquash|updaterefs)|rerere\.autoupdate"
    r"|diff\.(algorithm|renames|colormoved|mnemonicprefix|noprefix)|status\.\w+|log\.(date|decorate)|color\.[\w.]+"
    r"|gc\.(autopacklimit|autodetach|bigpackthreshold|writecommitgraph|packrefs|cruftpacks|aggressive(depth|window)"
    r"|(prune|worktreeprune|reflog)expire(unreachable)?|logexpiry|rerere(un)?resolved)"
    r"|maintenance\.(auto|strategy)|pack\.\w+|index\.\w+|feature\.\w+|help\.(autocorrect|format)"
    r"|blame\.(coloring|date|showroot|blankboundary|showemail|markunblamablelines|markignoredlines)"
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
    """The settings in order, as `section.name.key` and what git takes from behind it; ValueError for what git may
    read otherwise."""
    found: list[tuple[str, str]] = []
    section = ""
    text = text.replace("\r\n", "\n")
    if CONTROLS.search(text):
        raise ValueError("a control character")
    for written in text.split("\n"):
        line = written.strip(" \t")
        if line.endswith("\\"):
            raise ValueError("a line that goes on")
        if head := _SECTION.fullmatch(line):
            name = head[2]
            section = head[1].lower() + ("" if name is None else "." + re.sub(r"\\(.)", r"\1", name))
            line = head[3].strip(" \t")
        if not line or line[0] in "#;":
            continue
        key = _KEY.fullmatch(line)
        if key is None or not section:
            raise ValueError("neither a section nor a key")
        found.append((f"{section}.{key[1].lower()}", _value(key[2] or "")))
    return found


def is_plain(key: str, value: str) -> bool:
    """Whether git runs nothing and reads nothing else for it, whatever it is told to do."""
    return _PLAIN.fullmatch(key) is not None and not _names_a_program(key, value)


def is_plain_to_read(settings: Iterable[tuple[str, str]]) -> bool:
    """The same of them all, where git is told to commit nothing."""
    return all(is_plain(key, value) or _SIGNING.fullmatch(key) for key, value in settings)


def is_harmless(key: str, value: str) -> bool:
    """Whether a repository that somebody works in usually has it, and it names no program."""
    if key in _LARGE_FILES:
        return value == _LARGE_FILES[key]
    known = _PLAIN.fullmatch(key) or _SIGNING.fullmatch(key) or _USUAL.fullmatch(key)
    return known is not None and not _names_a_program(key, value)


def _names_a_program(key: str, value: str) -> bool:
    """`ext::` and its like do."""
    return key.endswith(("url", "fetch", "push")) and "::" in value


def _value(written: str) -> str:
    """What git takes from behind the sign: quotes, escapes and comments are gone; ValueError where it would refuse."""
    if not _SPECIAL.search(written):
        return written.strip(" ")
    kept = spaces = ""
    quoted = False
    letters = iter(written)
    for letter in letters:
        if not quoted and letter in " \t":
            spaces += " " if kept else ""
            continue
        if not quoted and letter in ";#":
            break
        kept, spaces = kept + spaces, ""
        if letter == "\\":
            escaped = _ESCAPED.get(next(letters, ""))
            if escaped is None:
                raise ValueError("an escape that git does not know")
            kept += escaped
        elif letter == '"':
            quoted = not quoted
        else:
            kept += letter
    if quoted:
        raise ValueError("an open quote")
    return kept

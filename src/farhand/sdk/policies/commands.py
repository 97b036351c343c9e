"""Knows commands that only look, and commands that can do great harm. Pure but for looking where links lead."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

_ONLY_TALK = frozenset("echo expr false id pwd seq tr true uname which whoami".split())
_READ_FILES = frozenset("cat cut grep head ls nl numfmt paste rev stat tac tail uniq wc".split())
_FIND_ACTS = frozenset("-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf".split())
_GIT_LOOKS = frozenset({"status", "log", "diff", "show", "branch"})
_GIT_VALUES = frozenset("-C -c --config-env --exec-path --git-dir --namespace --super-prefix --work-tree".split())
_GIT_ACTS = frozenset({"--output", "--ext-diff", "--textconv", "--exec", "--paginate"})
_BRANCH_LOOKS = frozenset("--list -l --show-current -a --all -r --remotes -v -vv --verbose".split())
_SED_PRINT = re.compile(r"\d+(,\d+)?p")
_WRECKERS = re.compile(r"(?:dd|shred|mkfs(?:\.\w+)?|fdisk|wipefs)")
_TRUSTED_FOLDERS = ("/usr/bin/", "/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")


def is_safe(words: Sequence[str], cwd: Path, root: Path) -> bool:
    """Whether a command only looks, and only inside the workspace."""
    if not words:
        return False
    name, arguments = words[0], words[1:]
    if name in _ONLY_TALK:
        return True
    inside = _Inside(cwd, root)
    if name in _READ_FILES:
        named = _paths(arguments, pattern_file=name == "grep")
        # The second file that uniq is given is written.
        return inside.all(named) and not (name == "uniq" and len(named) > 1)
    check = _SAFE_CHECKS.get(name.rpartition("/")[2] if name.endswith("/rg") else name)
    return check is not None and check(words, inside)


def is_dangerous(words: Sequence[str]) -> bool:
    """Whether a command deserves a person's look even where commands are allowed."""
    if not words:
        return False
    name, arguments = words[0].rpartition("/")[2], words[1:]
    match name:
        case "sudo" | "doas":
            return is_dangerous([*_without_options(arguments)])
        case "rm":
            return any(re.fullmatch(r"-[a-zA-Z]*[rRf][a-zA-Z]*|--(recursive|force)", one) for one in arguments)
        case "ln":
            return any(re.fullmatch(r"-[a-zA-Z]*s[a-zA-Z]*|--symbolic", one) for one in arguments)
        case "find":
            return any(one in _FIND_ACTS for one in arguments)
        case "rg":
            return _ripgrep_acts(arguments)
        case "base64":
            return _base64_writes(arguments)
        case "git":
            return _git_overrides(arguments) or _git_looks_but_acts(arguments)
        case _:
            return bool(_WRECKERS.fullmatch(name))


def runs_git(words: Sequence[str]) -> bool:
    """Whether a command is git, which runs what a folder's own configuration says."""
    return bool(words) and words[0].rpartition("/")[2].lower() in ("git", "git.exe")


class _Inside:
    """Tells whether a path stays in the workspace, also through links."""

    def __init__(self, cwd: Path, root: Path) -> None:
        self._cwd = cwd
        self._root = os.path.realpath(root)

    def all(self, paths: Sequence[str]) -> bool:
        return all(self.one(path) for path in paths)

    def one(self, path: str) -> bool:
        if "$" in path or "`" in path or path.startswith("~"):
            return False
        real = os.path.realpath(os.path.join(self._cwd, path))  # noqa: PTH118 - a third of the time of a Path
        return real == self._root or real.startswith(self._root + os.sep)


def _paths(arguments: Sequence[str], *, pattern_file: bool = False) -> list[str]:
    """The arguments that may be paths: all but options, and the values of `--option=value`."""
    found: list[str] = []
    waiting = list(arguments)
    only_paths = False
    while waiting:
        one = waiting.pop(0)
        if only_paths or not one.startswith("-"):
            found.append(one)
        elif one == "--":
            only_paths = True
        elif pattern_file and one in ("-f", "--file"):
            found += waiting[:1]
            waiting = waiting[1:]
        elif pattern_file and one.startswith("-f"):
            found.append(one[2:])
        elif "=" in one:
            found.append(one.partition("=")[2])
        elif "$" in one or "`" in one:
            found.append(one)
    return found


def _without_options(arguments: Sequence[str]) -> Sequence[str]:
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if arguments[index] in ("-u", "-g", "-h", "-p", "-C", "-D") else 1
    return arguments[index:]


def _cd(words: Sequence[str], inside: _Inside) -> bool:
    named = [one for one in words[1:] if not one.startswith("-")]
    return bool(named) and inside.all(named)


def _base64(words: Sequence[str], inside: _Inside) -> bool:
    return not _base64_writes(words[1:]) and inside.all([one for one in words[1:] if not one.startswith("-")])


def _base64_writes(arguments: Sequence[str]) -> bool:
    return any(one.startswith(("-o", "--output")) for one in arguments)


def _find(words: Sequence[str], inside: _Inside) -> bool:
    acts = any(one in _FIND_ACTS for one in words[1:])
    return not acts and inside.all([one for one in words[1:] if not one.startswith("-")])


def _ripgrep(words: Sequence[str], inside: _Inside) -> bool:
    # A `rg` found by its name alone could be the project's own.
    trusted = os.path.realpath(words[0]).startswith(_TRUSTED_FOLDERS) and words[0].startswith("/")
    return trusted and not _ripgrep_acts(words[1:]) and inside.all(_paths(words[1:], pattern_file=True))


def _ripgrep_acts(arguments: Sequence[str]) -> bool:
    return any(
        one in ("-z", "--search-zip") or one.partition("=")[0] in ("--pre", "--hostname-bin") for one in arguments
    )


def _git(words: Sequence[str], inside: _Inside) -> bool:
    subcommand, rest = _git_subcommand(words[1:])
    if subcommand not in _GIT_LOOKS or _git_overrides(words[1:]) or _git_acts(rest):
        return False
    elsewhere = [one for one in words[1 : len(words) - len(rest)] if one.startswith(("-C", "--git-dir", "--work-tree"))]
    return not elsewhere and (subcommand != "branch" or _branch_looks(rest)) and inside.one(".")


def _git_subcommand(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    index = 0
    while index < len(arguments):
        one = arguments[index]
        if not one.startswith("-"):
            return one, arguments[index + 1 :]
        index += 2 if one in _GIT_VALUES else 1
    return "", ()


def _git_overrides(arguments: Sequence[str]) -> bool:
    return any(one.startswith(("-c", "--config-env")) for one in arguments)


def _git_acts(arguments: Sequence[str]) -> bool:
    return any(one.partition("=")[0] in _GIT_ACTS for one in arguments)


def _branch_looks(arguments: Sequence[str]) -> bool:
    return all(one in _BRANCH_LOOKS or one.startswith("--format=") for one in arguments)


def _git_looks_but_acts(arguments: Sequence[str]) -> bool:
    subcommand, rest = _git_subcommand(arguments)
    if subcommand not in _GIT_LOOKS:
        return False
    return _git_acts(rest) or (subcommand == "branch" and not _branch_looks(rest))


def _sed(words: Sequence[str], inside: _Inside) -> bool:
    prints = len(words) in (3, 4) and words[1] == "-n" and bool(_SED_PRINT.fullmatch(words[2]))
    return prints and inside.all(words[3:])


_SAFE_CHECKS: dict[str, Callable[[Sequence[str], _Inside], bool]] = {
    "base64": _base64,
    "cd": _cd,
    "find": _find,
    "git": _git,
    "rg": _ripgrep,
    "sed": _sed,
}

"""Knows commands that can do great harm: they are asked for even where commands are allowed. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIND_ACTS = frozenset("-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf".split())
_GIT_LOOKS = frozenset({"status", "log", "diff", "show", "branch"})
_GIT_VALUES = frozenset("-C -c --config-env --exec-path --git-dir --namespace --super-prefix --work-tree".split())
_GIT_ACTS = frozenset({"--output", "--ext-diff", "--textconv", "--exec", "--paginate"})
_BRANCH_LOOKS = frozenset("--list -l --show-current -a --all -r --remotes -v -vv --verbose".split())
_WRECKERS = re.compile(r"(?:dd|shred|mkfs(?:\.\w+)?|fdisk|wipefs)")
_LOOKED_AT = frozenset("sudo doas rm ln find rg base64 git".split())


def is_dangerous(words: Sequence[str]) -> bool:
    """Whether a command deserves a person's look even where commands are allowed."""
    if not words:
        return False
    name, arguments = words[0].rpartition("/")[2], words[1:]
    if name not in _LOOKED_AT:
        return _WRECKERS.fullmatch(name) is not None
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
        case _:
            return _git_overrides(arguments) or _git_looks_but_acts(arguments)


def runs_git(words: Sequence[str]) -> bool:
    """Whether a command is git, which runs what a folder's own configuration says."""
    return bool(words) and words[0].rpartition("/")[2].lower() in ("git", "git.exe")


def _without_options(arguments: Sequence[str]) -> Sequence[str]:
    index = 0
    while index < len(arguments) and arguments[index].startswith("-"):
        index += 2 if arguments[index] in ("-u", "-g", "-h", "-p", "-C", "-D") else 1
    return arguments[index:]


def _base64_writes(arguments: Sequence[str]) -> bool:
    return any(one.startswith(("-o", "--output")) for one in arguments)


def _ripgrep_acts(arguments: Sequence[str]) -> bool:
    return any(
        one in ("-z", "--search-zip") or one.partition("=")[0] in ("--pre", "--hostname-bin") for one in arguments
    )


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

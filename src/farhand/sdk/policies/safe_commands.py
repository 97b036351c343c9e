"""Knows commands that only read, and only inside the workspace, to the last word: what may run without a question.

A safe command is run as an argument list, without a shell: nothing can be expanded that was not judged. Options are
allow-listed for each command, so that an option nobody looked at is never safe.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.policies.safe_git import git_argv

if TYPE_CHECKING:
    from farhand.sdk.policies.shell import ShellCommand

# Programs are looked for here alone: one that a project brings along may have any name.
PROGRAM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin")
# What a safe command sees of the environment; anything else might change what a program does.
_PASSED_ON = frozenset({"HOME", "USER", "LOGNAME"})
# These are passed on unless they name a file: a project's `.env` may set them.
_PASSED_ON_AS_NAMES = re.compile(r"(?:LANG|LC_[A-Z]+|TZ|COLUMNS)=(?!.*\.\.)[\w.@+-]+(?:/[\w+-]+){0,2}", re.ASCII)
_SED_PRINT = re.compile(r"\d+(,(\d+|\$))?p")


class Inside:
    """Tells whether a path stays in the workspace, also through links."""

    def __init__(self, cwd: Path, root: Path) -> None:
        self.cwd = os.path.realpath(cwd)
        self.root = os.path.realpath(root)

    def all(self, paths: Iterable[str]) -> bool:
        """Whether each of them does; `-` is standard input."""
        return all(path == "-" or self.one(path) for path in paths)

    def one(self, path: str) -> bool:
        """Whether it does."""
        real = os.path.realpath(os.path.join(self.cwd, path))  # noqa: PTH118 - a third of the time of a Path
        return real == self.root or real.startswith(self.root + os.sep)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a command that neither write, nor run, nor read a file that they name."""

    flags: str = ""
    valued: str = ""
    long: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    # A value may follow these behind `=` alone: the next argument is none of theirs.
    long_optional: frozenset[str] = frozenset()
    # `-5` for `-n 5`.
    number: bool = False

    def operands(self, arguments: Sequence[str]) -> list[str] | None:
        """The arguments that are no options; None when there is an option that is not on the list."""
        found: list[str] = []
        waiting = list(arguments)
        while waiting:
            one = waiting.pop(0)
            if one == "--":
                return [*found, *waiting]
            if not one.startswith("-") or one == "-":
                found.append(one)
                continue
            following = self._option(one)
            if following is None or following > len(waiting):
                return None
            del waiting[:following]
        return found

    def _option(self, one: str) -> int | None:
        """How many of the following arguments belong to an option; None for one that is not on the list."""
        if one.startswith("--"):
            name, equals, _ = one.partition("=")
            if name in self.long_optional:
                return 0
            if name in self.long_valued:
                return 0 if equals else 1
            return 0 if name in self.long and not equals else None
        if self.number and one[1:].isdecimal():
            return 0
        for place, letter in enumerate(one[1:], 2):
            if letter in self.valued:
                return 0 if place < len(one) else 1
            if letter not in self.flags:
                return None
        return 0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Commands whose arguments are texts: whatever they are given, they print, and read no file.
_ONLY_TEXT = _words("echo expr false id numfmt pwd seq tr true uname which whoami")
_READERS = {
    "base64": Options("di", "w", _words("--decode --ignore-garbage"), _words("--wrap")),
    "cat": Options("AbeEnstTuv", long=_words("--show-all --number --number-nonblank --show-ends --show-tabs")),
    "cut": Options("nsz", "bcdf", _words("--complement --only-delimited"), _words("--delimiter --fields --bytes")),
    "head": Options("qvz", "nc", _words("--quiet --silent --verbose"), _words("--lines --bytes"), number=True),
    "ls": Options(
        "aAbBcCdfFgGhiklmnNopqQrRsStuUvxX1",
        "ITw",
        _words("--all --almost-all --human-readable --inode --no-group --numeric-uid-gid --recursive --reverse --size"),
        _words("--sort --time --time-style --format --ignore --hide"),
        _words("--color"),
    ),
    "nl": Options("p", "bdfhilnsvw"),
    "paste": Options("sz", "d", _words("--serial"), _words("--delimiters")),
    "rev": Options(),
    "stat": Options("ft", "c", _words("--file-system --terse"), _words("--format --printf")),
    "tail": Options("qvz", "nc", _words("--quiet --silent --verbose"), _words("--lines --bytes"), number=True),
    "wc": Options("clmLw", long=_words("--bytes --chars --lines --max-line-length --words")),
}
_GREP = Options(
    "bcEFGhHiIlLnoPqrsvwxyzZ",
    "ABCemd",
    _words(
        "--count --extended-regexp --files-with-matches --files-without-match --fixed-strings --ignore-case"
        " --invert-match --line-number --line-regexp --no-filename --no-messages --only-matching --perl-regexp"
        " --quiet --recursive --with-filename --word-regexp --null"
    ),
    _words("--after-context --before-context --context --regexp --max-count --include --exclude --exclude-dir --label"),
    _words("--color --colour"),
    number=True,
)
_RIPGREP = Options(
    "bcFHiIlnNopPqsSuUvwx",
    "ABCegmMtTjr",
    _words(
        "--case-sensitive --column --count --count-matches --files --files-with-matches --files-without-match"
        " --fixed-strings --glob-case-insensitive --heading --hidden --ignore-case --invert-match --json"
        " --line-number --line-regexp --multiline --no-filename --no-heading --no-ignore --no-ignore-vcs"
        " --no-line-number --no-messages --null --only-matching --pcre2 --quiet --smart-case --stats --trim"
        " --type-list --unrestricted --vimgrep --with-filename --word-regexp"
    ),
    _words(
        "--after-context --before-context --color --colors --context --glob --iglob --max-columns --max-count"
        " --max-depth --max-filesize --regexp --replace --sort --sortr --threads --type --type-not"
    ),
)
_FIND_TESTS = {
    **dict.fromkeys("-print -print0 -ls -prune -quit -empty -true -false -not -and -or -a -o ! ( ) -depth".split(), 0),
    **dict.fromkeys("-mount -xdev -readable -writable -executable -daystart -nouser -nogroup -P".split(), 0),
    **dict.fromkeys(
        "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -size".split(), 1
    ),
    **dict.fromkeys("-mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -perm -user -group -links".split(), 1),
    **dict.fromkeys("-inum -newermt -newerat -newerct -uid -gid -printf".split(), 1),
}


def safe_argv(command: ShellCommand, cwd: Path, root: Path) -> tuple[str, ...]:
    """The argument list to run for a command that only reads, and only inside the workspace; empty for any other."""
    from farhand.sdk.policies.shell import is_known_to_the_last_word

    if not is_known_to_the_last_word(command):
        return ()
    name, arguments = command.words[0].rpartition("/")[2], command.words[1:]
    program = _program(name)
    inside = Inside(cwd, root)
    if not program or command.words[0] not in (name, program) or not inside.one("."):
        return ()
    if name == "git":
        return git_argv(program, arguments, inside)
    if name == "rg" and _ripgrep(arguments, inside):
        # A configuration file could name a program to run; what is wrong in an ignore file is told with its lines.
        return (program, "--no-config", "--no-ignore-messages", *arguments)
    return (program, *arguments) if _reads_inside(name, arguments, inside) else ()


def safe_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment that a safe command runs in: nothing in it changes what a program does."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _PASSED_ON or _PASSED_ON_AS_NAMES.fullmatch(f"{name}={value}")
    }
    return {
        **kept,
        "PATH": ":".join(PROGRAM_FOLDERS),
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }


def _reads_inside(name: str, arguments: Sequence[str], inside: Inside) -> bool:
    if name in _ONLY_TEXT:
        return True
    if name in _READERS:
        named = _READERS[name].operands(arguments)
        return named is not None and inside.all(named)
    check = _CHECKS.get(name)
    return check is not None and check(arguments, inside)


@lru_cache(maxsize=64)
def _program(name: str) -> str:
    """Where the system has a program of that name that nobody but root can have put there; empty if nowhere."""
    for folder in PROGRAM_FOLDERS:
        path = f"{folder}/{name}"
        try:
            found = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        if found.st_uid == 0 and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and os.access(path, os.X_OK):
            return path
    return ""


def _grep(arguments: Sequence[str], inside: Inside) -> bool:
    named = _GREP.operands(arguments)
    if named is None:
        return False
    return inside.all(named if _has_pattern(arguments) else named[1:])


def _ripgrep(arguments: Sequence[str], inside: Inside) -> bool:
    named = _RIPGREP.operands(arguments)
    if named is None:
        return False
    return inside.all(named if "--files" in arguments or _has_pattern(arguments) else named[1:])


def _has_pattern(arguments: Sequence[str]) -> bool:
    """Whether an option may give the pattern: then every operand counts as a file, also one that is none."""
    return any(one.startswith("--regexp") or re.match(r"-[A-Za-z0-9]*e", one) for one in arguments)


def _find(arguments: Sequence[str], inside: Inside) -> bool:
    waiting = list(arguments)
    while waiting and not waiting[0].startswith("-") and waiting[0] not in ("!", "("):
        if not inside.one(waiting.pop(0)):
            return False
    while waiting:
        following = _FIND_TESTS.get(waiting.pop(0))
        if following is None or following > len(waiting):
            return False
        del waiting[:following]
    return True


def _sed(arguments: Sequence[str], inside: Inside) -> bool:
    prints = len(arguments) >= 2 and arguments[0] == "-n" and bool(_SED_PRINT.fullmatch(arguments[1]))
    return prints and not any(one.startswith("-") for one in arguments[2:]) and inside.all(arguments[2:])


_CHECKS: dict[str, Callable[[Sequence[str], Inside], bool]] = {"find": _find, "grep": _grep, "sed": _sed}

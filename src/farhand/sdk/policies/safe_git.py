"""Makes git only read: what it would run or write because a repository says so is switched off or not safe at all."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.policies.safe_commands import Inside

LARGEST_CONFIG_BYTES = 65536
# Switched off for every call, although no harmless repository sets them.
_PINNED = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "diff.autoRefreshIndex=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
)
# Keys of a repository's own configuration that make git neither run nor read anything else.
_HARMLESS_KEYS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf"
    r"|eol|safecrlf|abbrev|quotepath)"
    r"|remote\..+\.(url|fetch|pushurl|tagopt|prune)|remote\.pushdefault"
    r"|branch\..+\.(remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)"
    r"|user\.(name|email|signingkey|useconfigonly)|commit\.gpgsign|tag\.gpgsign|init\.defaultbranch"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|fetch\.prune|merge\.ff|rerere\.enabled"
    r"|extensions\.objectformat|color\.(ui|branch|diff|status)|gc\.auto|advice\.detachedhead"
)
_PARTS = ("HEAD", "config", "objects", "refs", "index", "info", "packed-refs", "shallow", "objects/info")
# With one of these, git also reads what lies elsewhere.
_ELSEWHERE = ("config.worktree", "commondir", "info/attributes", "objects/info/alternates")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
_SECTION = re.compile(r'\[([a-zA-Z0-9.-]+)(?: "((?:[^"\\]|\\["\\])*)")?\]')
_KEY = re.compile(r'([a-zA-Z][a-zA-Z0-9-]*)(?:\s*=\s*([^"\\;#]*|"[^"\\]*"))?')
_DIFF_FLAGS = frozenset(
    "-p -u --patch --no-patch -s --stat --shortstat --numstat --summary --raw --name-only --name-status --check -w -b"
    " --ignore-all-space --ignore-space-change --ignore-blank-lines --word-diff --no-color --minimal --patience"
    " --histogram -M -C --find-renames --find-copies --no-renames -R -z --compact-summary --no-prefix --text -a".split()
)
_DIFF_VALUED = frozenset(
    "-U --unified --stat --diff-filter --word-diff --color --abbrev --inter-hunk-context --diff-algorithm"
    " --find-renames --find-copies".split()
)
_LOG_FLAGS = frozenset(
    "--oneline --graph --decorate --no-decorate --all --branches --tags --remotes --abbrev-commit --reverse --merges"
    " --no-merges --first-parent --follow -i --regexp-ignore-case --date-order --topo-order --no-walk --left-right"
    " --cherry-pick --full-history --pretty --relative-date".split()
)
_LOG_VALUED = frozenset(
    "-n --max-count --skip --since --until --after --before --author --committer --grep --format --pretty --date"
    " --decorate -S -G --abbrev".split()
)
_FLAGS: dict[str, frozenset[str]] = {
    "status": frozenset(
        "-s --short -b --branch --porcelain --long --show-stash --ahead-behind --no-ahead-behind -z -uno -unormal"
        " -uall --untracked-files --ignored --no-renames --column --no-column".split()
    ),
    "log": _LOG_FLAGS | _DIFF_FLAGS,
    "show": _LOG_FLAGS | _DIFF_FLAGS,
    "diff": _DIFF_FLAGS | {"--cached", "--staged", "--merge-base"},
    "branch": frozenset("--list -l --show-current -a --all -r --remotes -v -vv --verbose --no-color".split()),
}
_VALUED: dict[str, frozenset[str]] = {
    "status": frozenset({"--porcelain", "--untracked-files", "--ignored"}),
    "log": _LOG_VALUED | _DIFF_VALUED,
    "show": _LOG_VALUED | _DIFF_VALUED,
    "diff": _DIFF_VALUED,
    "branch": frozenset({"--format", "--sort", "--color"}),
}
# The next argument belongs to these for certain; the others take a value behind `=` alone.
_SEPARATE = frozenset(
    "-n --max-count --skip --since --until --after --before --author --committer --grep -S -G".split()
)
_ADDED = {
    "status": ("--ignore-submodules=all",),
    "log": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    "show": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    "branch": (),
}


def git_argv(program: str, arguments: Sequence[str], inside: Inside) -> tuple[str, ...]:
    """The argument list of a call that only reads this repository; empty for any other."""
    waiting = [one for one in arguments[:1] if one != "--no-pager"] + list(arguments[1:])
    if not waiting or waiting[0] not in _FLAGS:
        return ()
    subcommand, rest = waiting[0], waiting[1:]
    named = _operands(subcommand, rest)
    if named is None or not inside.all(named) or (subcommand == "branch" and named):
        return ()
    repository = _repository(inside)
    if not repository:
        return ()
    pinned = [part for one in _PINNED for part in ("-c", one)]
    place = (f"--git-dir={repository}/.git", f"--work-tree={repository}")
    return (program, "--no-pager", "--no-optional-locks", *pinned, *place, subcommand, *_ADDED[subcommand], *rest)


def _operands(subcommand: str, arguments: Sequence[str]) -> list[str] | None:
    """Revisions and paths; None when there is an option that is not on the list."""
    flags, valued = _FLAGS[subcommand], _VALUED[subcommand]
    found: list[str] = []
    waiting = list(arguments)
    while waiting:
        one = waiting.pop(0)
        if one == "--":
            return [*found, *waiting]
        if not one.startswith("-"):
            found.append(one)
            continue
        name, equals, value = one.partition("=")
        if equals and name in valued and name.startswith("--"):
            pass
        elif one in flags or re.fullmatch(r"-\d+|-U\d+|-[MC]\d+%?", one):
            continue
        elif one in valued & _SEPARATE and waiting and not waiting[0].startswith("-"):
            value = waiting.pop(0)
        else:
            return None
        # These placeholders check signatures, for which another program is run.
        if re.search(r"%[-+ ]?G", value) or "signature" in value or "trailer" in value:
            return None
    return found


def _repository(inside: Inside) -> str:
    """The folder inside the workspace whose `.git` counts here, if its own configuration is harmless; else empty."""
    folder = inside.cwd
    while True:
        git = f"{folder}/.git"
        if os.path.lexists(git):
            return folder if _is_plain(git) else ""
        if folder == inside.root or not folder.startswith(inside.root + os.sep):
            return ""
        folder = os.path.dirname(folder)  # noqa: PTH120 - a string all the way


def _is_plain(git: str) -> bool:
    """Whether it is a folder of its own, and nothing in its configuration makes git run or read anything else."""
    parts = (git, *(f"{git}/{name}" for name in _PARTS))
    if any(os.path.islink(part) for part in parts) or not os.path.isdir(git):  # noqa: PTH112, PTH114
        return False
    if any(os.path.lexists(f"{git}/{name}") for name in _ELSEWHERE):
        return False
    try:
        # Line ends as git has them: nothing but LF ends a line.
        with open(f"{git}/config", encoding="utf-8", newline="") as file:  # noqa: PTH123
            text = file.read(LARGEST_CONFIG_BYTES + 1)
    except (OSError, UnicodeDecodeError):
        return False
    return len(text) <= LARGEST_CONFIG_BYTES and is_harmless_config(text)


def is_harmless_config(text: str) -> bool:
    """Whether every line of a repository's configuration is understood, and every key on the list."""
    section = ""
    text = text.replace("\r\n", "\n")
    if _CONTROLS.search(text):
        return False
    for written in text.split("\n"):
        line = written.strip(" \t")
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            found = _SECTION.fullmatch(line)
            if found is None:
                return False
            section = found[1].lower() + (f".{found[2]}" if found[2] is not None else "")
            continue
        key = _KEY.fullmatch(line)
        if key is None or not section or not _HARMLESS_KEYS.fullmatch(f"{section}.{key[1].lower()}"):
            return False
        # `ext::` and its like name a program.
        if key[1].lower() in ("url", "pushurl") and "::" in (key[2] or ""):
            return False
    return True

"""Makes git only read: what it would run or write because a repository says so is switched off or not safe at all."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from farhand.sdk.policies.plain_repository import is_plain_repository

if TYPE_CHECKING:
    from farhand.sdk.policies.safe_commands import Inside

# Switched off for every call, although no harmless repository sets them.
_PINNED = (
    "column.ui=never",
    "column.branch=never",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.untrackedCache=false",
    "diff.autoRefreshIndex=false",
    "diff.submodule=short",
    "index.threads=1",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
)
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
        # For these placeholders another program is run.
        if re.search(r"%[-+ ]?G", value) or any(one in value for one in ("signature", "trailer", "describe")):
            return None
    return found


def _repository(inside: Inside) -> str:
    """The folder inside the workspace whose `.git` counts here, if that leads git nowhere else; otherwise empty."""
    folder = inside.cwd
    while True:
        git = f"{folder}/.git"
        if os.path.lexists(git):
            return folder if is_plain_repository(git) else ""
        if folder == inside.root or not folder.startswith(inside.root + os.sep):
            return ""
        folder = os.path.dirname(folder)  # noqa: PTH120 - a string all the way

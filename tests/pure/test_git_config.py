"""Git's own configuration is read as git reads it, so that what is judged is what git would do."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from farhand.model.git_config import is_harmless, is_plain, is_plain_to_read, settings_of

SECTIONS = ["[core]", "[Core]", '[remote "o"]', '[remote "a\\"b"]', "[remote.Origin]", "[color]", "[", "]"]
WORDS = ["url", "pushUrl", "bare", "=", " = ", "ext::sh", 'ext:"":sh', "x", "true", "ü"]
SIGNS = ['"', '\\"', "\\\\", "\\n", "\\q", "#", ";", " ", "\t", "\n", "\n\t", "\ufeff", "\u2028", "\x85"]
PARTS = [*SECTIONS, *WORDS, *SIGNS]


def as_git_reads(text: str) -> list[tuple[str, str]] | None:
    """What git itself finds in it; None for what it refuses."""
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    told = subprocess.run(
        ["git", "config", "--list", "-z", "-f", "-"],
        input=text.encode(),
        env=environment,
        capture_output=True,
        check=False,
    )
    if told.returncode:
        return None
    pairs = (one.partition("\n") for one in told.stdout.decode().split("\0")[:-1])
    return [(key, value) for key, _, value in pairs]


@example('[remote "o"]\n\turl = ext:"":./x')
@example("[core]\n\tbare = a\tb  ; c")
@example('[core]\n\tbare = " a " "b" # c')
@example("[core] bare")
@example("[core]bare=x\\tz")
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_whatever_is_understood_is_what_git_understands(text: str) -> None:
    try:
        ours = settings_of(text)
    except ValueError:
        return
    theirs = as_git_reads(text)
    # Git before 2.46 takes a tab within a value for a space.
    assert theirs is not None
    assert [(key, value.replace("\t", " ")) for key, value in ours] == [
        (key, value.replace("\t", " ")) for key, value in theirs
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gc.recentobjectshook", "./evil.sh"),
        ("help.browser", "./evil.sh"),
        ("blame.ignorerevsfile", "/etc/passwd"),
        ("remote.o.url", "ext::./evil.sh"),
        ("core.fsmonitor", "true"),
        ("filter.lfs.clean", "git-lfs clean -- %f; ./evil.sh"),
        ("diff.x.textconv", "cat"),
        ("submodule.x.update", "!./evil.sh"),
    ],
)
def test_what_names_a_program_or_a_file_is_not_harmless(key: str, value: str) -> None:
    assert not is_harmless(key, value)
    assert not is_plain(key, value)


def test_what_is_plain_is_harmless_and_a_signed_commit_is_plain_to_read_alone() -> None:
    usual = [("core.bare", "false"), ("remote.o.url", "https://example.org/x.git"), ("color.ui", "auto")]
    assert all(is_plain(*one) and is_harmless(*one) for one in usual)
    signing = ("commit.gpgsign", "true")
    assert is_harmless(*signing)
    assert not is_plain(*signing)
    assert is_plain_to_read([*usual, signing])
    assert not is_plain_to_read([*usual, ("extensions.partialclone", "o")])

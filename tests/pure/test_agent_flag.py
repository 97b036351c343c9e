"""The agent of a command is its first word or a flag, wherever the flag stands."""

from __future__ import annotations

from types import ModuleType

import pytest

from farhand.cli import adapter, adopt, sessions
from farhand.cli.agent_flag import settle_agent
from farhand.cli.flags import parse
from farhand.model.errors import BadUsage

FOLLOWING = {
    adopt: ("session", "worker"),
    sessions: ("folder",),
    adapter: ("worker", "message", "bridge_url", "sessions_dir", "workdir"),
}


def settled(command: ModuleType, words: str) -> dict[str, object]:
    """What the command makes of these words."""
    following = FOLLOWING[command]
    given = parse("farhand", "", command, [], words.split())
    settle_agent(given, following, needed=command is not sessions)
    return {name: value for name, value in vars(given).items() if name in ("backend", *following) and value}


@pytest.mark.parametrize("flag", ["--backend", "--adapter"])
@pytest.mark.parametrize(
    ("command", "as_word", "as_flag"),
    [
        (adopt, "gemini 5ee7", "{} gemini 5ee7"),
        (adopt, "gemini 5ee7", "gemini 5ee7 {} gemini"),
        (adopt, "gemini 5ee7 ann", "5ee7 {} gemini ann"),
        (adopt, "gemini --mode plan 5ee7 ann", "5ee7 ann --mode plan {} gemini"),
        (sessions, "gemini", "{} gemini"),
        (sessions, "gemini work --all", "{} gemini --all work"),
        (adapter, "gemini ann hello http://b", "ann hello http://b {} gemini"),
        (adapter, "gemini ann hello http://b s w", "{} gemini ann hello http://b s w"),
    ],
)
def test_an_agent_is_named_by_a_flag_as_by_the_first_word(
    command: ModuleType, as_word: str, as_flag: str, flag: str
) -> None:
    found = settled(command, as_flag.format(flag))
    assert found["backend"] == "gemini"
    assert found == settled(command, as_word)


@pytest.mark.parametrize(
    ("command", "words", "sentence"),
    [
        (adopt, "5ee7", "Missing: backend"),
        (adopt, "", "Missing: session"),
        (adopt, "gemini 5ee7 ann --adapter codex", "Two agents are named: gemini and codex."),
        (adopt, "gemini 5ee7 ann bob", "Unexpected argument: bob"),
        (sessions, "gemini work --backend codex", "Two agents are named: gemini and codex."),
    ],
)
def test_what_is_missing_or_named_twice_is_said(command: ModuleType, words: str, sentence: str) -> None:
    with pytest.raises(BadUsage) as raised:
        settled(command, words)
    assert raised.value.text == sentence


def test_without_an_agent_the_conversations_of_all_are_listed() -> None:
    assert settled(sessions, "") == {}

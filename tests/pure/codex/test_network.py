"""Codex without a network tries again for ever: that is told once a turn, and nothing else that it tries again."""

from __future__ import annotations

import json

from farhand.drivers.codex.headless import translate
from farhand.drivers.codex.headless.state import CodexServerState
from farhand.model.facts import Fact, Noted
from farhand.model.start_problems import WAITS_FOR_NETWORK

AWAY = "Reconnecting... waiting for network"


def told(*errors: tuple[str, str, bool]) -> list[Fact]:
    """The facts of errors, each with its turn, its words and whether Codex tries again."""
    state, facts = CodexServerState(session="s", turns={"t1": "m1", "t2": "m2"}), []
    for turn, message, again in errors:
        error = {"error": {"message": message}, "willRetry": again, "threadId": "s", "turnId": turn}
        heard, state = translate.translate(json.dumps({"method": "error", "params": error}).encode(), state)
        facts += [one.fact for one in heard]
    assert state.skipped == 0
    return facts


def test_a_network_that_is_away_is_told_once_a_turn() -> None:
    note = Noted(text=WAITS_FOR_NETWORK)
    assert told(("t1", AWAY, True), ("t1", AWAY, True)) == [note]
    assert told(("t1", AWAY, True), ("t2", AWAY, True)) == [note, note]


def test_what_ends_the_turn_or_is_no_network_is_not_told_here() -> None:
    assert told(("t1", AWAY, False), ("t1", "Reconnecting... 1/5: stream closed", True)) == []

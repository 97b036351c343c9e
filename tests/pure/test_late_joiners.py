"""A message that was to join a turn and came after its end is its sender's, and was not typed at the desk."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from farhand.drivers.claude.tmux import state as claude
from farhand.drivers.codex.tmux import state as codex
from farhand.drivers.gemini.tmux import state as gemini
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage
from farhand.model.facts import Seen, TurnStarted
from farhand.model.ports import Heard

LATE = (ExpectedMessage(message="telegram:7", text="then the test", turn=""),)


def of_claude(text: str) -> list[Heard]:
    return claude.prompted(text, "p-1", claude.ClaudeState(expected=LATE))[0]


def of_codex(text: str) -> list[Heard]:
    return codex.prompted(text, "t-1", codex.CodexRolloutState(expected=LATE))[0]


def of_gemini(text: str) -> list[Heard]:
    return gemini.prompted(text, 1.0, gemini.GeminiState(expected=LATE), hook=True)[0]


@pytest.mark.parametrize("prompted", [of_claude, of_codex, of_gemini])
def test_a_late_message_begins_a_turn_as_its_senders(prompted: Callable[[str], list[Heard]]) -> None:
    heard = [one.fact for one in prompted("then the test")]
    assert heard == [TurnStarted(joined="telegram:7"), Seen(message="telegram:7")]
    assert [one.fact for one in prompted("typed at the desk")] == [TurnStarted(text="typed at the desk")]

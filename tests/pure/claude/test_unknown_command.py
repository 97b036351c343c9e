"""What Claude Code says of a command that it does not know is told as its own words, and never as done."""

import json

from farhand.drivers.claude.tmux.state import COMMAND_PROMPT, ClaudeState, began
from farhand.drivers.claude.tmux.translate import translate
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage
from farhand.model.facts import Said, TurnEnded
from farhand.model.words import replace

UNKNOWN = "Unknown command: /zed. Did you mean /cd?"


def line(content: str) -> bytes:
    return json.dumps({"type": "system", "subtype": "informational", "content": content, "level": "warning"}).encode()


def test_the_clis_own_words_are_the_answer_of_a_commands_turn() -> None:
    state = began(ClaudeState(session="s"), "t", f"{COMMAND_PROMPT}m")
    heard, state = translate(line(UNKNOWN), state)
    assert [one.fact.text for one in heard if isinstance(one.fact, Said)] == [UNKNOWN]
    assert isinstance(heard[-1].fact, TurnEnded)
    assert translate(line("Args from unknown skill: hi"), state)[0] == []


def test_they_are_told_in_the_turn_of_the_command_and_not_in_the_one_before() -> None:
    earlier = replace(began(ClaudeState(session="s"), "before", "a-prompt"), written="a-prompt")
    heard, _ = translate(line(UNKNOWN), began(earlier, "t", f"{COMMAND_PROMPT}m"))
    assert [(one.turn, type(one.fact)) for one in heard] == [("t", Said), ("t", TurnEnded)]


def test_they_may_come_before_the_delivery_is_through() -> None:
    expected = ExpectedMessage(message="m", text="/zed hi", turn="t")
    heard, state = translate(line(UNKNOWN), replace(ClaudeState(session="s"), expected=(expected,)))
    assert [one.fact.text for one in heard if isinstance(one.fact, Said)] == [UNKNOWN]
    assert {one.turn for one in heard} == {"t"}
    assert not state.running


def test_in_any_other_turn_it_is_no_news() -> None:
    state = began(ClaudeState(session="s"), "t", "a-prompt")
    assert translate(line("Compacting soon."), state)[0] == []
    assert translate(line(UNKNOWN), state)[0] == []

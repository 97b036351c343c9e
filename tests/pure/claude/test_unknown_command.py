"""What Claude Code says of a command that it does not know is told as its own words, and never as done."""

import json

from farhand.drivers.claude.tmux.state import COMMAND_PROMPT, ClaudeState, began
from farhand.drivers.claude.tmux.translate import translate
from farhand.model.facts import Said


def line(content: str) -> bytes:
    return json.dumps({"type": "system", "subtype": "informational", "content": content, "level": "warning"}).encode()


def test_the_clis_own_words_are_the_answer_of_a_commands_turn() -> None:
    state = began(ClaudeState(session="s"), "t", f"{COMMAND_PROMPT}m")
    first, state = translate(line("Unknown command: /zed. Did you mean /cd?"), state)
    second, state = translate(line("Args from unknown skill: hi"), state)
    said = [heard.fact.text for heard in (*first, *second) if isinstance(heard.fact, Said)]
    assert "".join(said) == "Unknown command: /zed. Did you mean /cd?\n\nArgs from unknown skill: hi"


def test_in_any_other_turn_it_is_no_news() -> None:
    state = began(ClaudeState(session="s"), "t", "a-prompt")
    assert translate(line("Compacting soon."), state)[0] == []

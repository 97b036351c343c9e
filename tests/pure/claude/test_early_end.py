"""The end of a turn is told by its Stop hook when all of its words were displayed, and by the transcript otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from farhand.drivers.claude.launch import hook_groups, installed_groups
from farhand.drivers.claude.tmux.hooks import translate_hook
from farhand.drivers.claude.tmux.state import ClaudeState, began
from farhand.drivers.claude.tmux.translate import translate
from farhand.model.facts import Fact, Said, Thought, ToolEnded, ToolStarted, TurnEnded, Used
from farhand.model.ports import Heard

USAGE = {"input_tokens": 100, "output_tokens": 10}


class Session:
    """What a link would have told after each hook and each line of the transcript."""

    def __init__(self) -> None:
        self.state = began(ClaudeState(session="s"), "t1", "p1")
        self.heard: list[Heard] = []

    @property
    def facts(self) -> list[Fact]:
        return [one.fact for one in self.heard]

    @property
    def ended(self) -> bool:
        return any(isinstance(fact, TurnEnded) for fact in self.facts)

    def hook(self, event: str, prompt: str = "p1", **fields: Any) -> None:
        payload = {"hook_event_name": event, "prompt_id": prompt, "session_id": "s", **fields}
        heard, self.state = translate_hook(json.dumps(payload).encode(), self.state)
        self.heard += heard

    def display(self, delta: str, message: str = "m1", index: int = 0, *, final: bool = True) -> None:
        self.hook("MessageDisplay", message_id=message, index=index, final=final, delta=delta)

    def stop(self, words: str) -> None:
        self.hook("Stop", last_assistant_message=words)

    def line(self, kind: str, *content: dict[str, Any], **message: Any) -> None:
        record = {"type": kind, "message": {"content": list(content), **message}, "promptId": "p1", "uuid": "u"}
        heard, self.state = translate(json.dumps(record).encode(), self.state)
        self.heard += heard

    def wrote(self, text: str, name: str = "msg_1", reason: str = "end_turn") -> None:
        self.line("assistant", {"type": "text", "text": text}, id=name, usage=USAGE, stop_reason=reason)


def test_a_displayed_answer_is_over_with_its_hook_and_its_usage_comes_later() -> None:
    session = Session()
    session.display("all ", final=False)
    session.display("done.", index=1)
    session.stop("all done.")
    assert [type(fact) for fact in session.facts] == [Said, Said, TurnEnded]
    session.wrote("all done.")
    assert [type(fact) for fact in session.facts[3:]] == [Used]
    assert session.heard[-1].turn == "t1"


def test_a_display_that_comes_after_the_hook_ends_the_turn() -> None:
    session = Session()
    session.stop("done.")
    assert not session.ended
    session.display("done.")
    assert session.ended


def test_words_that_were_not_displayed_are_waited_for() -> None:
    for pieces in ([("done", 0, False)], [("all ", 1, True)], [("something else", 0, True)], []):
        session = Session()
        for delta, index, final in pieces:
            session.display(delta, index=index, final=final)
        session.stop("all done.")
        assert not session.ended, pieces


def test_a_piece_that_came_before_its_prompt_leaves_the_end_to_the_transcript() -> None:
    session = Session()
    session.state = ClaudeState(session="s")
    session.display("first", message="m0")
    session.state = began(session.state, "t1", "p1")
    session.display("done.")
    session.stop("done.")
    assert not session.ended
    session.wrote("first", "msg_0", reason="max_tokens")
    session.wrote("done.")
    assert session.ended


def test_a_tool_whose_result_is_not_written_yet_is_waited_for() -> None:
    session = Session()
    session.display("I look.")
    session.hook("PreToolUse", tool_name="Bash", tool_use_id="c1")
    session.display("done.", message="m2")
    session.stop("done.")
    assert not session.ended
    session.wrote("I look.", reason="tool_use")
    session.line("assistant", {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}, id="msg_1", usage=USAGE)
    session.line("user", {"type": "tool_result", "tool_use_id": "c1", "content": "x"})
    session.wrote("done.", "msg_2")
    kinds = [type(fact) for fact in session.facts]
    assert kinds.index(ToolStarted) < kinds.index(ToolEnded) < kinds.index(TurnEnded)


def test_the_same_words_before_and_after_a_tool_are_not_taken_for_one_another() -> None:
    session = Session()
    session.display("ok")
    session.hook("PreToolUse", tool_name="Bash", tool_use_id="c1")
    session.line("user", {"type": "tool_result", "tool_use_id": "c1", "content": "x"})
    session.stop("ok")
    assert not session.ended


def test_a_thought_comes_before_the_end() -> None:
    session = Session()
    session.state = began(ClaudeState(session="s", thinks=True), "t1", "p1")
    session.display("done.")
    session.stop("done.")
    assert not session.ended
    session.line("assistant", {"type": "thinking", "thinking": "hm"}, id="msg_1", usage=USAGE)
    session.wrote("done.")
    kinds = [type(fact) for fact in session.facts]
    assert kinds.index(Thought) < kinds.index(TurnEnded)


def test_usage_that_is_written_when_the_next_turn_runs_counts_for_its_own() -> None:
    session = Session()
    session.line("user", {"type": "text", "text": "one"})
    session.display("done.")
    session.stop("done.")
    session.state = began(session.state, "t2", "p2")
    session.wrote("done.")
    (used,) = [one for one in session.heard if isinstance(one.fact, Used)]
    assert used.turn == "t1"
    assert session.state.usage.input_tokens == 0


def test_no_prompt_waits_for_its_hook_but_in_a_persons_own_settings() -> None:
    own = hook_groups("python", Path("hook.py"), 60.0)
    persons = installed_groups("python", Path("hook.py"), 60.0)
    asynchronous = [
        [event for event, group in groups.items() if '"async": true' in json.dumps(group)] for groups in (own, persons)
    ]
    assert asynchronous == [["UserPromptSubmit"], []]

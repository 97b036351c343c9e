"""The end of a turn is told by its Stop hook when all of its words were displayed, and by the transcript otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.claude.launch import hook_groups, installed_groups
from farhand.drivers.claude.tmux.hooks import translate_hook
from farhand.drivers.claude.tmux.state import MOST_EARLY, ClaudeCursor, ClaudeState, began
from farhand.drivers.claude.tmux.translate import translate
from farhand.drivers.wires.cursor import read_cursor, write_cursor
from farhand.drivers.wires.tmux.delivered_log import ExpectedMessage
from farhand.model.facts import Fact, Said, Thought, ToolEnded, ToolStarted, TurnEnded, TurnStarted, Used
from farhand.model.ports import Heard
from farhand.model.words import replace

USAGE = {"input_tokens": 100, "output_tokens": 10}


class Session:
    """What a link would have told after each hook and each line of the transcript."""

    def __init__(self) -> None:
        self.state = began(ClaudeState(session="s"), "t1", "p1")
        self.heard: list[Heard] = []

    @classmethod
    def at_rest(cls) -> Session:
        """One in which no turn runs."""
        session = cls()
        session.state = ClaudeState(session="s")
        return session

    @property
    def facts(self) -> list[Fact]:
        return [one.fact for one in self.heard]

    @property
    def ended(self) -> bool:
        return any(isinstance(fact, TurnEnded) for fact in self.facts)

    def hook(self, event: str, prompt_id: str = "p1", **fields: Any) -> None:
        payload = {"hook_event_name": event, "prompt_id": prompt_id, "session_id": "s", **fields}
        heard, self.state = translate_hook(json.dumps(payload).encode(), self.state)
        self.heard += heard

    def display(self, delta: str, message: str = "m1", index: int = 0, *, final: bool = True) -> None:
        self.hook("MessageDisplay", message_id=message, index=index, final=final, delta=delta)

    def stop(self, words: str) -> None:
        self.hook("Stop", last_assistant_message=words)

    def line(self, kind: str, *content: dict[str, Any], prompt: str = "p1", **message: Any) -> None:
        message = {"content": list(content), **message}
        self.record({"type": kind, "message": message, "promptId": prompt, "uuid": "u"})

    def record(self, record: dict[str, Any]) -> None:
        heard, self.state = translate(json.dumps(record).encode(), self.state)
        self.heard += heard

    def restart_node(self) -> None:
        """Another life of the node: what it knows is what the journal has."""
        kept = write_cursor(ClaudeCursor(path="/transcript", state=self.state))
        self.state = read_cursor(kept, ClaudeCursor).state

    def restart_agent(self) -> None:
        """Another life of the agent, as the driver begins it."""
        self.restart_node()
        self.state = replace(self.state, running=False)

    def turn(self, turn: str, prompt: str, words: str) -> None:
        """A turn that is over with its hook."""
        expected = ExpectedMessage(message=turn, text=turn, turn=turn)
        self.state = replace(self.state, expected=(*self.state.expected, expected))
        self.hook("UserPromptSubmit", prompt, prompt=turn)
        self.hook("MessageDisplay", prompt, message_id=f"shown-{prompt}", index=0, final=True, delta=words)
        self.hook("Stop", prompt, last_assistant_message=words)

    def wrote_turn(self, turn: str, prompt: str, words: str) -> None:
        """The transcript has it all."""
        self.line("user", {"type": "text", "text": turn}, prompt=prompt)
        self.wrote(words, name=f"msg-{prompt}")
        self.line("system")

    def said(self, turn: str) -> str:
        return "".join(one.fact.text for one in self.heard if isinstance(one.fact, Said) and one.turn == turn)

    def assert_told_once(self, **turns: str) -> None:
        """Each turn has its words and one end, and nothing else began."""
        assert {one.turn for one in self.heard if isinstance(one.fact, Said)} == set(turns)
        assert {turn: self.said(turn) for turn in turns} == turns
        assert [one.turn for one in self.heard if isinstance(one.fact, TurnEnded)] == list(turns)
        assert not any(isinstance(fact, TurnStarted) for fact in self.facts)

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


def test_what_was_displayed_before_its_prompt_was_known_is_told_with_it() -> None:
    """The hook of a prompt runs in the background: on a busy machine the first words overtake it."""
    session = Session.at_rest()
    session.state = replace(session.state, expected=(ExpectedMessage(message="t1", text="t1", turn="t1"),))
    session.display("all ", final=False)
    assert session.facts == []
    session.restart_node()
    session.hook("UserPromptSubmit", prompt="t1")
    assert session.said("t1") == "all "
    session.display("done.", index=1)
    session.stop("all done.")
    assert session.ended
    session.wrote_turn("t1", "p1", "all done.")
    session.assert_told_once(t1="all done.")


def test_pieces_of_a_prompt_that_never_came_are_told_nowhere() -> None:
    session = Session()
    for number in range(MOST_EARLY + 1):
        session.hook("MessageDisplay", "p0", message_id="m0", index=number, final=False, delta="x")
    assert (session.facts, len(session.state.early)) == ([], MOST_EARLY)
    session.display("done.")
    session.stop("done.")
    assert session.said("t1") == "done."
    assert session.ended
    session.turn("t2", "p2", "next.")
    assert session.state.early == ()
    # Its first pieces are gone: the transcript has them all.
    session.hook("MessageDisplay", "p3", message_id="m3", index=1, final=True, delta="half")
    session.state = replace(session.state, expected=(ExpectedMessage(message="t3", text="t3", turn="t3"),))
    session.hook("UserPromptSubmit", "p3", prompt="t3")
    assert session.said("t3") == ""
    session.wrote_turn("t3", "p3", "a whole half")
    assert session.said("t3") == "a whole half"


def test_words_of_a_turn_at_rest_leave_the_end_to_the_transcript() -> None:
    session = Session()
    session.state = replace(session.state, running=False)
    session.display("first", message="m0")
    session.state = replace(session.state, running=True)
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


# --- the 100 ms between the end that was told and the transcript


def test_a_node_killed_before_the_transcript_has_the_words_does_not_repeat_them() -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "first.")
    session.restart_node()
    session.wrote_turn("t1", "p1", "first.")
    session.turn("t2", "p2", "second.")
    session.restart_node()
    session.wrote_turn("t2", "p2", "second.")
    session.assert_told_once(t1="first.", t2="second.")


@pytest.mark.parametrize("words", ["first.", "second.", "fir"])
@pytest.mark.parametrize("wrote", ["nothing", "the prompt"])
def test_an_agent_killed_before_its_words_are_written_leaves_nothing_to_the_next_turn(words: str, wrote: str) -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "first.")
    if wrote == "the prompt":
        session.line("user", {"type": "text", "text": "t1"})
    session.restart_agent()
    session.turn("t2", "p2", words)
    session.wrote_turn("t2", "p2", words)
    session.assert_told_once(t1="first.", t2=words)


def test_what_claude_code_puts_in_the_place_of_an_answer_that_it_lost_is_not_said() -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "first.")
    session.line("user", {"type": "text", "text": "t1"})
    session.restart_agent()
    session.turn("t2", "p2", "second.")
    lost = {"type": "text", "text": "No response requested."}
    session.line("assistant", lost, id="x", model="<synthetic>", usage=USAGE, stop_reason="stop_sequence")
    session.wrote_turn("t2", "p2", "second.")
    session.assert_told_once(t1="first.", t2="second.")


@pytest.mark.parametrize("words", ["first.", "second."])
def test_a_turn_told_before_the_one_before_it_is_written(words: str) -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "first.")
    session.turn("t2", "p2", words)
    session.restart_node()
    session.turn("t3", "p3", "third.")
    for turn, prompt, text in (("t1", "p1", "first."), ("t2", "p2", words), ("t3", "p3", "third.")):
        session.wrote_turn(turn, prompt, text)
    session.assert_told_once(t1="first.", t2=words, t3="third.")


META = {"type": "user", "isMeta": True, "message": {"content": "<local-command-caveat>not typed"}}


@pytest.mark.parametrize("place", ["before", "behind"])
def test_a_line_of_the_clis_own_that_is_written_late_repeats_no_answer(place: str) -> None:
    """A cleared conversation begins with one, and a picture has one behind its prompt; a hook that has the agent go on
    leaves one, too, but behind the words that it follows."""
    session = Session.at_rest()
    session.turn("t1", "p1", "new")
    if place == "before":
        session.record(META)
    session.line("user", {"type": "text", "text": "t1"}, prompt="p1")
    if place == "behind":
        session.record(META)
    session.wrote("new", name="msg-p1")
    session.turn("t2", "p2", "newer")
    session.wrote_turn("t2", "p2", "newer")
    session.assert_told_once(t1="new", t2="newer")


def test_an_agent_that_a_hook_has_go_on_after_displayed_words_begins_anew() -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "one")
    session.wrote_turn("t1", "p1", "one")
    session.record(META)
    session.wrote("two", name="msg-2")
    assert session.said("desk-u") == "two"


def test_an_agent_that_goes_on_after_displayed_words_were_interrupted_begins_anew() -> None:
    """What was displayed and never written is given up with the turn: it hides nothing that comes later."""
    session = Session()
    session.display("partial ", final=False)
    session.line("user", {"type": "text", "text": "[Request interrupted by user]"})
    assert session.ended
    session.record({"type": "user", "isMeta": True, "uuid": "m", "message": {"content": "Continue."}})
    session.wrote("two")
    assert session.said("t1") == "partial "
    assert session.said("desk-u") == "two"


def test_words_of_an_older_turn_that_were_not_displayed_are_still_told() -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "first.")
    session.turn("t2", "p2", "second.")
    session.line("user", {"type": "text", "text": "t1"})
    session.wrote("first. And more.", name="msg-p1")
    assert session.said("t1") == "first. And more."
    session.wrote_turn("t2", "p2", "second.")
    assert session.said("t2") == "second."


def test_a_tool_whose_prompt_is_not_known_yet_leaves_the_end_to_the_transcript() -> None:
    session = Session.at_rest()
    session.hook("PreToolUse", tool_name="Bash", tool_use_id="c1")
    session.turn("t1", "p1", "done.")
    assert not session.ended


def test_the_same_words_displayed_after_the_tool_was_called_are_not_the_last_ones() -> None:
    session = Session()
    session.hook("PreToolUse", tool_name="Bash", tool_use_id="c1")
    session.display("ok")
    session.wrote("ok", reason="tool_use")
    session.line("assistant", {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}, id="msg_1", usage=USAGE)
    session.line("user", {"type": "tool_result", "tool_use_id": "c1", "content": "x"})
    session.stop("ok")
    early = session.ended
    session.display("ok", message="m2")
    assert (early, session.ended) == (False, True)
    assert session.said("t1").split() == ["ok", "ok"]


def test_a_prompt_whose_hook_was_overtaken_by_its_end_is_ended_by_the_transcript() -> None:
    session = Session.at_rest()
    session.state = replace(session.state, expected=(ExpectedMessage(message="t1", text="t1", turn="t1"),))
    session.display("done.")
    session.stop("done.")
    session.hook("UserPromptSubmit", prompt="t1")
    session.restart_node()
    session.wrote_turn("t1", "p1", "done.")
    session.assert_told_once(t1="done.")


def test_the_end_of_a_prompt_that_is_over_is_not_kept_for_another() -> None:
    session = Session.at_rest()
    session.turn("t1", "p1", "done.")
    session.stop("done.")
    assert session.state.stops == {}


def test_no_prompt_waits_for_its_hook_but_in_a_persons_own_settings() -> None:
    own = hook_groups("python", Path("hook.py"), 60.0)
    persons = installed_groups("python", Path("hook.py"), 60.0)
    asynchronous = [
        [event for event, group in groups.items() if '"async": true' in json.dumps(group)] for groups in (own, persons)
    ]
    assert asynchronous == [["UserPromptSubmit"], []]

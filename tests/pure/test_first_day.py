"""Small things that a first day showed: glued words, decoded entities, and where tmux lives."""

import pytest

from farhand.channels.telegram.markup import styled
from farhand.config.places import tmux_server
from farhand.model import facts, view
from farhand.model.facts import Event, Fact
from farhand.roster import backends_of
from farhand.sandbox.environment import child_environment
from farhand.testing.scripted import ScriptedDriver


def test_words_before_and_after_a_tool_are_two_paragraphs() -> None:
    def told(*said: Fact) -> str:
        begun = view.begin(Event(seq=1, at=0.0, worker="ann", turn="t", fact=facts.TurnStarted()), facts.TurnStarted())
        for seq, fact in enumerate(said, 2):
            begun = view.fold(begun, Event(seq=seq, at=0.0, worker="ann", turn="t", fact=fact))
        return begun.text

    tool = (facts.ToolStarted(call="1", tool="Bash", title="ls"), facts.ToolEnded(call="1"))
    assert told(facts.Said(text="I look at gem.txt"), *tool, facts.Said(text="Tool "), facts.Said(text="finished")) == (
        "I look at gem.txt\n\nTool finished"
    )
    assert told(*tool, facts.Said(text="Done")) == "Done"
    assert told(facts.Said(text="One\n"), *tool, facts.Said(text="Two")) == "One\nTwo"


@pytest.mark.parametrize("written", ["&amp;", "&lt;b&gt;", "&#65;", "a &copy; b"])
def test_entities_arrive_as_they_were_written(written: str) -> None:
    assert styled(written).text == written


def test_a_tmux_socket_is_a_path_or_a_name() -> None:
    assert tmux_server("") == ("tmux",)
    assert tmux_server("/tmp/x/tmux") == ("tmux", "-S", "/tmp/x/tmux")
    assert tmux_server("mine") == ("tmux", "-L", "mine")


def test_where_the_persons_own_tmux_lives_is_passed_on() -> None:
    assert child_environment({"TMUX_TMPDIR": "/run/me"}, {}) == {"TMUX_TMPDIR": "/run/me"}


def test_no_name_of_an_earlier_version_is_offered_as_an_agent() -> None:
    here = ScriptedDriver(backend="claude")
    assert backends_of({"claude": here, "claude/headless": here, "claude-headless": here}) == ["claude"]

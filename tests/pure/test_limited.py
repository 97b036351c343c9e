"""A worker whose usage limit is reached is told apart from every other, until the limit ends or a turn completes."""

from farhand.channels.kit import texts
from farhand.channels.kit.card import cards
from farhand.cli.conversation import event_line, team_lines
from farhand.model import facts
from farhand.model.facts import Event, Fact
from farhand.model.present import Present, fold
from farhand.model.words import HowEnded, Sender

ME = Sender(via="test")
LIMITED = facts.Limited(text="You've hit your limit", until=100.0)
FAILED = facts.TurnEnded(how=HowEnded.FAILED, error="limit")
DONE = facts.TurnEnded(how=HowEnded.COMPLETED)


def present(*told: Fact) -> Present:
    now = Present()
    for seq, fact in enumerate((facts.Hired(backend="demo", directory="/", by=ME), *told), 1):
        now = fold(now, Event(seq=seq, at=0.0, worker="ann", turn="t", fact=fact))
    return now


def state(*told: Fact, at: float = 50.0) -> str:
    return present(*told).workers["ann"].state_at(at)


def test_idle_busy_waiting_limited_and_dead_are_told_apart() -> None:
    online, started = facts.CameOnline(), facts.TurnStarted()
    limited = (online, started, LIMITED, FAILED)
    assert state() == "offline"
    assert state(online) == "available"
    assert state(online, started) == "working"
    assert state(online, started, facts.AskRaised(ask="a", question="?", choices=())) == "waiting"
    assert state(*limited) == "limited"
    assert state(*limited, facts.TurnStarted()) == "working"
    assert state(*limited, facts.WentOffline(why="gone")) == "offline"


def test_a_limit_is_over_at_its_time_or_with_a_completed_turn() -> None:
    limited = (facts.CameOnline(), facts.TurnStarted(), LIMITED, FAILED)
    assert state(*limited, at=100.0) == "available"
    assert state(*limited, facts.TurnStarted(), FAILED) == "limited"
    assert state(*limited, facts.TurnStarted(), DONE) == "available"
    unknown = facts.Limited(text="limit")
    assert state(facts.CameOnline(), unknown, at=1e12) == "limited"


def test_progress_on_the_phone_tells_of_a_limit_while_it_lasts() -> None:
    focused = facts.Focused(by=ME)
    now = present(facts.CameOnline(), focused, LIMITED)
    line = "Needs attention: usage limit reached; it resets on 01 January at 00:01 UTC."
    assert line in texts.progress(now, (), 50.0).splitlines()
    assert "attention" not in texts.progress(now, (), 100.0)


def test_a_limit_is_shown_with_its_end() -> None:
    event = Event(seq=7, at=0.0, worker="ann", fact=LIMITED)
    (card,) = cards(event, None)
    assert (card.head, card.silent) == ("ann has reached its usage limit; it resets on 01 January at 00:01 UTC.", False)
    assert event_line(event).startswith("ann: ✗ the usage limit is reached until ")
    assert "ann (limited until " in team_lines(present(facts.CameOnline(), LIMITED), 50.0)
    unknown = Event(seq=7, at=0.0, worker="ann", fact=facts.Limited(text="limit"))
    assert event_line(unknown) == "ann: ✗ the usage limit is reached."

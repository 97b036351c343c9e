"""The first words to a worker come first, though somebody was quicker to write to it; a pipe gains nothing by them."""

from farhand.core.decide import decide
from farhand.core.hire_policy import HirePolicy
from farhand.model import facts
from farhand.model.commands import Say
from farhand.model.facts import Event, Fact
from farhand.model.present import Present
from farhand.model.present_fold import fold
from farhand.model.provenance import INTRODUCED_BY, pipe_sender
from farhand.model.welcome import welcome
from farhand.model.words import Mode, Sender

MANAGER, NODE, COLLEAGUE = Sender(via="telegram", who="mo"), Sender(via=INTRODUCED_BY), pipe_sender("bob")
POLICY = HirePolicy(kinds={"demo"}, directory="/", mode=Mode.DEFAULT)
FIRST_WORDS = welcome("ann", "http://localhost:1", "/in.pipe", "[Message from ")


class Team:
    """One worker, and what becomes of what is said to it."""

    def __init__(self) -> None:
        self.present = Present()
        self.seq = 0
        self.happens(facts.Hired(backend="demo", directory="/", by=MANAGER))

    def happens(self, fact: Fact, turn: str | None = None) -> None:
        self.seq += 1
        self.present = fold(self.present, Event(seq=self.seq, at=0.0, worker="ann", turn=turn, fact=fact))

    def says(self, text: str, by: Sender) -> None:
        command = Say(id=f"c{self.seq}", worker="ann", text=text, anyway=True)
        for draft in decide(self.present, command, by, POLICY):
            self.happens(draft.fact, draft.turn)

    @property
    def waiting(self) -> list[str]:
        return [one.text for one in self.present.workers["ann"].queue]


def test_they_come_before_what_waits_for_an_agent_that_starts() -> None:
    team = Team()
    team.says("do it", MANAGER)
    team.says("and that", MANAGER)
    team.says("mind me", COLLEAGUE)
    team.says(FIRST_WORDS, NODE)
    team.says("at last", MANAGER)
    assert team.waiting == [FIRST_WORDS, "do it", "and that", "at last", "mind me"]


def test_a_colleague_who_says_the_same_waits_as_colleagues_do() -> None:
    team = Team()
    team.says("do it", MANAGER)
    team.says(FIRST_WORDS, COLLEAGUE)
    assert team.waiting == ["do it", FIRST_WORDS]


def test_a_turn_that_runs_goes_on() -> None:
    team = Team()
    team.happens(facts.CameOnline())
    team.says("do it", MANAGER)
    team.says("and that", MANAGER)
    team.says(FIRST_WORDS, NODE)
    turn = team.present.workers["ann"].turn
    assert turn is not None
    assert turn.message is not None
    assert (turn.message.text, team.waiting) == ("do it", [FIRST_WORDS, "and that"])

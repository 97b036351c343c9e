"""A link whose agent asks through hooks: the end of one turn takes no question of the next one away."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from farhand.drivers.claude.asks import question_of
from farhand.drivers.claude.tmux.pending import ClaudeQuestions
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.hooks.hook_link import HookedLink
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.model.facts import AskRaised, TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import HowEnded

pytestmark = pytest.mark.anyio
PAYLOAD = b'{"tool_name":"Bash","tool_input":{"command":"ls"}}'


class EndedMeanwhile(HookedLink[None]):
    """Whenever it reads the agent's file, it finds that the turn before has ended."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Tmux(("tmux",), "door", {}), Pane(id="%0", pid=1, session="$0"), folder)
        self._questions: ClaudeQuestions = ClaudeQuestions(60)

    def _read(self) -> list[Heard]:
        return [Heard(fact=TurnEnded(how=HowEnded.COMPLETED), turn="before")]

    def _raised(self, asked: HookAsk, payload: Fields) -> Heard:
        return Heard(fact=self._questions.hold(asked, question_of(payload), ()), turn="next")

    async def take(self, asked: HookAsk) -> list[str]:
        """The kinds of facts that follow."""
        return [type(one.fact).__name__ for one in await self._take(asked)]


async def test_a_question_that_comes_with_the_end_of_the_turn_before_stays_open(short_folder: Path) -> None:
    asked = HookAsk(HookReport(id="1", event="PermissionRequest", payload=PAYLOAD))
    # What it does not need, it does not have.
    with closing(EndedMeanwhile(short_folder)) as link:  # type: ignore[abstract]
        assert await link.take(asked) == [TurnEnded.__name__, AskRaised.__name__]
        assert link._questions
    assert not asked.answered

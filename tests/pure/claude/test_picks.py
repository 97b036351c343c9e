"""No answer to a part of a questionnaire is lost or given twice, whenever the node dies."""

from __future__ import annotations

from pathlib import Path

import anyio
import msgspec
import pytest

from farhand.drivers.claude.asks import ClaudeQuestion, digest
from farhand.drivers.claude.tmux.hooks import WORDING
from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.hooks.asks import HookAsks
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.tmux.queue import InputQueue
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.ports import Taken
from farhand.model.present import Ask
from farhand.model.words import HowSettled

OPTIONS = [{"label": "Red"}, {"label": "Blue"}]
QUESTION = ClaudeQuestion(
    tool="AskUserQuestion",
    arguments={"questions": [{"question": "First?", "options": OPTIONS}, {"question": "Second?", "options": OPTIONS}]},
)


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    PartAnswers(tmp_path / "ann/picks").add("a", PartAnswer(choice="1"))
    PartAnswers(tmp_path / "ann/picks").add("a.1", PartAnswer(choice="1,2", note="both"))
    PartAnswers(tmp_path / "ann/picks").add("a.1", PartAnswer(choice="1,2", note="both"))
    assert PartAnswers(tmp_path / "ann/picks").all() == {
        "a": PartAnswer(choice="1"),
        "a.1": PartAnswer(choice="1,2", note="both"),
    }
    assert PartAnswers(tmp_path / "nobody").all() == {}


@pytest.mark.parametrize("torn", [b'{"ask":"b","pick', b"\xff\xfe", b'{"ask":1}\n', b"[]\n"])
def test_a_line_that_was_cut_off_costs_no_other(tmp_path: Path, torn: bytes) -> None:
    picks = PartAnswers(tmp_path / "picks")
    picks.add("a", PartAnswer(choice="1"))
    with (tmp_path / "picks").open("ab") as file:
        file.write(torn)
    picks.add("a.1", PartAnswer(choice="2"))
    assert picks.all() == {"a": PartAnswer(choice="1"), "a.1": PartAnswer(choice="2")}


def settled(ask: str, choice: str) -> Ask:
    fact = AskSettled(ask=ask, how=HowSettled.ANSWERED, choice=choice)
    return Ask(id=ask, worker="ann", turn="t", seq=1, question="?", choices=(), digest=digest(QUESTION), settled=fact)


@pytest.mark.anyio
async def test_an_answer_that_comes_again_is_not_one_to_the_next_question() -> None:
    queue = InputQueue[None]()
    asks = HookAsks(WORDING, 60.0, queue, lambda: "")
    payload = {"tool_name": QUESTION.tool, "tool_input": QUESTION.arguments}
    asked = HookAsk(HookReport(id="a", event="PermissionRequest", payload=msgspec.json.encode(payload)))
    # The cursor has the first answer; the journal does not know yet that it was taken.
    (heard,) = asks.raise_ask(asked, answers=(PartAnswer(choice="1"),))
    assert isinstance(heard.fact, AskRaised)
    assert heard.fact.question == "Second?"
    assert await asks.settle(settled("a", "1")) == Taken()
    asked.close(delivered=True)
    with anyio.fail_after(240):
        assert await asks.settle(settled(heard.fact.ask, "2")) == Taken()
        reply = await asked.wait()
    queue.close()
    decision = Fields(reply).fields("hookSpecificOutput").fields("decision")
    assert decision.fields("updatedInput").any("answers") == {"First?": "Red", "Second?": "Blue"}

"""The line protocol: what each line means, whatever is in it, and how an agent's side of it behaves."""

import json
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as some

from farhand.drivers.wires.holder.process import HolderCursor, LineSplitter, sentence
from farhand.drivers.wires.lines.agent import AgentPrompt, Failed, Gone, LineAnswer, LineConversation
from farhand.drivers.wires.lines.translate import to_line, translate
from farhand.model import facts
from farhand.model.facts import Fact
from farhand.model.holder_ports import Exit
from farhand.model.ports import Change, Deliver, Heard, Settle, Stop
from farhand.model.present import Ask, Message
from farhand.model.words import AskKind, Attachment, Choice, HowEnded, HowSettled, Sender, Usage

YES_NO = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))
ME = Sender(via="test")


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ({"started": "p"}, facts.Seen(message="p")),
        ({"text": "p", "piece": "hello"}, facts.Said(text="hello")),
        ({"thought": "p", "piece": "hm"}, facts.Thought(text="hm")),
        (
            {"tool": "p", "call": "1", "name": "ls", "title": "List", "status": "started"},
            facts.ToolStarted(call="1", tool="ls", title="List"),
        ),
        ({"tool": "p", "call": "1", "status": "done", "output": "a"}, facts.ToolEnded(call="1", output="a")),
        ({"tool": "p", "call": "1", "status": "failed"}, facts.ToolEnded(call="1", ok=False)),
        (
            {
                "ask": "p",
                "ask_id": "q",
                "question": "May I?",
                "choices": [{"id": "yes", "label": "Yes"}, {"id": "no", "label": "No", "allows": False}],
            },
            facts.AskRaised(ask="q", question="May I?", choices=YES_NO),
        ),
        (
            {"ask": "p", "ask_id": "q", "question": "Which?", "choices": [], "about": "choice"},
            facts.AskRaised(ask="q", question="Which?", choices=(), about=AskKind.CHOICE),
        ),
        (
            {"image": "p", "path": "/a/b.png", "caption": "c"},
            facts.Showed(file=Attachment(path="/a/b.png", name="b.png", media_type="image/png", caption="c")),
        ),
        ({"usage": "p", "input": 1, "output": 2}, facts.Used(usage=Usage(input_tokens=1, output_tokens=2))),
        ({"ended": "p", "how": "completed"}, facts.TurnEnded(how=HowEnded.COMPLETED)),
        ({"ended": "p", "how": "failed", "error": "no"}, facts.TurnEnded(how=HowEnded.FAILED, error="no")),
        ({"problem": "p", "text": "what?"}, facts.Noted(text="what?")),
    ],
)
def test_each_line_is_one_fact_of_its_turn(line: dict[str, object], fact: Fact) -> None:
    assert translate(json.dumps(line).encode()) == (Heard(fact=fact, turn="p"),)


def test_a_word_of_a_later_version_is_passed_over() -> None:
    assert translate(b'{"said": "x", "piece": "answer to x"}') == ()


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b'{"text": 5, "piece": "x"}', b'{"ended": "p", "how": "odd"}', b"\xff"]
)
def test_a_line_that_makes_no_sense_is_told(line: bytes) -> None:
    (heard,) = translate(line)
    assert isinstance(heard.fact, facts.Noted)


@given(some.binary())
def test_no_line_is_an_error(line: bytes) -> None:
    assert len(translate(line)) <= 1


def test_an_errand_has_one_key_however_often_it_comes() -> None:
    message = Message(id="m", text="hi", at=0.0, by=ME, attachments=(Attachment(path="/a.png"),))
    settled = facts.AskSettled(ask="q", how=HowSettled.ANSWERED, choice="yes", note="quick")
    ask = Ask(id="q", worker="w", turn="p", seq=1, question="?", choices=YES_NO, settled=settled)
    assert to_line(Deliver(turn="p", message=message)) == (
        "prompt p",
        b'{"prompt": "p", "text": "hi", "files": ["/a.png"]}\n',
    )
    assert to_line(Settle(ask=ask)) == ("answer q", b'{"answer": "q", "choice": "yes", "note": "quick"}\n')
    assert to_line(Stop(turn="p", number=7)) == ("interrupt 7 p", b'{"interrupt": "p"}\n')
    assert to_line(Change(model="x")) is None
    assert to_line(Deliver(turn="p", message=message, joins=True)) is None


@given(
    lines=some.lists(some.binary().map(lambda data: data.replace(b"\n", b""))), sizes=some.lists(some.integers(1, 9))
)
def test_lines_are_the_same_however_the_stream_is_cut(lines: list[bytes], sizes: list[int]) -> None:
    data, cut, found = b"".join(line + b"\n" for line in lines), LineSplitter(), []
    for size in (*sizes, len(data)):
        found += cut.add(data[:size])
        data = data[size:]
    assert found == lines


def test_a_line_without_an_end_takes_so_much_memory_and_no_more() -> None:
    cut = LineSplitter(limit=10)
    assert [line for _ in range(100) for line in cut.add(b"xxxxx")] == []
    assert cut.add(b"\nnext\n") == [b"x" * 10, b"next"]


def test_a_cursor_names_its_place() -> None:
    assert HolderCursor.read("") == HolderCursor(life=1, offset=0)
    assert HolderCursor.read(HolderCursor(life=3, offset=99).cursor) == HolderCursor(life=3, offset=99)


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        (Exit(code=0), "The agent ended."),
        (Exit(code=3, errors="one\nlast words\n"), "The agent ended with code 3: last words"),
        (Exit(signal=9), "The agent was killed by signal 9."),
        (Exit(errors="lost"), "The agent is gone: lost"),
    ],
)
def test_an_end_is_a_sentence(ended: Exit, expected: str) -> None:
    assert sentence(ended) == expected


class Ends:
    """The other end of a conversation."""

    def __init__(self) -> None:
        self._theirs, self._mine = os.pipe(), os.pipe()
        self.conversation = LineConversation(self._theirs[0], self._mine[1])

    def tell(self, **line: object) -> None:
        os.write(self._theirs[1], json.dumps(line).encode() + b"\n")

    def hang_up(self) -> None:
        os.close(self._theirs[1])

    def said(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in os.read(self._mine[0], 65536).splitlines()]

    def close(self) -> None:
        for descriptor in (self._theirs[0], *self._mine):
            os.close(descriptor)


@pytest.fixture
def ends() -> Iterator[Ends]:
    """A conversation over pipes."""
    made = Ends()
    yield made
    made.close()


def test_prompts_come_in_order_and_all_of_them_before_the_end(ends: Ends) -> None:
    ends.tell(prompt="a", text="one")
    ends.tell(prompt="b", text="two", files=["/x"])
    ends.hang_up()
    assert list(ends.conversation.prompts()) == [AgentPrompt("a", "one"), AgentPrompt("b", "two", ("/x",))]


def test_a_turn_says_how_it_ended(ends: Ends) -> None:
    played: list[str] = []

    def fail() -> None:
        raise Failed("why")

    ends.conversation.turn(AgentPrompt("a", ""), lambda: ends.conversation.say("text", piece="x"))
    ends.conversation.turn(AgentPrompt("b", ""), fail)
    ends.tell(interrupt="c")
    ends.tell(interrupt="x")
    ends.conversation.turn(AgentPrompt("c", ""), lambda: played.append("c"))
    ends.conversation.turn(AgentPrompt("e", ""), lambda: played.append("e"))
    assert played == ["e"]
    assert ends.said() == [
        {"started": "a"},
        {"text": "a", "piece": "x"},
        {"ended": "a", "how": "completed"},
        {"started": "b"},
        {"ended": "b", "how": "failed", "error": "why"},
        {"started": "c"},
        {"ended": "c", "how": "interrupted"},
        {"started": "e"},
        {"ended": "e", "how": "completed"},
    ]
    ends.hang_up()


def test_an_answer_is_waited_for_and_may_have_come_before(ends: Ends) -> None:
    ends.tell(answer="q", choice="yes", note="quick")
    assert ends.conversation.answer("q") == LineAnswer("yes", "quick")
    ends.tell(interrupt="a")
    ends.conversation.turn(AgentPrompt("a", ""), lambda: print(ends.conversation.answer("q")))
    assert ends.said()[-1] == {"ended": "a", "how": "interrupted"}
    ends.hang_up()
    with pytest.raises(Gone):
        ends.conversation.answer("q")


def test_an_unknown_line_is_told(ends: Ends) -> None:
    ends.tell(nonsense=1)
    ends.tell(say="x")
    ends.hang_up()
    assert list(ends.conversation.prompts()) == []
    problem, said = ends.said()
    assert "nonsense" in str(problem["text"])
    assert said == {"said": "x", "piece": "answer to x"}

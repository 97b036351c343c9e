"""Structured output: a type goes in, a value of that type comes out, or a clear error."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import BadAnswer
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


@dataclass
class Verdict:
    """What was found."""

    good: bool
    reasons: list[str]


def look() -> str:
    """Looks."""
    return "seen"


async def test_alone_the_answer_is_json_of_a_schema(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says('{"good": true, "reasons": ', '["tests pass"]}'))
    result = await make_agent().send("judge", output=Verdict)
    assert result.data == Verdict(True, ["tests pass"])
    config = fake.last["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["required"] == ["good", "reasons"]


async def test_beside_tools_the_answer_is_a_call(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(calls("look"), calls("final_result", {"good": False, "reasons": []}))
    session = make_agent(tools=[look]).session()
    result = await session.send("judge", output=Verdict)
    assert result.data == Verdict(False, [])
    declared = [each["name"] for each in fake.last["tools"][0]["functionDeclarations"]]
    assert declared == ["look", "final_result"]
    assert "responseJsonSchema" not in fake.last.get("generationConfig", {})
    assert session.transcript[-1]["parts"][0]["functionResponse"]["name"] == "final_result"


async def test_an_answer_that_does_not_fit_is_asked_for_again(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(
        says("It is good."), says('```json\n{"good": "yes", "reasons": []}\n```'), says('{"good": true, "reasons": []}')
    )
    result = await make_agent().send("judge", output=Verdict)
    assert result.data == Verdict(True, [])
    complaint = fake.last["contents"][-1]["parts"][0]["text"]
    assert "answer.good should be true or false" in complaint


async def test_the_model_is_not_asked_for_ever(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(*(says("no") for _ in range(3)))
    with pytest.raises(BadAnswer, match="after 3 attempts"):
        await make_agent().send("judge", output=Verdict)


async def test_a_list_or_a_number_works_too(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says('{"value": [1, 2]}'), says("7"))
    agent = make_agent()
    assert (await agent.send("list", output=list[int])).data == [1, 2]
    assert (await agent.send("count", output=int)).data == 7

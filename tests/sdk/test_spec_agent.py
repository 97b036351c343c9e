"""The Validation lines of the SDK's specification for agents, sessions and instructions, seen on the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Agent, Finish, GeminiCliAgent, SessionContext, Text, ToolRequest, ToolResponse
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


async def collect(events: AsyncIterator[Any]) -> list[Any]:
    return [event async for event in events]


def user_texts(body: dict[str, Any]) -> list[str]:
    return [
        part["text"]
        for content in body["contents"]
        if content["role"] == "user"
        for part in content["parts"]
        if "text" in part
    ]


def system_text(body: dict[str, Any]) -> str:
    return str(body["systemInstruction"]["parts"][0]["text"])


async def test_the_model_receives_the_prompt(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("It runs ", "agents."))
    session = make_agent().session()
    events = await collect(session.send_stream("what does this project do?"))
    assert user_texts(fake.last)[-1] == "what does this project do?"
    assert [event.text for event in events if isinstance(event, Text)] == ["It runs ", "agents."]
    assert events[-1] == Finish("stop", "It runs agents.")
    assert fake.requests[0].headers["x-goog-api-key"] == "fake-key"


async def test_the_agent_has_the_name_of_the_specification() -> None:
    assert GeminiCliAgent is Agent


async def test_a_session_remembers_its_turns(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("Hello."), says("You said hi."))
    async with make_agent() as agent, agent.session() as session:
        await session.send("hi")
        result = await session.send("what did I say?")
    assert result.text == "You said hi."
    assert user_texts(fake.last)[-2:] == ["hi", "what did I say?"]
    assert fake.last["contents"][-2] == {"role": "model", "parts": [{"text": "Hello."}]}


async def test_static_instructions_stand_where_memory_does(make_agent: MakeAgent, fake: FakeGemini, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "GEMINI.md").write_text("I like short answers.")
    fake.expect(says("ok"))
    await make_agent(instructions="This is a static string instruction").send("hi")
    said = system_text(fake.last)
    assert "This is a static string instruction" in said
    assert said.index("I like short answers.") < said.index("This is a static string instruction")


async def test_project_memory_is_in_the_first_message(make_agent: MakeAgent, fake: FakeGemini, project: Path) -> None:
    (project / "GEMINI.md").write_text("Tests live in spec/.")
    fake.expect(says("ok"))
    await make_agent().send("hi")
    first = user_texts(fake.last)[0]
    assert first.startswith("<session_context>")
    assert "Tests live in spec/." in first
    assert "Tests live in spec/." not in system_text(fake.last)


async def test_dynamic_instructions_are_made_before_each_model_call(make_agent: MakeAgent, fake: FakeGemini) -> None:
    counted: list[int] = []

    def instructions(context: SessionContext) -> str:
        counted.append(len(context.transcript))
        return f"Call {len(counted)} in session {context.session_id}."

    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    fake.expect(calls("add", {"a": 1, "b": 2}), says("3"))
    session = make_agent(instructions=instructions, tools=[add]).session()
    await session.send("1 + 2?")
    assert f"Call 1 in session {session.id}." in system_text(fake.requests[0].body)
    assert f"Call 2 in session {session.id}." in system_text(fake.requests[1].body)
    assert counted[1] == counted[0] + 2


async def test_instructions_may_be_async(make_agent: MakeAgent, fake: FakeGemini) -> None:
    async def instructions(context: SessionContext) -> str:
        listed = await context.shell.exec("echo from the shell")
        return listed.stdout

    fake.expect(says("ok"))
    await make_agent(instructions=instructions).send("hi")
    assert "from the shell" in system_text(fake.last)


async def test_a_tool_is_declared_called_and_answered(make_agent: MakeAgent, fake: FakeGemini) -> None:
    def add(a: float, b: float) -> dict[str, float]:
        """add two numbers"""
        return {"result": a + b}

    fake.expect(calls("add", {"a": 23, "b": 79}, call_id="call-1"), says("It is 102."))
    session = make_agent(tools=[add], builtin_tools=False).session()
    events = await collect(session.send_stream("what is 23 + 79?"))
    declared = fake.requests[0].body["tools"][0]["functionDeclarations"]
    assert [each["name"] for each in declared] == ["add"]
    assert declared[0]["description"] == "add two numbers"
    assert declared[0]["parametersJsonSchema"]["required"] == ["a", "b"]
    response = fake.last["contents"][-1]["parts"][0]["functionResponse"]
    assert response["id"] == "call-1"
    assert response["name"] == "add"
    assert "102" in response["response"]["output"]
    assert [type(event) for event in events if isinstance(event, ToolRequest | ToolResponse)] == [
        ToolRequest,
        ToolResponse,
    ]
    assert events[-1].text == "It is 102."


async def test_agent_send_returns_text(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(says("102"))
    result = await make_agent().send("what is 23 + 79?")
    assert (result.text, result.reason, result.usage.total_tokens) == ("102", "stop", 110)

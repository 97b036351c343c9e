"""The spans of an agent, by OpenTelemetry's conventions for generative AI, kept by its own in-memory exporter."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.sdk.conftest import MakeAgent

from farhand.sdk import BadAgent, SdkError, Telemetry, ToolRequest, subagent, tool
from farhand.testing.models.gemini import FakeGemini, calls, refuses, says

pytestmark = pytest.mark.anyio


@tool
def weigh(thing: str) -> str:
    """Weighs."""
    if thing == "air":
        raise ValueError("too light")
    return f"{thing} weighs 3 kg"


class Told:
    """What was told, by the names of spans."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._exporter.get_finished_spans()}

    def attributes(self, name: str) -> dict[str, Any]:
        return dict(self.spans[name].attributes or {})

    def parent(self, name: str) -> str:
        above = self.spans[name].parent
        names = {span.context.span_id: span.name for span in self.spans.values() if span.context is not None}
        return names[above.span_id] if above is not None else ""


async def test_a_turn_its_model_calls_and_its_tools_are_spans(fake: FakeGemini, make_agent: MakeAgent) -> None:
    told = Told()
    fake.expect(calls("weigh", {"thing": "it"}, call_id="c1"), says("It is heavy."))
    session = make_agent(tools=[weigh], telemetry=Telemetry(told.provider)).session()
    await session.send("weigh it")
    assert set(told.spans) == {"invoke_agent farhand", "chat gemini-2.5-flash", "execute_tool weigh"}
    turn = told.attributes("invoke_agent farhand")
    assert turn["gen_ai.operation.name"] == "invoke_agent"
    assert turn["gen_ai.conversation.id"] == session.id
    assert turn["gen_ai.response.finish_reasons"] == ("stop",)
    assert (turn["gen_ai.usage.input_tokens"], turn["gen_ai.usage.output_tokens"]) == (200, 20)
    chat = told.attributes("chat gemini-2.5-flash")
    assert chat["gen_ai.request.model"] == chat["gen_ai.response.model"] == "gemini-2.5-flash"
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (100, 10)
    assert told.spans["chat gemini-2.5-flash"].kind is SpanKind.CLIENT
    assert told.attributes("execute_tool weigh") == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weigh",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
    }
    assert told.parent("execute_tool weigh") == told.parent("chat gemini-2.5-flash") == "invoke_agent farhand"
    # Nothing that was said is told, unless it is asked for.
    assert "weigh it" not in str([told.attributes(name) for name in told.spans])


async def test_what_was_said_is_told_when_it_is_wanted(fake: FakeGemini, make_agent: MakeAgent) -> None:
    told = Told()
    fake.expect(calls("weigh", {"thing": "it"}), says("It is heavy."))
    await make_agent(tools=[weigh], telemetry=Telemetry(told.provider, content=True)).send("weigh it")
    turn = told.attributes("invoke_agent farhand")
    parts = [{"type": "text", "content": "weigh it"}]
    assert json.loads(turn["gen_ai.input.messages"]) == [{"role": "user", "parts": parts}]
    assert "It is heavy." in turn["gen_ai.output.messages"]
    assert json.loads(told.attributes("execute_tool weigh")["gen_ai.tool.call.arguments"]) == {"thing": "it"}
    assert told.attributes("execute_tool weigh")["gen_ai.tool.call.result"] == "it weighs 3 kg"


async def test_what_fails_is_told_as_an_error(fake: FakeGemini, make_agent: MakeAgent) -> None:
    told = Told()
    fake.expect(calls("weigh", {"thing": "air"}), refuses(400, "no"))
    with pytest.raises(SdkError):
        await make_agent(tools=[weigh], telemetry=Telemetry(told.provider)).send("weigh air")
    assert told.spans["execute_tool weigh"].status.status_code is StatusCode.ERROR
    assert told.attributes("execute_tool weigh")["error.type"] == "tool_error"
    assert told.attributes("invoke_agent farhand")["error.type"] == "error"
    assert told.spans["chat gemini-2.5-flash"].status.status_code is StatusCode.ERROR


async def test_a_run_that_is_left_ends_its_spans(fake: FakeGemini, make_agent: MakeAgent) -> None:
    told = Told()
    fake.expect(calls("weigh", {"thing": "it"}), says("Next."))
    session = make_agent(tools=[weigh], telemetry=Telemetry(told.provider)).session()
    async with session.run("weigh it") as run:
        async for event in run:
            if isinstance(event, ToolRequest):
                break
    assert set(told.spans) == {"invoke_agent farhand", "chat gemini-2.5-flash"}
    assert told.spans["invoke_agent farhand"].status.status_code is StatusCode.UNSET
    assert (await session.send("go on")).reason == "stop"


async def test_a_subagents_spans_are_below_the_call_that_began_it(fake: FakeGemini, make_agent: MakeAgent) -> None:
    told = Told()
    one = subagent(name="reviewer", description="Reviews.", instructions="Review.")
    fake.expect(calls("invoke_agent", {"agent_name": "reviewer", "prompt": "look"}), says("Fine."), says("Done."))
    await make_agent(subagents=[one], telemetry=Telemetry(told.provider)).send("go")
    assert told.parent("invoke_agent reviewer") == "execute_tool invoke_agent"
    assert told.parent("execute_tool invoke_agent") == "invoke_agent farhand"


def test_something_else_is_refused(make_agent: MakeAgent) -> None:
    with pytest.raises(BadAgent, match="Telemetry"):
        make_agent(telemetry="please")


def test_without_opentelemetry_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["opentelemetry"] = None
from farhand.sdk import Agent
Agent(telemetry=True)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "pip install 'farhand[otel]'" in ended.stderr

"""Tools may hang, raise, flood and return nonsense: the call is answered, the turn goes on, the transcript is whole."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import RawTool, collect, intact

from farhand.sdk import (
    Finish,
    ToolResponse,
    ToolResult,
    wire,
)
from farhand.testing.models.gemini import FakeGemini, calls, calls_all, says

pytestmark = pytest.mark.anyio


async def test_a_tool_that_hangs_is_given_up(make_agent: MakeAgent, fake: FakeGemini) -> None:
    async def hang(arguments: dict[str, Any]) -> ToolResult:
        await anyio.sleep_forever()
        return ToolResult()

    fake.expect(calls("raw"), says("It hung."))
    session = make_agent(tools=[RawTool(hang)], tool_timeout_seconds=0.05).session()
    events = await collect(session.send_stream("go"))
    response = next(event for event in events if isinstance(event, ToolResponse))
    assert "did not finish within 0.05 seconds" in (response.error or "")
    assert events[-1] == Finish("stop", "It hung.")
    assert intact(session.transcript)


async def test_a_tool_that_raises_is_told_to_the_person_and_not_to_the_model(
    make_agent: MakeAgent, fake: FakeGemini
) -> None:
    async def fail(arguments: dict[str, Any]) -> ToolResult:
        raise RuntimeError("password is hunter2")

    fake.expect(calls("raw"), says("It failed."))
    session = make_agent(tools=[RawTool(fail)]).session()
    events = await collect(session.send_stream("go"))
    response = next(event for event in events if isinstance(event, ToolResponse))
    assert "RuntimeError: password is hunter2" in (response.error or "")
    assert "hunter2" not in wire.compact(fake.last)
    assert "error" in wire.responses_of(fake.last["contents"][-1])[0]["response"]


@pytest.mark.parametrize("returned", [b"bytes", None, ToolResult(content=b"raw"), ToolResult(content=[{"x": b"y"}])])  # type: ignore[arg-type]
async def test_a_tool_that_returns_what_is_no_result(make_agent: MakeAgent, fake: FakeGemini, returned: Any) -> None:
    async def give(arguments: dict[str, Any]) -> Any:
        return returned

    fake.expect(calls("raw"), says("Odd."))
    session = make_agent(tools=[RawTool(give)]).session()
    events = await collect(session.send_stream("go"))
    response = next(event for event in events if isinstance(event, ToolResponse))
    assert "raw returned" in (response.error or "")
    assert events[-1] == Finish("stop", "Odd.")
    assert intact(session.transcript)


async def test_a_tool_that_floods_is_cut_and_the_rest_is_reachable(make_agent: MakeAgent, fake: FakeGemini) -> None:
    async def flood(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content="".join(f"line {number}\n" for number in range(200_000)))

    fake.expect(calls("raw"), says("Long."))
    session = make_agent(tools=[RawTool(flood)]).session()
    await session.send("go")
    told = wire.responses_of(fake.last["contents"][-1])[0]["response"]["output"]
    assert len(told) < 50_000
    assert told.startswith("line 0\n")
    assert told.endswith("line 199999\n")
    kept = next(session.context.temporary_folder.iterdir())
    assert str(kept) in told
    assert "line 100000\n" in kept.read_text()


async def test_an_unknown_tool_is_answered(make_agent: MakeAgent, fake: FakeGemini) -> None:
    fake.expect(calls("nothing_of_that_name"), says("My mistake."))
    session = make_agent().session()
    await session.send("go")
    assert "There is no tool 'nothing_of_that_name'" in wire.compact(fake.last["contents"][-1])


async def test_tools_that_only_look_run_side_by_side(make_agent: MakeAgent, fake: FakeGemini) -> None:
    here, meeting = [], anyio.Event()

    async def meet(arguments: dict[str, Any]) -> ToolResult:
        here.append(1)
        if len(here) == 3:
            meeting.set()
        with anyio.fail_after(240):
            await meeting.wait()
        return ToolResult(content="met")

    fake.expect(calls_all(("meet", {}, "a"), ("meet", {}, "b"), ("meet", {}, "c")), says("All met."))
    session = make_agent(tools=[RawTool(meet, "meet", "read")]).session()
    await session.send("go")
    answered = [response["id"] for response in wire.responses_of(fake.last["contents"][-1])]
    assert answered == ["a", "b", "c"]
    assert intact(session.transcript)


@pytest.mark.parametrize("raised", [SystemExit(3), asyncio.CancelledError(), GeneratorExit(), RecursionError("deep")])
async def test_a_tool_that_raises_what_ends_programs_ends_only_itself(
    make_agent: MakeAgent, fake: FakeGemini, raised: BaseException
) -> None:
    async def fail(arguments: dict[str, Any]) -> ToolResult:
        raise raised

    fake.expect(calls("raw"), says("Still here."))
    session = make_agent(tools=[RawTool(fail)]).session()
    assert (await session.send("go")).text == "Still here."
    assert intact(session.transcript)


async def test_floods_inside_parts_are_cut_too(make_agent: MakeAgent, fake: FakeGemini) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}

    async def flood(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=[{"text": "x" * 1_000_000}, image])

    fake.expect(calls("raw"), says("Long."))
    await make_agent(tools=[RawTool(flood)]).send("go")
    told, picture = fake.last["contents"][-1]["parts"]
    assert len(told["functionResponse"]["response"]["output"]) < 50_000
    assert picture == image


async def test_calls_that_share_an_id_are_told_apart(make_agent: MakeAgent, fake: FakeGemini) -> None:
    def double(number: int) -> int:
        """Doubles."""
        return number * 2

    fake.expect(calls_all(("double", {"number": 1}, "call_0"), ("double", {"number": 2}, "call_0")), says("2 and 4"))
    session = make_agent(tools=[double]).session()
    await session.send("go")
    assert intact(session.transcript)
    assert [response["response"]["output"] for response in wire.responses_of(fake.last["contents"][-1])] == ["2", "4"]

"""Budgets: reached, they stop with an error that has how far the run got; they hold for subagents and over a kill."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import intact

from farhand.sdk import (
    BadAgent,
    BeforeModelInput,
    BeforeModelOutput,
    Budget,
    BudgetExceeded,
    Price,
    SessionContext,
    hook,
    subagent,
    tool,
)
from farhand.sdk.events import usage_event
from farhand.testing.models.gemini import FakeGemini, calls, held, says

pytestmark = pytest.mark.anyio


@tool
def work() -> str:
    """Works."""
    return "done"


async def test_a_run_stops_at_its_budget_with_what_it_has(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("work", {}), says("Next."))
    session = make_agent(tools=[work]).session()
    with pytest.raises(BudgetExceeded, match="1 turns of this run") as caught:
        async with session.run("go", budget=Budget(turns=1)) as run:
            await run.wait()
    result = caught.value.result
    assert result is not None
    assert (result.reason, [call.content for call in result.tool_calls]) == ("budget", ["done"])
    assert intact(session.transcript)
    assert (await session.send("and now?")).text == "Next."


async def test_a_sessions_budget_is_for_all_its_runs_also_in_another_process(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    fake.expect(says("one"), says("two"))
    agent = make_agent(budget=Budget(tokens=200))
    session = agent.session()
    await session.send("a")
    resumed = await agent.resume_session(session.id)
    await resumed.send("b")
    with pytest.raises(BudgetExceeded) as caught:
        await (await agent.resume_session(session.id)).send("c")
    assert (caught.value.what, caught.value.limit, caught.value.spent.tokens) == ("tokens", 200, 220)
    assert len(fake.requests) == 2


async def test_dollars_are_counted_where_the_price_is_known(fake: FakeGemini, make_agent: MakeAgent) -> None:
    prices = {"gemini-2.5-flash": Price(input=1_000.0, output=10_000.0)}
    fake.expect(says("one"))
    session = make_agent(prices=prices, budget=Budget(dollars=0.15)).session()
    result = await session.send("a")
    assert result.dollars == pytest.approx(100 * 0.001 + 10 * 0.01)
    with pytest.raises(BudgetExceeded, match="dollars"):
        await session.send("b")
    with pytest.raises(BadAgent, match=r"price of gemini-2\.5-flash"):
        await make_agent(budget=Budget(dollars=1)).send("a")


async def test_time_ends_a_turn_in_its_middle(fake: FakeGemini, make_agent: MakeAgent) -> None:
    ended = []

    @tool
    async def wait(context: SessionContext) -> str:
        """Waits for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(context.session_id)
        return ""

    fake.expect(calls("wait", {}))
    session = make_agent(tools=[wait]).session()
    with pytest.raises(BudgetExceeded, match="seconds"):
        async with session.run("go", budget=Budget(seconds=3)) as run:
            await run.wait()
    assert ended == [session.id]
    assert run.result.reason == "budget"
    assert intact(session.transcript)
    assert not session.busy


def test_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(BadAgent, match="0 turns"):
        Budget(turns=0)


# A tree of subagents.

TREE = """
import asyncio, sys
from pathlib import Path
from farhand.sdk import Agent, Budget, BudgetExceeded, SubagentEvent, Text, subagent, tool

@tool
def mark() -> str:
    "Marks."
    with Path("marks.txt").open("a") as file:
        file.write("mark\\n")
    return "marked"

def within(name, *below):
    return subagent(name=name, description=name, agent=Agent(tools=[mark], builtin_tools=False, subagents=below))

tree = within("one", within("two", within("three")))
agent = Agent(builtin_tools=False, subagents=[tree], budget=Budget(turns=6))

async def main() -> None:
    if sys.argv[1:]:
        session = await agent.resume_session(sys.argv[1])
    else:
        session = agent.session()
    print(session.id, flush=True)
    try:
        async with session.run("go") as run:
            async for event in run:
                if isinstance(event, SubagentEvent) and isinstance(event.event, Text):
                    print(event.name, "says", event.event.text, flush=True)
            print((await run.wait()).text, flush=True)
        print((await session.send("go on")).text, flush=True)
    except BudgetExceeded as spent:
        print(spent, spent.spent.turns, spent.result.reason, flush=True)

asyncio.run(main())
"""


def hand(name: str) -> Any:
    return calls("invoke_agent", {"agent_name": name, "prompt": "work"})


def test_a_tree_of_depth_three_is_killed_and_resumed_within_its_budget(
    fake: FakeGemini, home: Path, project: Path
) -> None:
    (project / "tree.py").write_text(TREE)
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **fake.environ(),
    }
    gate = threading.Event()
    fake.expect(hand("one"), hand("two"), hand("three"), calls("mark", {}), held(gate, "Well, ", "never", before=1))
    command = [sys.executable, "tree.py"]
    with subprocess.Popen(command, cwd=project, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        session = process.stdout.readline().strip()
        assert process.stdout.readline() == "three says Well, \n"
        process.send_signal(signal.SIGKILL)
    gate.set()
    # Five of six turns were spent by the tree; what had been cut off is told to the model, and is not run again.
    fake.expect(says("It was cut off."))
    again = subprocess.run(
        [*command, session], cwd=project, env=environ, capture_output=True, text=True, timeout=240, check=False
    )
    assert again.stdout.splitlines()[1:] == [
        "It was cut off.",
        "The budget of 6 turns of this session is spent. 6 budget",
    ], again.stderr
    assert (project / "marks.txt").read_text() == "mark\n"


async def test_a_tree_stops_where_its_budget_is_spent(fake: FakeGemini, make_agent: MakeAgent) -> None:
    leaf = subagent(name="leaf", description="Works.", agent=make_agent(tools=[work]))
    fake.expect(hand("leaf"), calls("work", {}))
    session = make_agent(subagents=[leaf], budget=Budget(turns=2)).session()
    with pytest.raises(BudgetExceeded) as caught:
        await session.send("go")
    assert caught.value.spent.turns == 2
    assert intact(session.transcript)


def test_a_negative_count_gives_nothing_back() -> None:
    usage = usage_event({"promptTokenCount": -5, "candidatesTokenCount": 3, "totalTokenCount": -2}, "m")
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (0, 3, 0)


# Dollars of a tree: whoever has the price, whoever has the budget.

PRICED = {"gemini-2.5-flash": Price(input=10_000.0, output=0.0)}  # $1 for each of the fake's answers


async def test_a_childs_dollars_count_for_its_parent_by_the_parents_prices(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    leaf = subagent(name="leaf", description="Works.", agent=make_agent(tools=[work]))
    middle = subagent(name="middle", description="Hands on.", agent=make_agent(subagents=[leaf]))
    fake.expect(hand("middle"), hand("leaf"), *[calls("work", {}) for _ in range(2)])
    session = make_agent(subagents=[middle], budget=Budget(dollars=4), prices=PRICED).session()
    with pytest.raises(BudgetExceeded, match="4 dollars") as caught:
        await session.send("go")
    assert caught.value.spent.dollars == pytest.approx(4.0)
    assert len(fake.requests) == 4
    assert caught.value.result is not None
    assert caught.value.result.dollars == pytest.approx(4.0)


async def test_a_childs_own_prices_come_before_its_parents(fake: FakeGemini, make_agent: MakeAgent) -> None:
    cheap = {"gemini-2.5-flash": Price(input=1_000.0, output=0.0)}
    leaf = subagent(name="leaf", description="Works.", agent=make_agent(prices=cheap))
    fake.expect(hand("leaf"), says("done"), says("all done"))
    result = await make_agent(subagents=[leaf], prices=PRICED).send("go")
    assert result.dollars == pytest.approx(1 + 0.1 + 1)
    assert result.usage.total_tokens == 330


async def test_a_child_without_a_price_is_not_asked_under_a_budget_in_dollars(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    leaf = subagent(name="leaf", description="Works.", agent=make_agent(model="gemini-2.5-pro"))
    fake.expect(hand("leaf"), says("It could not."))
    session = make_agent(subagents=[leaf], budget=Budget(dollars=9), prices=PRICED).session()
    result = await session.send("go")
    assert "price of gemini-2.5-pro" in (result.tool_calls[0].error or "")
    assert len(fake.requests) == 2
    assert result.dollars == pytest.approx(2.0)


async def test_a_model_that_a_hook_chose_needs_a_price_too(fake: FakeGemini, make_agent: MakeAgent) -> None:
    @hook("BeforeModel")
    def dearer(event: BeforeModelInput) -> BeforeModelOutput:
        return BeforeModelOutput(llm_request={"model": "gemini-2.5-pro"})

    session = make_agent(hooks=[dearer], budget=Budget(dollars=9), prices=PRICED).session()
    with pytest.raises(BadAgent, match=r"price of gemini-2\.5-pro"):
        await session.send("go")
    assert fake.requests == []

"""State of one's own: tools, hooks, instructions and subagents find it in their context, and it is of its class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import AfterToolInput, BadAgent, SessionContext, hook, subagent, tool
from farhand.testing.models.gemini import FakeGemini, calls, says

if TYPE_CHECKING:
    from fractions import Fraction

pytestmark = pytest.mark.anyio


@dataclass
class Shop:
    """What a tool works with."""

    sold: list[str] = field(default_factory=list[str])


@tool
def sell(thing: str, context: SessionContext[Shop]) -> str:
    """Sells something."""
    context.deps.sold.append(thing)
    return f"{len(context.deps.sold)} sold"


@hook("AfterTool")
def noted(event: AfterToolInput, context: SessionContext[Shop]) -> None:
    context.deps.sold.append(f"after {event.tool_name}")


async def test_tools_hooks_and_instructions_find_it_in_subagents_of_both_forms_too(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    shop = Shop()
    agent = make_agent(
        tools=[sell],
        hooks=[noted],
        deps=shop,
        instructions=lambda context: f"Sold by now: {len(context.deps.sold)}.",
        subagents=[
            subagent(name="plain", description="Sells.", instructions="Sell."),
            subagent(name="whole", description="Sells.", agent=make_agent(tools=[sell])),
        ],
    )
    fake.expect(calls("sell", {"thing": "a cup"}))
    for name in ("plain", "whole"):
        fake.expect(calls("invoke_agent", {"agent_name": name, "prompt": "sell"}))
        fake.expect(calls("sell", {"thing": name}), says("Sold."))
    fake.expect(says("All is sold."))
    await agent.send("sell")
    after = ["after sell", "after invoke_agent"]
    assert shop.sold == ["a cup", "after sell", "plain", *after, "whole", *after]
    assert "Sold by now: 2." in str(fake.requests[1].body["systemInstruction"])


def test_what_is_of_another_class_is_told_when_the_agent_is_made(make_agent: MakeAgent) -> None:
    with pytest.raises(BadAgent, match="The tool 'sell' wants deps to be a Shop; deps is 'a shop'"):
        make_agent(tools=[sell], deps="a shop")


def test_what_is_missing_is_told_when_a_session_begins(make_agent: MakeAgent) -> None:
    agent = make_agent(tools=[sell])
    with pytest.raises(BadAgent, match=r"wants deps to be a Shop: give it with Agent\(deps=…\)"):
        agent.session()
    parent = make_agent(subagents=[subagent(name="a", description="Sells.", agent=agent)])
    with pytest.raises(BadAgent, match="wants deps to be a Shop"):
        parent.session()
    for one in (agent, parent):
        one.with_changes(deps=Shop()).session()


async def test_a_class_that_only_the_checkers_know_is_not_asked_for(fake: FakeGemini, make_agent: MakeAgent) -> None:
    @tool
    def halve(context: SessionContext[Fraction]) -> str:
        """Halves."""
        return str(context.deps)

    fake.expect(calls("halve", {}), says("Done."))
    assert (await make_agent(tools=[halve], deps="anything").send("go")).tool_calls[0].content == "anything"

"""One session of the real OpenCode: how hard its model thinks, how much it may hold, listed, handed back, taken up."""

from __future__ import annotations

from functools import partial

import pytest
from tests.live.turn_scenarios import (
    AskedWith,
    a_sprint_warns_of_a_context_that_is_nearly_full,
    counts,
    the_chosen_effort_reaches_the_model,
)

from farhand.model import facts
from farhand.model.commands import Hire, Say, Tune
from farhand.model.ports import KeepsSessions
from farhand.testing.house import House
from farhand.testing.models.script import say
from farhand.testing.opencode_env import MODEL, OpenCodeEnv

pytestmark = pytest.mark.anyio


def effort_of(call: AskedWith) -> object:
    """What the API of the provider was told."""
    return call.body["reasoning_effort"]


async def test_effort_and_context_of_a_session_that_is_listed_handed_back_and_taken_up(cli_env: OpenCodeEnv) -> None:
    """One after the other on two starts of OpenCode, which are what costs."""
    model = cli_env.model
    async with cli_env.open() as house:
        await the_chosen_effort_reaches_the_model(house, model, "opencode/headless", cli_env.project, effort_of)
        await an_effort_that_the_model_does_not_have_is_refused(house)
        await the_context_window_is_the_models(house, cli_env)
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, 100_000, partial(counts, model))
        worker = house.worker()
        keeper = cli_env.drivers()["opencode"]
        assert isinstance(keeper, KeepsSessions)
        (found,) = await keeper.sessions(str(cli_env.project))
        # Whether the server that runs has it open cannot be told.
        assert (found.id, found.answer, found.open) == (worker.session, "zz-heavier", None)
        assert keeper.resume_command(worker) == f"cd {cli_env.project} && opencode --session {worker.session}"
        await house.end("ann")
        await house.fact(facts.Ended)
    assert cli_env.agents() == []
    (found,) = await keeper.sessions(str(cli_env.project))
    assert (found.id, found.open) == (worker.session, False)
    await a_session_is_taken_up_without_its_past(cli_env, found.id)


async def an_effort_that_the_model_does_not_have_is_refused(house: House) -> None:
    await house.send(Tune(id="t2", worker="ann", model=MODEL, effort="max"))
    refused = (
        await house.fact(facts.Tuned, lambda event: isinstance(event.fact, facts.Tuned) and bool(event.fact.refused))
    ).refused
    assert refused == f"The model {MODEL} has no effort 'max'. Known: low, medium, high."
    assert (house.worker().model, house.worker().effort) == ("", "high")


async def the_context_window_is_the_models(house: House, cli_env: OpenCodeEnv) -> None:
    """As OpenCode's server tells it of the model that answers."""
    cli_env.model.script.conversation("zz-hello", say("hello manager"))
    said = await house.say("zz-hello")
    usage = (await house.fact(facts.TurnEnded, after=said.seq)).usage
    assert usage is not None
    assert (usage.context_tokens, usage.context_window) == (110, 100_000)
    assert house.worker().spent.total.context_window == 100_000


async def a_session_is_taken_up_without_its_past(cli_env: OpenCodeEnv, session: str) -> None:
    """The model remembers; the phone is not told again."""
    cli_env.model.script.conversation("zz-again", say("here again"))
    async with cli_env.open() as house:
        hire = Hire(id="b", worker="bob", backend="opencode", directory=str(cli_env.project), session=session)
        after = (await house.send(hire)).seq
        await house.fact(facts.CameOnline, after=after - 1)
        await house.send(Say(id="t", text="zz-again", worker="bob"))
        await house.fact(facts.TurnEnded, after=after)
        history = await house.history()
        said = [event.fact.text for event in history if isinstance(event.fact, facts.Said) and event.worker == "bob"]
        assert (said, house.worker("bob").session) == (["here again"], session)
    assert "hello manager" in str((await cli_env.model.asked("zz-again")).body)

"""How hard a model thinks for the real OpenCode, chosen at the hiring and changed later."""

from __future__ import annotations

import pytest
from tests.live.turn_scenarios import AskedWith, the_chosen_effort_reaches_the_model

from farhand.model.commands import Tune
from farhand.model.facts import Tuned
from farhand.testing.opencode_env import MODEL, OpenCodeEnv

pytestmark = pytest.mark.anyio


def effort_of(call: AskedWith) -> object:
    """What the API of the provider was told."""
    return call.body["reasoning_effort"]


async def test_a_run_asks_the_model_with_the_chosen_effort(cli_env: OpenCodeEnv) -> None:
    async with cli_env.open() as house:
        await the_chosen_effort_reaches_the_model(house, cli_env.model, "opencode/exec", cli_env.project, effort_of)


async def test_the_chosen_effort_reaches_the_model_and_one_that_it_does_not_have_is_refused(
    cli_env: OpenCodeEnv,
) -> None:
    """One after the other on one start of OpenCode, which is what costs."""
    async with cli_env.open() as house:
        await the_chosen_effort_reaches_the_model(house, cli_env.model, "opencode/headless", cli_env.project, effort_of)
        await house.send(Tune(id="t2", worker="ann", model=MODEL, effort="max"))
        refused = (
            await house.fact(Tuned, lambda event: isinstance(event.fact, Tuned) and bool(event.fact.refused))
        ).refused
        assert refused == f"The model {MODEL} has no effort 'max'. Known: low, medium, high."
        assert (house.worker().model, house.worker().effort) == ("", "high")

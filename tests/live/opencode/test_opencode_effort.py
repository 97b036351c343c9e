"""How hard a model thinks for the real OpenCode: a variant of it, chosen at the hiring and changed later."""

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


@pytest.mark.parametrize("wire", ["headless", "exec"])
async def test_the_chosen_effort_reaches_the_model(cli_env: OpenCodeEnv, wire: str) -> None:
    async with cli_env.open() as house:
        await the_chosen_effort_reaches_the_model(house, cli_env.model, f"opencode/{wire}", cli_env.project, effort_of)


async def test_an_effort_that_the_model_does_not_have_is_refused(cli_env: OpenCodeEnv) -> None:
    async with cli_env.open() as house:
        await house.hire(backend="opencode", wire="headless", directory=cli_env.project)
        await house.send(Tune(id="t1", worker="ann", model=MODEL, effort="max"))
        refused = (await house.fact(Tuned)).refused
        assert refused == f"The model {MODEL} has no effort 'max'. Known: low, medium, high."
        assert (house.worker().model, house.worker().effort) == ("", "")

"""How much a conversation of the real OpenCode may hold: as its server tells it of the model that answers."""

from __future__ import annotations

from functools import partial

import pytest
from tests.live.turn_scenarios import a_sprint_warns_of_a_context_that_is_nearly_full, counts

from farhand.model.facts import TurnEnded
from farhand.testing.models.script import say
from farhand.testing.opencode_env import OpenCodeEnv

pytestmark = pytest.mark.anyio


async def test_the_context_window_is_the_models_and_a_sprint_warns_when_it_is_nearly_full(cli_env: OpenCodeEnv) -> None:
    cli_env.model.script.conversation("zz-hello", say("hello"))
    async with cli_env.open() as house:
        await house.hire(backend="opencode", wire="headless", directory=cli_env.project)
        await house.say("zz-hello")
        usage = (await house.fact(TurnEnded)).usage
        assert usage is not None
        assert (usage.context_tokens, usage.context_window) == (110, 100_000)
        assert house.worker().spent.total.context_window == 100_000
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, 100_000, partial(counts, cli_env.model))

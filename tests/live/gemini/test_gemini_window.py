"""How much a conversation of the real Gemini CLI may hold, and a sprint that warns when it is nearly full."""

from __future__ import annotations

import pytest
from tests.live.turn_scenarios import a_sprint_warns_of_a_context_that_is_nearly_full

from farhand.drivers.gemini.schema import GEMINI_WINDOW
from farhand.model.facts import TurnEnded
from farhand.model.words import Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import says

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("wire", ["headless", "exec", "tmux"])
async def test_a_sprint_warns_when_the_context_is_nearly_full(cli_env: GeminiEnv, wire: str) -> None:
    def counts(task: str, tokens: int) -> None:
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
        cli_env.model.expect(says(task, usage=usage), prompt=task)

    counts("zz-hello", 100)
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)
        await house.say("zz-hello")
        await house.fact(TurnEnded)
        assert house.worker().spent.total.context_window == GEMINI_WINDOW
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, GEMINI_WINDOW, counts)

"""How much a conversation of the real Gemini CLI may hold, and a sprint that warns when it is nearly full."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from tests.live.turn_scenarios import a_sprint_warns_of_a_context_that_is_nearly_full

from farhand.drivers.gemini.schema import GEMINI_WINDOW
from farhand.model.facts import TurnEnded
from farhand.model.words import Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import says

pytestmark = pytest.mark.anyio


@pytest.fixture
async def patient(cli_env: GeminiEnv) -> AsyncIterator[GeminiEnv]:
    """A person who has told the CLI to shorten a conversation late: by itself it does so when it is half full."""
    usual = cli_env.settings.read_text()
    quiet = {"privacy": {"usageStatisticsEnabled": False}}
    cli_env.settings.write_text(json.dumps({**quiet, "model": {"compressionThreshold": 0.95}}))
    yield cli_env
    cli_env.settings.write_text(usual)


@pytest.mark.parametrize("wire", ["headless", "exec", "tmux"])
async def test_a_sprint_warns_when_the_context_is_nearly_full(patient: GeminiEnv, wire: str) -> None:
    def counts(task: str, tokens: int) -> None:
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
        patient.model.expect(says(task, usage=usage), prompt=task)

    counts("zz-hello", 100)
    async with patient.open() as house:
        await house.hire(backend="gemini", directory=patient.project, mode=Mode.DEFAULT, wire=wire)
        await house.say("zz-hello")
        await house.fact(TurnEnded)
        total = house.worker().spent.total
        assert (total.context_tokens, total.context_window) == (110, GEMINI_WINDOW)
        await a_sprint_warns_of_a_context_that_is_nearly_full(house, GEMINI_WINDOW, counts)

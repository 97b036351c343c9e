"""An environment of the real Gemini CLI for every test here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from farhand.testing.clis import programs
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import FakeGemini

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = programs(ROOT)


@pytest.fixture
async def cli_env(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[GeminiEnv]:
    """An environment whose fake model fails the test on requests that nobody expected."""
    if not (PROGRAMS / "gemini").exists():
        pytest.skip("the agent CLIs are not installed: sh scripts/setup-tests.sh")
    model = FakeGemini().start()
    try:
        opened = GeminiEnv(short_folder, tmux_server, model, PROGRAMS)
        settings = opened.settings.read_text()
        yield opened
        await opened.tidy()
        assert opened.settings.read_text() == settings, "the person's own settings were touched"
    finally:
        model.close()
    assert model.script.complaints == []

"""An environment of the real Codex for every test here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from farhand.testing.clis import programs
from farhand.testing.codex_env import CodexEnv, lasting_home
from farhand.testing.models.responses import FakeResponses

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = programs(ROOT)


@pytest.fixture
async def cli_env(short_folder: Path, tmux_server: tuple[str, ...]) -> AsyncIterator[CodexEnv]:
    """An environment whose fake model fails the test on steps that nobody asked for, and on calls of any other kind."""
    model = FakeResponses()
    async with model.served() as address:
        with lasting_home(ROOT / ".cache" / "homes") as home:
            opened = CodexEnv(short_folder, home, tmux_server, model, address, PROGRAMS)
            yield opened
            await opened.tidy()
            settings = opened.settings.read_text()
            assert "[projects" not in settings, "a folder was trusted in the person's own settings"
            assert "[hooks" not in settings, "hooks were written to the person's own settings"
            assert not (home / ".codex" / "hooks.json").exists()
    model.script.check()
    assert model.strange == []

"""`farhand adapter` with the real Codex, Gemini CLI and OpenCode against fake models: the answer reaches the chat."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.conftest import PROGRAMS
from tests.spec.promises import promise
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.testing.codex import MODEL, SETTINGS, lasting_home
from farhand.testing.models.gemini import FakeGemini, says
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.responses import FakeResponses
from farhand.testing.models.script import say
from farhand.testing.opencode import QUIET
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def team(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Team]:
    """A team whose manager is known."""
    async with team_house(tmp_path, bot) as opened:
        await known(opened)
        yield opened


async def call(team: Team, home: Path, backend: str, message: str, **more: str) -> tuple[int, str]:
    """Calls the adapter in a project of its own, as a program that relies on it would."""
    project = home / "project"
    project.mkdir(exist_ok=True)
    environ = {"HOME": str(home), "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "LANG": "C.UTF-8", **more}
    words = [backend, "ann", message, team.url, str(team.settings.sessions), str(project)]
    with anyio.fail_after(180):
        done = await anyio.run_process(
            [sys.executable, "-m", "farhand", "adapter", *words], env=environ, check=False, stdin=-3
        )
    return done.returncode, done.stderr.decode()


@pytest.mark.skipif(not (PROGRAMS / "codex").exists(), reason="Codex is not installed: sh scripts/setup-tests.sh")
@promise("hook.11", "hook.13", "hook.14", "backend.4")
async def test_codex_and_its_memory(team: Team) -> None:
    model = FakeResponses()
    model.script.conversation("zz-first", say("<b>one</b>"))
    model.script.conversation("zz-second", say("two"))
    async with model.served() as address:
        with lasting_home(PROGRAMS.parents[2] / "homes") as home:
            (home / ".codex").mkdir()
            (home / ".codex" / "config.toml").write_text(SETTINGS.format(model=MODEL, address=address))
            for message, answer in (("zz-first words", "<b>one</b>"), ("zz-second words", "two")):
                code, errors = await call(team, home, "codex", message, FAKE_MODEL_KEY="fake")
                assert (code, errors) == (0, "")
                await team.manager.reads(f"ann:\n{answer}")
    # The second call had the first in its memory.
    assert "zz-first" in "\n".join((await model.asked("zz-second")).texts)
    assert len((team.session() / "codex_session_id").read_text()) == 36
    model.script.check()


@pytest.mark.skipif(not (PROGRAMS / "gemini").exists(), reason="Gemini CLI is not installed: sh scripts/setup-tests.sh")
@promise("hook.11", "hook.13", "backend.5")
async def test_gemini(team: Team, tmp_path: Path) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "model": {"name": "gemini-2.5-flash"},
    }
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(settings))
    with FakeGemini() as fake:
        fake.expect(says("seen: <b>two</b> & more"), prompt="zz-gemini, say two words")
        code, errors = await call(team, tmp_path, "gemini", "zz-gemini, say two words", **fake.environ())
    assert (code, errors) == (0, "")
    assert (await team.manager.reads("seen:")).text == "ann:\nseen: <b>two</b> & more"


@pytest.mark.skipif(not (PROGRAMS / "opencode").exists(), reason="OpenCode is not installed: sh scripts/setup-tests.sh")
@promise("hook.11", "hook.13", "backend.6")
async def test_opencode(team: Team, tmp_path: Path) -> None:
    fake = FakeOpenAi()
    fake.script.conversation('zz-opencode, "quoted" words', say("seen, without quotes"))
    async with fake.served() as address:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": f"{address}/v1", "apiKey": "fake"},
            "models": {"fake-model": {"name": "Fake", "limit": {"context": 100000, "output": 8000}}},
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "enabled_providers": ["fake"],
            "provider": {"fake": provider},
        }
        (tmp_path / ".config" / "opencode").mkdir(parents=True)
        (tmp_path / ".config" / "opencode" / "opencode.json").write_text(json.dumps(config))
        code, errors = await call(team, tmp_path, "opencode", 'zz-opencode, "quoted" words', **QUIET)
    assert (code, errors) == (0, "")
    assert (await team.manager.reads("seen,")).text == "ann:\nseen, without quotes"
    fake.script.check()

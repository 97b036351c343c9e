"""`farhand adapter` with the real CLIs against fake models: the answer reaches the chat, whoever is killed."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import anyio
import pytest
from tests.conftest import PROGRAMS
from tests.spec.calling import adapter, begun, follower, killed
from tests.spec.promises import promise
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.testing.codex_env import MODEL, SETTINGS, lasting_home
from farhand.testing.models.gemini import FakeGemini, held, says
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.responses import FakeResponses
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say
from farhand.testing.opencode_env import QUIET
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def team(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Team]:
    """A team whose manager is known."""
    async with team_house(tmp_path, bot) as opened:
        await known(opened)
        yield opened


class Caller:
    """Calls the adapter of one CLI in a project of its own."""

    def __init__(self, team: Team, home: Path, backend: str, **more: str) -> None:
        project = home / "project"
        project.mkdir()
        self._environ = {"HOME": str(home), "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "LANG": "C.UTF-8", **more}
        self._words = (backend, "ann"), (team.url, str(team.settings.sessions), str(project))
        self._team = team

    async def call(self, message: str) -> tuple[int, str]:
        """The exit code, and what it complains of."""
        return await adapter(self._environ, *self._words[0], message, *self._words[1])

    async def cut_off(self, message: str, asked: Awaitable[object], *, alone: bool = False) -> None:
        """Kills the adapter while the model speaks, and the process that would bring the answer if not it `alone`."""
        process = await begun(self._environ, *self._words[0], message, *self._words[1])
        with anyio.fail_after(240):
            await asked
        await killed(process, *(() if alone else (follower(process),)))

    async def answers(self) -> list[str]:
        """All that the manager has read from the worker."""
        return [one.text for one in await self._team.bot.messages(4242) if one.text.startswith("ann:")]


@pytest.mark.skipif(not (PROGRAMS / "codex").exists(), reason="Codex is not installed: sh scripts/setup-tests.sh")
@promise("hook.11", "hook.13", "hook.14", "backend.4")
async def test_codex_and_its_memory(team: Team) -> None:
    model = FakeResponses()
    model.script.conversation("zz-first", ScriptedReply((Hold("first"), ScriptedText("<b>one</b>"))))
    model.script.conversation("zz-second", say("two"))
    model.script.conversation("zz-third", ScriptedReply((Hold("third"), ScriptedText("three"))))
    async with model.served() as address:
        with lasting_home(PROGRAMS.parents[2] / "homes") as home:
            (home / ".codex").mkdir()
            (home / ".codex" / "config.toml").write_text(SETTINGS.format(model=MODEL, address=address))
            caller = Caller(team, home, "codex", FAKE_MODEL_KEY="fake")
            await caller.cut_off("zz-first words", model.asked("zz-first"))
            model.script.release("first")
            assert await caller.call("zz-second words") == (0, "")
            await team.manager.reads("ann:\ntwo")
            await caller.cut_off("zz-third words", model.asked("zz-third"), alone=True)
            model.script.release("third")
            await team.manager.reads("ann:\nthree")
            assert await caller.answers() == ["ann:\n<b>one</b>", "ann:\ntwo", "ann:\nthree"]
    # The second call had the first in its memory, although nobody was there to hear it.
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
    gate = threading.Event()
    with FakeGemini() as fake:
        fake.expect(held(gate, "seen: <b>two</b> & more"), prompt="zz-gemini, say two words")
        fake.expect(says("and on"), prompt="zz-again")
        caller = Caller(team, tmp_path, "gemini", **fake.environ())
        await caller.cut_off("zz-gemini, say two words", until(lambda: bool(fake.requests)))
        gate.set()
        assert await caller.call("zz-again") == (0, "")
    await team.manager.reads("and on")
    assert await caller.answers() == ["ann:\nseen: <b>two</b> & more", "ann:\nand on"]


@pytest.mark.skipif(not (PROGRAMS / "opencode").exists(), reason="OpenCode is not installed: sh scripts/setup-tests.sh")
@promise("hook.11", "hook.13", "backend.6")
async def test_opencode(team: Team, tmp_path: Path) -> None:
    fake = FakeOpenAi()
    fake.script.conversation(
        'zz-opencode, "quoted" words', ScriptedReply((Hold("gate"), ScriptedText("seen, without quotes")))
    )
    fake.script.conversation("zz-again", say("and on"))
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
        caller = Caller(team, tmp_path, "opencode", **QUIET)
        await caller.cut_off('zz-opencode, "quoted" words', fake.asked("zz-opencode"))
        fake.script.release("gate")
        assert await caller.call("zz-again") == (0, "")
    await team.manager.reads("and on")
    assert await caller.answers() == ["ann:\nseen, without quotes", "ann:\nand on"]
    fake.script.check()

"""Real ACP agents with throwaway homes and fake models, each behind the same few words."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

from farhand.testing.clis import quick_start
from farhand.testing.codex_env import codex_settings, lasting_home
from farhand.testing.models import gemini
from farhand.testing.models.anthropic import FakeAnthropic, limited
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.responses import FakeResponses
from farhand.testing.models.script import Failure, Hold, ModelScript, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import QUIET

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / ".cache" / "npm" / "node_modules" / ".bin"
# More than there are turns: Qwen Code asks its model something of its own about each.
TIMES = 20
# The same tool each time; a word is said once, for not every agent asks its model for more after a refusal.
TOUCHES = ("touch it", "touch no more", "touch again", "touch at last")


class Model(Protocol):
    """A fake model that knows the words of the tests."""

    def release(self) -> None:
        """Lets what is held go on."""
        ...


@dataclass(frozen=True)
class AcpEnv:
    """How to start an agent, and where."""

    argv: tuple[str, ...]
    environ: dict[str, str]
    project: Path
    model: Model


def age_sessions(acp_env: AcpEnv) -> None:
    """Gives recorded sessions an older name.

    gemini 0.61 writes over a session that is loaded in the minute in which it began: both get the same file name.
    """
    for path in acp_env.project.parent.glob(".gemini/tmp/*/chats/session-*.jsonl"):
        path.rename(path.with_name(f"session-2026-01-01T00-00-{path.stem[-8:]}.jsonl"))


class GeminiModel:
    """Plays the words to gemini."""

    def __init__(self, fake: gemini.FakeGemini, tool: str = "run_shell_command") -> None:
        self._gate = Event()
        touch = {"command": "touch made.txt"}
        for _ in range(TIMES):
            fake.expect(gemini.says("Good ", "morning."), prompt="good morning")
            look = gemini.calls("list_directory", {"dir_path": "."})
            fake.expect(look, gemini.says("Nothing there."), prompt="look around")
            for word in TOUCHES:
                fake.expect(gemini.calls(tool, touch), gemini.says("Touched."), prompt=word)
            fake.expect(gemini.held(self._gate, "One, ", "two.", before=1), prompt="count slowly")
            fake.expect(gemini.refuses(400, "the model is not in the mood"), prompt="fail now")

    def release(self) -> None:
        """Lets held answers go on."""
        self._gate.set()


class OpenCodeModel:
    """Plays the words to opencode."""

    def __init__(self, fake: FakeOpenAi) -> None:
        self._fake = fake
        counting = ScriptedReply((ScriptedText("One, "), Hold("gate"), ScriptedText("two.")))
        for _ in range(TIMES):
            fake.script.conversation("good morning", say("Good morning.", piece=5))
            fake.script.conversation("look around", use("glob", pattern="*"), say("Nothing there."))
            touch = use("bash", command="touch made.txt", description="Touches a file")
            for word in TOUCHES:
                fake.script.conversation(word, touch, say("Touched."))
            fake.script.conversation("count slowly", counting)
            fake.script.conversation("fail now", Failure(400, "invalid_request_error", "the model is not in the mood"))

    def release(self) -> None:
        """Lets held answers go on."""
        self._fake.script.release("gate")


def _folders(root: Path) -> tuple[Path, Path]:
    home, project = root / "home", root / "home" / "project"
    (project / ".git").mkdir(parents=True)
    return home, project


@asynccontextmanager
async def gemini_cli(root: Path) -> AsyncIterator[AcpEnv]:
    """The Gemini CLI in ACP mode."""
    home, project = _folders(root)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    fake = gemini.FakeGemini().start()
    try:
        environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            **quick_start(),
            **fake.environ(),
        }
        model = GeminiModel(fake)
        yield AcpEnv((str(PROGRAMS / "gemini"), "--acp", "-m", "gemini-2.5-flash"), environ, project, model)
        model.release()
    finally:
        fake.close()


@asynccontextmanager
async def opencode(root: Path) -> AsyncIterator[AcpEnv]:
    """OpenCode in ACP mode."""
    home, project = _folders(root)
    fake = FakeOpenAi()
    async with fake.served() as address:
        models = {"fake-model": {"name": "Fake Model", "limit": {"context": 100_000, "output": 8000}}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": f"{address}/v1", "apiKey": "fake"},
            "models": models,
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "enabled_providers": ["fake"],
            "provider": {"fake": provider},
            "permission": {"bash": "ask"},
        }
        (home / ".config" / "opencode").mkdir(parents=True)
        (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(config))
        environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            **QUIET,
        }
        model = OpenCodeModel(fake)
        yield AcpEnv((str(PROGRAMS / "opencode"), "acp"), environ, project, model)
        model.release()


class ScriptedModel:
    """Plays the words by a script, with the tool calls of one agent."""

    def __init__(self, script: ModelScript, look: ScriptedReply, touch: ScriptedReply, failure: Failure) -> None:
        self._script = script
        counting = ScriptedReply((ScriptedText("One, "), Hold("gate"), ScriptedText("two.")))
        for _ in range(TIMES):
            script.conversation("good morning", say("Good morning.", piece=5))
            script.conversation("look around", look, say("Nothing there."))
            for word in TOUCHES:
                script.conversation(word, touch, say("Touched."))
            script.conversation("count slowly", counting)
            script.conversation("fail now", failure)

    def release(self) -> None:
        """Lets held answers go on."""
        self._script.release("gate")


@asynccontextmanager
async def codex_cli(root: Path) -> AsyncIterator[AcpEnv]:
    """Codex behind its ACP adapter; its home is no temporary one, so that it has its sandbox."""
    fake = FakeResponses()
    async with fake.served() as address:
        with lasting_home(ROOT / ".cache" / "homes") as home:
            project = root / "project"
            (project / ".git").mkdir(parents=True)
            (home / ".codex").mkdir()
            (home / ".codex" / "config.toml").write_text(codex_settings(address))
            environ = {
                "HOME": str(home),
                "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
                "FAKE_MODEL_KEY": "fake",
                "INITIAL_AGENT_MODE": "read-only",
                "NO_BROWSER": "1",
                **quick_start(),
            }
            escalated = {"sandbox_permissions": "require_escalated", "justification": "to make it"}
            touch = use("exec_command", cmd="touch made.txt", **escalated)
            failure = Failure(400, "invalid_request_error", "the model is not in the mood")
            model = ScriptedModel(fake.script, use("exec_command", cmd="ls"), touch, failure)
            yield AcpEnv((str(PROGRAMS / "codex-acp"),), environ, project, model)
            model.release()


@asynccontextmanager
async def claude_code(root: Path) -> AsyncIterator[AcpEnv]:
    """Claude Code behind its ACP adapter."""
    home, project = _folders(root)
    fake = FakeAnthropic()
    async with fake.served() as address:
        environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "CLAUDE_CODE_EXECUTABLE": str(PROGRAMS / "claude"),
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "sk-ant-fake-" + "0" * 60,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **quick_start(),
        }
        look = use("Bash", command="ls", description="Look")
        touch = use("Bash", command="touch made.txt", description="Make")
        model = ScriptedModel(fake.script, look, touch, limited("come back tomorrow"))
        yield AcpEnv((str(PROGRAMS / "claude-agent-acp"),), environ, project, model)
        model.release()


@asynccontextmanager
async def qwen_code(root: Path) -> AsyncIterator[AcpEnv]:
    """Qwen Code, which speaks to any OpenAI-compatible model."""
    home, project = _folders(root)
    fake = FakeOpenAi()
    async with fake.served() as address:
        settings = {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        (home / ".qwen").mkdir()
        (home / ".qwen" / "settings.json").write_text(json.dumps(settings))
        environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "OPENAI_API_KEY": "fake",
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_MODEL": "fake-model",
            **quick_start(),
        }
        look = use("list_directory", path=str(project))
        touch = use("run_shell_command", command="touch made.txt", description="Make", is_background=False)
        failure = Failure(400, "invalid_request_error", "the model is not in the mood")
        model = ScriptedModel(fake.script, look, touch, failure)
        yield AcpEnv((str(PROGRAMS / "qwen"), "--acp"), environ, project, model)
        model.release()


AGENTS = {"gemini": gemini_cli, "opencode": opencode, "codex": codex_cli, "claude": claude_code, "qwen": qwen_code}

"""The contract of drivers, kept by the real Claude Code in its terminal and without one."""

from __future__ import annotations

import pytest

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.contracts.agent import AgentAlone, AgentAtWork, CliScript
from farhand.testing.contracts.worker import WireShows
from farhand.testing.models.anthropic import limited
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use


def shell(command: str) -> ScriptedReply:
    """The model wants to run this."""
    return use("Bash", command=command, description="Leave a file")


def look(file: str) -> ScriptedReply:
    """The model reads this."""
    return use("Read", file_path=file)


class TestInTheTerminal(AgentAlone):
    kind = "claude"

    def plays(self, cli_env: ClaudeEnv) -> None:
        script = cli_env.model.script
        script.conversation("zz-plain", *[say("hello there")] * 6)
        script.conversation("zz-tool", use("Bash", command="ls", description="Look"), say("looked"))
        script.conversation("zz-ask", shell("touch a"), say("made"))
        script.conversation("zz-fail", limited("come back tomorrow"))
        script.conversation("zz-slow", ScriptedReply((ScriptedText("started"), Hold("never"))))


class TestWithoutATerminal(TestInTheTerminal):
    """The same, over JSON lines."""

    kind = "claude-headless"


class TestAtWork(AgentAtWork):
    @pytest.fixture(params=["claude", "claude-headless"])
    def agent_script(self, request: pytest.FixtureRequest, cli_env: ClaudeEnv) -> CliScript:
        return CliScript(cli_env, request.param, shell, look, WireShows(reads_with="Read"))

"""The contract of drivers, kept by the real Gemini CLI: over ACP, a process a turn, and in its terminal."""

from __future__ import annotations

from threading import Event

import pytest

from farhand.model.words import replace
from farhand.testing.contracts.agent import ALL, AgentAlone, AgentAtWork
from farhand.testing.gemini_env import GeminiEnv, GeminiWorkers
from farhand.testing.models.gemini import calls, held, refuses, says


class TestOverAcp(AgentAlone):
    kind = "gemini/headless"

    def plays(self, cli_env: GeminiEnv) -> None:
        model = cli_env.model
        make = {"command": "touch a", "description": "Make"}
        model.expect(*[says("hello ", "there")] * 8, prompt="zz-plain")
        model.expect(calls("list_directory", {"dir_path": "."}), says("looked"), prompt="zz-tool")
        model.expect(calls("run_shell_command", make), says("made"), prompt="zz-ask")
        model.expect(refuses(400, "the model is not in the mood"), prompt="zz-fail")
        model.expect(held(Event(), "started ", "never", before=1), prompt="zz-slow")


class TestAProcessATurn(TestOverAcp):
    """The same, as far as it goes: it cannot ask."""

    kind = "gemini/exec"
    said = replace(ALL, ask="")


class TestInTheTerminal(TestOverAcp):
    """The same, where a person can sit down."""

    kind = "gemini/tmux"


class TestAtWork(AgentAtWork):
    @pytest.fixture(params=["headless", "tmux"])
    def agent_script(self, request: pytest.FixtureRequest, cli_env: GeminiEnv) -> GeminiWorkers:
        return GeminiWorkers(cli_env, "gemini", request.param)

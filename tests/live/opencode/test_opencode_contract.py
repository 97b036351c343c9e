"""The contract of drivers, kept by the real OpenCode: over its server, as one command a turn, and in its terminal."""

from __future__ import annotations

import pytest

from farhand.model.words import replace
from farhand.testing.contracts import worker
from farhand.testing.contracts.agent import ALL, AgentAlone, AgentAtWork, CliScript, Promise
from farhand.testing.contracts.worker import AgentScript, WireShows
from farhand.testing.models.script import Failure, Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import OpenCodeEnv

SHOWS = WireShows(reads_with="read")
FAILURE = Failure(400, "invalid_request_error", "the model is not in the mood")
# The terminal is slow to start and has the same link: it shows what is its own.
IN_THE_TERMINAL = (
    worker.nothing_runs_before_it_is_allowed,
    worker.a_phone_sees_what_the_model_says,
    worker.a_relaunched_worker_keeps_its_session,
    worker.a_killed_agent_is_told_and_comes_back,
)


def shell(command: str) -> ScriptedReply:
    """The model wants to run this."""
    return use("bash", command=command, description="Leave a file")


def look(file: str) -> ScriptedReply:
    """The model reads this."""
    return use("read", filePath=file)


class TestHeadless(AgentAlone):
    kind = "opencode/headless"

    def plays(self, cli_env: OpenCodeEnv) -> None:
        script = cli_env.model.script
        script.conversation("zz-plain", *[say("hello there", piece=4)] * 6)
        script.conversation("zz-tool", use("glob", pattern="*"), say("looked"))
        script.conversation("zz-ask", shell("touch a"), say("made"))
        script.conversation("zz-fail", FAILURE)
        script.conversation("zz-slow", ScriptedReply((ScriptedText("started"), Hold("never"))))


class TestOneCommandATurn(TestHeadless):
    """The same, a process a turn; it cannot ask. What its worker promises in a node is in `test_opencode_exec.py`."""

    kind = "opencode/exec"
    said = replace(ALL, ask="")


class TestInTheTerminal(TestHeadless):
    """The same, where a person can sit down."""

    kind = "opencode/tmux"


class TestAtWork(AgentAtWork):
    @pytest.fixture(params=["opencode/headless", "opencode/tmux"])
    def agent_script(self, request: pytest.FixtureRequest, cli_env: OpenCodeEnv) -> CliScript:
        return CliScript(cli_env, request.param, shell, look, SHOWS)

    def promises(self, _agent_script: AgentScript) -> tuple[Promise, ...]:
        return IN_THE_TERMINAL if _agent_script.backend == "opencode/tmux" else worker.PROMISES

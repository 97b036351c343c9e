"""The contract of drivers, kept by the real Codex: over its app-server, one process a turn, and in its terminal."""

from __future__ import annotations

import pytest

from farhand.model.words import replace
from farhand.testing.claude_env import red_pixel
from farhand.testing.codex_env import CodexEnv
from farhand.testing.contracts import worker
from farhand.testing.contracts.agent import ALL, AgentAlone, AgentAtWork, CliScript, Promise
from farhand.testing.contracts.worker import AgentScript, WireShows
from farhand.testing.models.responses import limited
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use


def shell(command: str) -> ScriptedReply:
    """The model wants to leave the sandbox."""
    return use("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="to make it")


def look(file: str) -> ScriptedReply:
    """The model reads this."""
    return use("exec_command", cmd=f"cat {file}")


class TestOverTheAppServer(AgentAlone):
    kind = "codex/headless"

    def plays(self, cli_env: CodexEnv) -> None:
        (cli_env.project / "red.png").write_bytes(red_pixel())
        script = cli_env.model.script
        script.conversation("zz-plain", *[say("hello there", piece=4)] * 6)
        script.conversation("zz-tool", use("view_image", path=str(cli_env.project / "red.png")), say("looked"))
        script.conversation("zz-ask", shell("touch a"), say("made"))
        script.conversation("zz-fail", limited("come back tomorrow"))
        script.conversation("zz-slow", ScriptedReply((ScriptedText("started"), Hold("never"))))


class TestInTheTerminal(TestOverTheAppServer):
    """The same, with keys, hooks and the rollout."""

    kind = "codex/tmux"


class TestAProcessATurn(TestOverTheAppServer):
    """The same, with `codex exec --json`, which cannot ask."""

    kind = "codex/exec"
    said = replace(ALL, tool="", ask="")


# Only the rollout keeps the model's own name of the tool. Over the app-server the mode `default` asks about every
# command; the terminal knows no such policy, and a process a turn cannot ask.
SHOWS = {
    "codex": WireShows(reads_with="shell", asks=True),
    "codex/tmux": WireShows(reads_with="exec_command"),
    "codex/exec": WireShows(reads_with="shell"),
}


class TestAtWork(AgentAtWork):
    @pytest.fixture(params=SHOWS)
    def agent_script(self, request: pytest.FixtureRequest, cli_env: CodexEnv) -> CliScript:
        return CliScript(cli_env, request.param, shell, look, SHOWS[request.param])

    def promises(self, _agent_script: AgentScript) -> tuple[Promise, ...]:
        if _agent_script.backend != "codex/exec":
            return worker.PROMISES
        # A process a turn cannot ask, and at rest there is none to kill.
        without = (worker.nothing_runs_before_it_is_allowed, worker.a_killed_agent_is_told_and_comes_back)
        return tuple(promise for promise in worker.PROMISES if promise not in without)

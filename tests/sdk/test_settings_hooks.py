"""Hooks as commands in settings: what they are told, exit codes and answers, hostile ones, switching them off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.sdk.firing import TOOL, commands, fire, system

from farhand.sdk.context import LiveContext
from farhand.sdk.hooks import load_hooks
from farhand.sdk.protocols import HookOutcome
from farhand.sdk.settings import AgentSettings, Tier, load_settings
from farhand.testing.sdk_env import PATH, sdk_context, until

pytestmark = pytest.mark.anyio


async def test_a_command_gets_the_event_and_the_variables(context: LiveContext) -> None:
    line = 'cat > got.json; echo "$GEMINI_SESSION_ID|$GEMINI_CWD|$CLAUDE_PROJECT_DIR|$OWN|$GEMINI_API_KEY" > got.env'
    made = system(config=commands("BeforeTool", line, env={"OWN": "own"}), environ={"GEMINI_API_KEY": "secret"})
    assert await fire(made, context) == HookOutcome()
    got = json.loads(Path(context.cwd, "got.json").read_text())
    assert list(got) == [
        "session_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "timestamp",
        "tool_name",
        "tool_input",
    ]
    assert got["tool_input"] == TOOL["tool_input"]
    assert got["transcript_path"] == context.transcript_path
    values = Path(context.cwd, "got.env").read_text().strip().split("|")
    assert values == [context.session_id, context.cwd, context.cwd, "own", ""]


async def test_names_in_the_command_are_filled_in_safely(tmp_path: Path) -> None:
    folder = tmp_path / "it's $(touch pwned) here"
    folder.mkdir()
    made = system(config=commands("BeforeTool", "printf %s $GEMINI_PROJECT_DIR >&2; exit 2"))
    outcome = await fire(made, sdk_context(folder))
    assert outcome.reason == str(folder)
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize(
    ("line", "decision", "reason", "message"),
    [
        ("true", None, "", None),
        ("echo plain", "allow", "", "plain"),
        ("echo logged >&2", "allow", "", "logged"),
        ("echo oops; exit 1", None, "", "Warning: oops"),
        ("exit 1", None, "", "Warning: hook 'exit 1' exited with 1"),
        ("echo no >&2; exit 2", "deny", "no", None),
        ("echo log; echo no >&2; exit 2", "deny", "no", None),
        ("exit 2", "deny", "No reason provided", None),
        ("echo three; exit 3", "deny", "three", None),
        ("no-such-command-here 2>&1", "deny", "bash: line 1: no-such-command-here: command not found", None),
        ("""echo '{"decision":"allow"}'; exit 2""", "deny", "No reason provided", None),
        ("""echo '{"decision":"allow","reason":"r"}'; exit 3""", "deny", "r", None),
        ("""echo '{"decision":"block","reason":"r"}'""", "deny", "r", None),
        ("""echo '{"decision":"deny"}'""", "deny", "No reason provided", None),
        ("""echo '{"decision":"ask","reason":"sure?"}'""", "ask", "sure?", None),
        ("""echo '{"decision":"approve"}'""", "allow", "", None),
        ("""echo '"{\\"decision\\":\\"deny\\",\\"reason\\":\\"twice\\"}"'""", "deny", "twice", None),
        ("""echo '{"decision":"deny","reason":"on stderr"}' >&2""", "deny", "on stderr", None),
        ("""echo '{"decision":5,"reason":[1],"systemMessage":"kept"}'""", None, "", "kept"),
        ("""echo '[1, 2]'""", "allow", "", "[1, 2]"),
        ("""echo '{"systemMessage":"m","suppressOutput":true}'""", None, "", "m"),
    ],
)
async def test_exit_codes_and_answers(
    context: LiveContext, line: str, decision: str | None, reason: str, message: str | None
) -> None:
    outcome = await fire(system(config=commands("BeforeTool", line)), context)
    assert (outcome.decision, outcome.reason, outcome.system_message) == (decision, reason, message)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("sleep 1000", "did not finish within 200 ms"),
        ("trap '' TERM; while :; do sleep 0.05; done", "did not finish within 200 ms"),
        ("yes", "did not finish within 200 ms"),
        ("kill -9 $$", "ended by SIGKILL"),
        ("kill -15 $$", "ended by SIGTERM"),
        ("head -c 3000000 /dev/zero | tr '\\0' 'x'", "printed more than an answer can hold"),
    ],
)
async def test_hostile_guards_let_nothing_through(
    context: LiveContext, line: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farhand.sdk.hooks.system.KILL_GRACE_SECONDS", 0.2)
    timeout = 200 if "200 ms" in sentence else 20_000
    outcome = await fire(system(config=commands("BeforeTool", line, timeout=timeout, name="guard")), context)
    assert outcome.decision == "deny"
    assert sentence in outcome.reason


async def test_hostile_hooks_elsewhere_only_warn(context: LiveContext) -> None:
    made = system(config=commands("AfterTool", "kill -9 $$", "head -c 100 /dev/urandom", name="odd"))
    outcome = await fire(made, context, "AfterTool", **TOOL, tool_response={})
    assert outcome.decision != "deny"
    assert "ended by SIGKILL" in (outcome.system_message or "")


async def test_a_hook_that_does_not_read_is_no_problem(context: LiveContext) -> None:
    big: dict[str, Any] = {"tool_name": "write_file", "tool_input": {"content": "x" * 2_000_000}}
    assert await fire(system(config=commands("BeforeTool", "exec 0<&-; sleep 0.05")), context, **big) == HookOutcome()


async def test_an_interrupted_hook_ends(context: LiveContext) -> None:
    made = system(config=commands("BeforeTool", "echo $$ > pid; sleep 1000"))
    marker = Path(context.cwd, "pid")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fire, made, context)
        await until(lambda: marker.exists() and bool(marker.read_text()))
        tasks.cancel_scope.cancel()
    await until(lambda: not Path("/proc", marker.read_text().strip()).exists())


async def test_settings_switch_hooks_off(context: LiveContext) -> None:
    config = commands("BeforeTool", "exit 2", name="guard")

    def listens(raw: dict[str, Any]) -> bool:
        file = Tier("user", Path("/user/settings.json"), {"hooks": config, **raw})
        return load_hooks([], AgentSettings(raw=file.values, tiers=(file,))).listens("BeforeTool")

    assert listens({})
    assert not listens({"hooksConfig": {"enabled": False}})
    assert not listens({"hooksConfig": {"disabled": ["guard"]}})
    assert not listens({"hooksConfig": {"disabled": ["exit 2"]}})
    assert not listens({"tools": {"enableHooks": False}})


async def test_broken_hook_settings_cost_that_hook_and_are_told(context: LiveContext) -> None:
    good = {"type": "command", "command": "exit 2"}
    config = {
        "BeforeTea": [],
        "AfterTool": ["what"],
        "BeforeTool": [
            {"hooks": [good, {"type": "plugin"}, {"command": ""}, "text", {"command": "x", "timeout": "long"}]},
        ],
    }
    made = system(config=config)
    assert len(made.warnings) == 6
    assert "no hook event 'BeforeTea'" in made.warnings[0]
    assert all(warning.startswith("/user/settings.json") for warning in made.warnings)
    assert (await fire(made, context)).decision == "deny"


async def test_a_project_that_is_not_trusted_runs_no_hook(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for folder, word in ((home, "mine"), (project, "theirs")):
        (folder / ".gemini").mkdir(parents=True)
        (folder / ".gemini" / "settings.json").write_text(json.dumps({"hooks": commands("BeforeTool", f"echo {word}")}))
    said = {}
    for trust in (True, False):
        settings = load_settings(project, home, {"PATH": PATH}, trust=trust)
        said[trust] = (await fire(load_hooks([], settings), sdk_context(project))).system_message
    assert said == {True: "theirs\nmine", False: "mine"}

"""Hooks in a session: who hears of what, in which order, how answers are merged, and what hostile hooks come to."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest

from farhand.sdk.context import LiveContext
from farhand.sdk.errors import SdkError
from farhand.sdk.hooks import (
    AfterToolInput,
    AfterToolOutput,
    BeforeAgentInput,
    BeforeAgentOutput,
    BeforeToolInput,
    BeforeToolOutput,
    Hook,
    HookInput,
    NotificationInput,
    hook,
    load_hooks,
)
from farhand.sdk.hooks.system import Hooks
from farhand.sdk.hooks.words import WORDS, EventName, input_of
from farhand.sdk.protocols import HookEventName, HookOutcome, SessionContext
from farhand.sdk.settings import AgentSettings, Tier, load_settings
from farhand.testing.sdk_env import PATH, sdk_context, until

pytestmark = pytest.mark.anyio

TOOL: dict[str, Any] = {"tool_name": "write_file", "tool_input": {"file_path": "a.txt", "content": "text"}}


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[LiveContext]:
    (tmp_path / "project").mkdir()
    made = sdk_context(tmp_path / "project")
    yield made
    await made.close()


def tier(name: str, hooks: Any) -> Tier:
    return Tier(name, Path(f"/{name}/settings.json"), {"hooks": hooks})


def commands(event: str, *lines: str, matcher: str | None = None, sequential: bool = False, **more: Any) -> Any:
    group = {"hooks": [{"type": "command", "command": line, **more} for line in lines], "sequential": sequential}
    return {event: [group | ({"matcher": matcher} if matcher is not None else {})]}


def system(*hooks: Hook[Any, Any], config: Any = None, environ: Mapping[str, str] | None = None) -> Hooks:
    tiers = (tier("user", config),) if config is not None else ()
    return load_hooks(hooks, AgentSettings(tiers=tiers, environ={"PATH": PATH, **(environ or {})}))


async def fire(made: Hooks, context: LiveContext, event: HookEventName = "BeforeTool", **fields: Any) -> HookOutcome:
    return await made.fire(event, fields or dict(TOOL), context)


# In Python.


async def test_a_hook_hears_its_event_and_may_refuse(context: LiveContext) -> None:
    heard: list[BeforeToolInput] = []

    @hook("BeforeTool", "write_file")
    def guard(event: BeforeToolInput, ctx: SessionContext) -> BeforeToolOutput | None:
        heard.append(event)
        return BeforeToolOutput(decision="deny", reason=f"not in {Path(ctx.cwd).name}")

    made = system(guard)
    assert made.listens("BeforeTool", "write_file")
    assert not made.listens("BeforeTool", "read_file")
    assert not made.listens("AfterTool")
    outcome = await fire(made, context)
    assert (outcome.decision, outcome.reason) == ("deny", "not in project")
    assert heard[0].tool_input == TOOL["tool_input"]
    assert (heard[0].session_id, heard[0].cwd) == (context.session_id, context.cwd)


async def test_no_answer_is_no_opinion(context: LiveContext) -> None:
    @hook("BeforeTool")
    async def watch(event: BeforeToolInput) -> None:
        assert event.hook_event_name == "BeforeTool"

    assert await fire(system(watch), context) == HookOutcome()


async def test_without_hooks_nothing_happens(context: LiveContext) -> None:
    assert not system().listens("BeforeTool")
    assert await fire(system(), context) == HookOutcome()


async def test_hooks_reach_files_through_the_context(context: LiveContext) -> None:
    @hook("AfterTool", matcher="write_file", name="reformat")
    async def reformat(event: AfterToolInput, ctx: SessionContext) -> AfterToolOutput | None:
        path = event.tool_input["file_path"]
        text = await ctx.fs.read(path)
        await ctx.fs.write(path, (text or "").upper())
        return AfterToolOutput(additional_context=f"Reformatted {path}, read it again. <b>")

    await context.fs.write("a.txt", "text")
    outcome = await fire(system(reformat), context, "AfterTool", **TOOL, tool_response={"llmContent": "ok"})
    assert outcome.additional_context == "Reformatted a.txt, read it again. &lt;b&gt;"
    assert await context.fs.read("a.txt") == "TEXT"


@pytest.mark.parametrize("event", WORDS)
async def test_every_event_has_its_words(context: LiveContext, event: EventName) -> None:
    told, answer = WORDS[event]
    samples: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "startup"},
        "SessionEnd": {"reason": "exit"},
        "BeforeAgent": {"prompt": "hi"},
        "AfterAgent": {"prompt": "hi", "prompt_response": "ho", "stop_hook_active": False},
        "BeforeModel": {"llm_request": {"model": "m", "messages": []}},
        "BeforeToolSelection": {"llm_request": {"model": "m", "messages": []}},
        "AfterModel": {"llm_request": {"model": "m"}, "llm_response": {"text": "t", "candidates": []}},
        "BeforeTool": TOOL,
        "AfterTool": {**TOOL, "tool_response": {"llmContent": "x"}},
        "PreCompress": {"trigger": "auto"},
        "Notification": {"notification_type": "ToolPermission", "message": "m", "details": {"type": "edit"}},
    }
    heard: list[HookInput] = []

    def listen(given: HookInput) -> Any:
        heard.append(given)
        return answer(system_message=f"{event} heard")

    made = cast("Any", hook)(event)(listen)
    outcome = await fire(system(made), context, event, **samples[event], novelty=1)
    assert isinstance(heard[0], told)
    assert outcome.system_message == f"{event} heard"
    assert outcome.decision is None
    assert heard[0].extra == {"novelty": 1}
    for name, value in samples[event].items():
        assert getattr(heard[0], name) == value


@pytest.mark.parametrize(
    ("handler", "sentence"),
    [
        (lambda event: 1 / 0, "ZeroDivisionError"),  # noqa: ARG005
        (lambda event: {"decison": "allow"}, "answered 'decison', which nobody knows"),  # noqa: ARG005
        (lambda event: AfterToolOutput(), "returned AfterToolOutput"),  # noqa: ARG005
        (lambda event: event.nothing, "AttributeError"),
        (lambda event: setattr(event, "tool_name", "x"), "is frozen"),
    ],
)
async def test_a_broken_guard_lets_nothing_through(context: LiveContext, handler: Any, sentence: str) -> None:
    outcome = await fire(system(hook("BeforeTool", name="guard")(handler)), context)
    assert outcome.decision == "deny"
    assert outcome.reason.startswith("Hook 'guard' failed: ")
    assert sentence in outcome.reason


async def test_a_guard_that_hangs_lets_nothing_through(context: LiveContext) -> None:
    released = threading.Event()

    @hook("BeforeTool", timeout_seconds=0.05)
    def stuck(event: BeforeToolInput) -> None:
        released.wait(30)

    @hook("BeforeTool", timeout_seconds=0.05)
    async def stuck_later(event: BeforeToolInput) -> None:
        await anyio.sleep_forever()

    outcome = await fire(system(stuck, stuck_later), context)
    released.set()
    assert outcome.decision == "deny"
    assert outcome.reason.count("did not finish within 50 ms") == 2


async def test_other_broken_hooks_only_warn(context: LiveContext) -> None:
    @hook("BeforeAgent")
    def broken(event: BeforeAgentInput) -> None:
        raise ValueError("oops")

    outcome = await fire(system(broken), context, "BeforeAgent", prompt="hi")
    assert outcome.decision is None
    assert outcome.system_message == "Warning: hook 'broken' failed: ValueError: oops."


async def test_what_is_no_hook_is_refused_by_name() -> None:
    with pytest.raises(SdkError, match="is no hook"):
        load_hooks([print], AgentSettings())
    with pytest.raises(ValueError, match=r"no hook event 'BeforeTea'\. Known: SessionStart"):
        cast("Any", hook)("BeforeTea")(lambda event: None)  # noqa: ARG005


def test_inputs_are_checked_and_frozen() -> None:
    shared = {"session_id": "s", "transcript_path": "", "cwd": "/", "hook_event_name": "BeforeTool", "timestamp": "t"}
    event = input_of("BeforeTool", {**shared, **TOOL})
    with pytest.raises(AttributeError, match="frozen"):
        cast("Any", event).tool_name = "other"
    with pytest.raises(ValueError, match="tool_input should be dict"):
        input_of("BeforeTool", {**shared, "tool_name": "x", "tool_input": "y"})
    with pytest.raises(ValueError, match="needs tool_name, tool_input"):
        input_of("BeforeTool", shared)
    with pytest.raises(TypeError, match="no field 'decison'"):
        cast("Any", BeforeToolOutput)(decison="deny")
    assert BeforeToolOutput(decision="deny") == BeforeToolOutput(decision="deny")
    assert "decision='deny'" in repr(BeforeToolOutput(decision="deny"))


# As commands, from settings.


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
    timeout = 20_000 if "head" in line else 200
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


# Order, matching, merging.


@pytest.mark.parametrize(
    ("matcher", "tool", "heard"),
    [
        (None, "write_file", True),
        ("", "write_file", True),
        ("*", "write_file", True),
        ("write_file", "write_file", True),
        ("write", "overwrite_file", True),
        ("^write_file$", "overwrite_file", False),
        ("write_file|replace", "replace", True),
        ("[", "[", True),
        # A pattern that is none cannot be a guard that never hears anything.
        ("[", "write_file", True),
    ],
)
async def test_tool_matchers_are_patterns(context: LiveContext, matcher: str | None, tool: str, heard: bool) -> None:
    made = system(config=commands("BeforeTool", "exit 2", matcher=matcher))
    assert made.listens("BeforeTool", tool) == heard
    outcome = await fire(made, context, tool_name=tool, tool_input={})
    assert (outcome.decision == "deny") == heard


async def test_other_matchers_are_words_or_nothing(context: LiveContext) -> None:
    made = system(config=commands("SessionStart", "echo hi", matcher="resume"))
    assert not made.listens("SessionStart", "startup")
    assert (await fire(made, context, "SessionStart", source="startup")).system_message is None
    assert (await fire(made, context, "SessionStart", source="resume")).system_message == "hi"
    ignored = system(config=commands("BeforeAgent", "echo hi", matcher="nothing"))
    assert (await fire(ignored, context, "BeforeAgent", prompt="x")).system_message == "hi"


async def test_sources_have_an_order_and_doubles_run_once(context: LiveContext) -> None:
    @hook("BeforeTool")
    def mine(event: BeforeToolInput) -> BeforeToolOutput:
        return BeforeToolOutput(system_message="code")

    def says(word: str) -> Any:
        return commands("BeforeTool", f"echo {word}", "echo double; echo x >> count")

    tiers = (tier("system", says("system")), tier("user", says("user")), tier("project", says("project")))
    made = load_hooks([mine], AgentSettings(tiers=tiers, environ={"PATH": PATH}))
    outcome = await fire(made, context)
    assert outcome.system_message == "code\nproject\ndouble\nuser\nsystem"
    assert Path(context.cwd, "count").read_text() == "x\n"


async def test_hooks_run_at_once_or_one_by_one(context: LiveContext) -> None:
    # Each waits for the other's file: only at once can both end well.
    meet = ["touch a; while [ ! -e b ]; do sleep 0.01; done", "touch b; while [ ! -e a ]; do sleep 0.01; done"]
    outcome = await fire(system(config=commands("BeforeTool", *meet, timeout=20_000)), context)
    assert outcome == HookOutcome()
    first = """echo '{"hookSpecificOutput":{"tool_input":{"content":"changed"}}}'"""
    second = "cat > second.json"
    made = system(config=commands("BeforeTool", first, second, sequential=True))
    outcome = await fire(made, context)
    assert outcome.modified == {"tool_input": {"file_path": "a.txt", "content": "changed"}}
    assert json.loads(Path(context.cwd, "second.json").read_text())["tool_input"]["content"] == "changed"


async def test_refusal_outweighs_question_outweighs_consent(context: LiveContext) -> None:
    def decide(decision: Literal["allow", "ask", "deny"]) -> Hook[BeforeToolInput, BeforeToolOutput]:
        def answer(event: BeforeToolInput) -> BeforeToolOutput:
            return BeforeToolOutput(decision=decision, reason=decision)

        return hook("BeforeTool", name=decision)(answer)

    allow, ask, deny = decide("allow"), decide("ask"), decide("deny")
    assert (await fire(system(allow), context)).decision == "allow"
    assert (await fire(system(ask, allow), context)).decision == "ask"
    outcome = await fire(system(deny, ask, allow), context)
    assert (outcome.decision, outcome.reason) == ("deny", "deny\nask\nallow")


async def test_stop_ends_the_turn_with_its_reason(context: LiveContext) -> None:
    @hook("BeforeAgent")
    def halt(event: BeforeAgentInput) -> BeforeAgentOutput:
        return BeforeAgentOutput(stop=True, stop_reason="budget is used up")

    outcome = await fire(system(halt), context, "BeforeAgent", prompt="x")
    assert (outcome.stop, outcome.stop_reason, outcome.decision) == (True, "budget is used up", None)


async def test_events_that_only_listen_cannot_decide(context: LiveContext) -> None:
    line = """echo '{"decision":"deny","continue":false,"systemMessage":"m","hookSpecificOutput":{"tool_input":{}}}'"""
    fields: dict[HookEventName, dict[str, Any]] = {
        "SessionStart": {"source": "startup"},
        "SessionEnd": {"reason": "exit"},
        "PreCompress": {"trigger": "auto"},
        "Notification": {"notification_type": "x", "message": "m", "details": {}},
        "BeforeToolSelection": {"llm_request": {}},
    }
    for event, given in fields.items():
        outcome = await fire(system(config=commands(event, line)), context, event, **given)
        assert outcome == HookOutcome(system_message="m")


def specific(**fields: Any) -> str:
    return f"echo '{json.dumps({'hookSpecificOutput': fields})}'"


async def test_what_each_event_may_change(context: LiveContext) -> None:
    async def modified(event: HookEventName, given: dict[str, Any], *lines: str) -> Mapping[str, Any]:
        return (await fire(system(config=commands(event, *lines)), context, event, **given)).modified

    response = {"text": "t", "candidates": [{"content": {"role": "model", "parts": ["t"]}}]}
    assert await modified("BeforeModel", {"llm_request": {}}, specific(llm_request={"model": "m"})) == {
        "llm_request": {"model": "m"}
    }
    both = specific(llm_response=response, llm_request={"config": {"temperature": 0}})
    assert await modified("BeforeModel", {"llm_request": {}}, both) == {
        "llm_request": {"config": {"temperature": 0}},
        "llm_response": response,
    }
    given: dict[str, Any] = {"llm_request": {}, "llm_response": {}}
    assert await modified("AfterModel", given, specific(llm_response=response)) == {"llm_response": response}
    assert await modified("AfterModel", given, specific(llm_response={"candidates": []})) == {}
    assert await modified(
        "BeforeToolSelection",
        {"llm_request": {}},
        specific(toolConfig={"mode": "ANY", "allowedFunctionNames": ["b"]}),
        specific(toolConfig={"mode": "AUTO", "allowedFunctionNames": ["a", "b"]}),
    ) == {"toolConfig": {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}}
    assert await modified(
        "BeforeToolSelection",
        {"llm_request": {}},
        specific(toolConfig={"mode": "NONE"}),
        specific(toolConfig={"mode": "ANY", "allowedFunctionNames": ["a"]}),
    ) == {"toolConfig": {"mode": "NONE"}}
    tail = {"name": "read_file", "args": {"file_path": "b"}}
    given = {**TOOL, "tool_response": {}}
    assert await modified("AfterTool", given, specific(tailToolCallRequest=tail)) == {"tailToolCallRequest": tail}
    given = {"prompt": "p", "prompt_response": "r", "stop_hook_active": False}
    assert await modified("AfterAgent", given, specific(clearContext=True)) == {"clearContext": True}


async def test_a_partial_tool_input_changes_only_what_it_names(context: LiveContext) -> None:
    made = system(config=commands("BeforeTool", specific(tool_input={"content": "new"})))
    assert (await fire(made, context)).modified == {"tool_input": {"file_path": "a.txt", "content": "new"}}


# Settings.


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


def test_notification_is_only_told() -> None:
    @hook("Notification")
    def listen(event: NotificationInput) -> None:
        return None

    assert (listen.name, listen.event, listen.takes_context) == ("listen", "Notification", False)

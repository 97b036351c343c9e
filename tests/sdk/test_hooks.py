"""Hooks in a session: who hears of what, in which order, how answers are merged, and what broken ones come to."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest
from tests.sdk.firing import TOOL, commands, fire, system, tier

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
from farhand.sdk.hooks.words import WORDS, EventName, input_of
from farhand.sdk.protocols import HookOutcome, SessionContext
from farhand.sdk.settings import AgentSettings
from farhand.testing.sdk_env import PATH

pytestmark = pytest.mark.anyio

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


def test_notification_is_only_told() -> None:
    @hook("Notification")
    def listen(event: NotificationInput) -> None:
        return None

    assert (listen.name, listen.event, listen.takes_context) == ("listen", "Notification", False)


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
    fields: dict[EventName, dict[str, Any]] = {
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
    async def modified(event: EventName, given: dict[str, Any], *lines: str) -> Mapping[str, Any]:
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

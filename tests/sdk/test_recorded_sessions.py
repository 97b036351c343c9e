"""Recorded sessions: listed, forked, named and removed; and one writer at a time."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect, intact

from farhand.sdk import Notice, RecordingTaken, SessionContext, SessionNotFound, Text, ToolResponse, hook, tool
from farhand.sdk.hooks import AfterToolInput, BeforeToolInput, BeforeToolOutput
from farhand.testing.models.gemini import FakeGemini, calls, held, says

pytestmark = pytest.mark.anyio


@tool
def work(context: SessionContext) -> str:
    """Works."""
    return f"done with {context.deps}"


async def test_sessions_are_listed_forked_named_and_removed(fake: FakeGemini, make_agent: MakeAgent) -> None:
    agent = make_agent(tools=[work], deps="a hammer")
    fake.expect(calls("work", {}), says("One."), says("Two."), says("Three."))
    session = agent.session()
    await session.send("first")
    forked = await agent.fork_session(session.id)
    assert forked.id != session.id
    assert forked.losses == ()
    assert "done with a hammer" in json.dumps(forked.transcript)
    await forked.send("second")
    await session.send("elsewhere")
    said = [content["parts"][0].get("text") for content in forked.transcript if content["role"] == "user"]
    assert "elsewhere" not in said
    agent.rename_session(forked.id, "The fork")
    listed = {info.id: info for info in agent.sessions()}
    assert {info.opening for info in listed.values()} == {"first"}
    assert (listed[forked.id].name, listed[session.id].name) == ("The fork", "")
    assert intact((await agent.resume_session(forked.id)).transcript)
    agent.delete_session(session.id)
    assert [info.id for info in agent.sessions()] == [forked.id]
    with pytest.raises(SessionNotFound):
        await agent.resume_session(session.id)


async def test_a_name_is_given_at_any_time_and_the_session_goes_on(fake: FakeGemini, make_agent: MakeAgent) -> None:
    agent = make_agent()
    gate = threading.Event()
    fake.expect(held(gate, "Well, ", "one.", before=1), says("Two."), says("Three."))
    session = agent.session()
    async with session.run("first") as run:
        async for event in run:
            if isinstance(event, Text) and not gate.is_set():
                agent.rename_session(session.id, "In a turn")
                gate.set()
    assert [info.name for info in agent.sessions()] == ["In a turn"]
    agent.rename_session(session.id, "Between turns")
    assert (await session.send("second")).text == "Two."
    resumed = await agent.resume_session(session.id)
    agent.rename_session(session.id, "Resumed")
    assert (await resumed.send("third")).text == "Three."
    assert [info.name for info in agent.sessions()] == ["Resumed"]
    # Whoever went on with it is still seen.
    with pytest.raises(RecordingTaken, match="Somebody else has gone on"):
        await session.send("fourth")


async def test_a_gemini_cli_that_starts_in_the_folder_does_not_end_a_session(
    fake: FakeGemini, make_agent: MakeAgent
) -> None:
    agent = make_agent()
    fake.expect(says("One."), says("Two."))
    session = agent.session()
    await session.send("first")
    # What it adds to the last session there, for its own list.
    with Path(session.transcript_path).open("a") as recorded:
        recorded.write('{"$set":{"summary":"the first","memoryScratchpad":{"version":1}}}\n')
    assert (await session.send("second")).text == "Two."


async def test_two_turns_never_write_to_one_session(fake: FakeGemini, make_agent: MakeAgent) -> None:
    agent = make_agent()
    gate = threading.Event()
    fake.expect(says("One."), held(gate, "Well, ", "two.", before=1), says("Three."))
    session = agent.session()
    await session.send("first")
    other = await agent.resume_session(session.id)
    async with session.run("second") as run:
        async for event in run:
            if isinstance(event, Text) and not gate.is_set():
                with pytest.raises(RecordingTaken, match="Another turn"):
                    await other.send("at the same time")
                gate.set()
    # What it knows of the conversation is old now.
    with pytest.raises(RecordingTaken, match="gone on"):
        await other.send("later")
    assert (await (await agent.resume_session(session.id)).send("third")).text == "Three."


async def test_an_id_that_is_recorded_is_not_begun_anew(fake: FakeGemini, make_agent: MakeAgent) -> None:
    agent = make_agent()
    fake.expect(says("One."))
    first, second = agent.session("same"), agent.session("same")
    await first.send("hi")
    with pytest.raises(RecordingTaken, match="recorded already"):
        await second.send("hi")


# Hooks in the forms that others write.


async def test_a_hook_may_answer_with_a_dict(fake: FakeGemini, make_agent: MakeAgent) -> None:
    @hook("AfterTool", "work")
    def literal(event: AfterToolInput) -> Any:
        return {"hookSpecificOutput": {"additionalContext": f"{event.tool_name} was seen"}}

    fake.expect(calls("work", {}), says("ok"))
    await make_agent(tools=[work], hooks=[literal]).send("go")
    told = fake.last["contents"][-1]["parts"][0]["functionResponse"]["response"]["output"]
    assert "<hook_context>work was seen</hook_context>" in told


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"desicion": "deny"}, "'desicion', which nobody knows"),
        ({"decision": "denied"}, "the decision 'denied'"),
        (BeforeToolOutput(decision="denied"), "the decision 'denied'"),  # type: ignore[arg-type]
        ({"decision": True}, "decision: True"),
        ({"continue": "no"}, "continue: 'no'"),
        ({"hookSpecificOutput": {"permissionDecision": "deny"}}, "'permissionDecision', which nobody knows"),
        ({"hookSpecificOutput": "deny"}, "hookSpecificOutput: 'deny'"),
        ("deny", "it returned str"),
    ],
)
async def test_a_guard_whose_answer_nobody_understands_lets_nothing_through(
    fake: FakeGemini, make_agent: MakeAgent, answer: Any, sentence: str
) -> None:
    @hook("BeforeTool", "work")
    def guard(event: BeforeToolInput) -> Any:
        return answer

    fake.expect(calls("work", {}), says("I may not."))
    session = make_agent(tools=[work], hooks=[guard]).session()
    events = await collect(session.run("go"))
    (response,) = [event for event in events if isinstance(event, ToolResponse)]
    assert sentence in str(response.error)
    assert any(sentence in event.message for event in events if isinstance(event, Notice))


async def test_hooks_of_the_bridge_are_understood(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path
) -> None:
    (project / "before.sh").write_text('echo \'{"additionalContext": "from the phone"}\'\n')
    after = 'if [ -f again ]; then echo "{}"; else touch again; echo \'{"stop_hook_active": false}\'; fi\n'
    (project / "after.sh").write_text(after)
    settings = {
        "hooks": [
            {"event": "BeforeAgent", "command": ["bash", "before.sh"]},
            {"event": "AfterAgent", "command": ["bash", "after.sh"]},
        ]
    }
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    fake.expect(says("One."), says("Two."))
    events = await collect(make_agent().session().run("go"))
    assert [event.text for event in events if isinstance(event, Text)] == ["One.", "Two."]
    assert "from the phone" in json.dumps(fake.requests[0].body["contents"])

"""Subagents: what they see and may do, where they are recorded, and how they end."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect

from farhand.sdk import Ask, Notice, Session, SessionContext, SubagentError, deny, hook, subagent
from farhand.sdk.hooks import BeforeToolInput, BeforeToolOutput
from farhand.testing.models.gemini import FakeGemini, calls, held, says

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("patient_servers")]


def system(body: dict[str, Any]) -> str:
    return str(body["systemInstruction"]["parts"][0]["text"])


def declared(body: dict[str, Any]) -> set[str]:
    return {each["name"] for group in body.get("tools", []) for each in group["functionDeclarations"]}


def answer(fake: FakeGemini) -> dict[str, Any]:
    found: dict[str, Any] = fake.last["contents"][-1]["parts"][0]["functionResponse"]["response"]
    return found


def bodies(fake: FakeGemini) -> list[dict[str, Any]]:
    return [request.body for request in fake.requests]


def invoke(name: str = "reviewer", prompt: str = "look at a.txt") -> Any:
    return calls("invoke_agent", {"agent_name": name, "prompt": prompt})


REVIEWER = subagent(name="reviewer", description="Reviews files.", instructions="You review.")


async def test_a_task_is_handed_over_and_comes_back(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    fake.expect(invoke(), calls("read_file", {"file_path": "a.txt"}), says("It says hello."), says("Done."))
    session = make_agent(subagents=[REVIEWER], builtin_tools=True).session()
    events = await collect(session.send_stream("review"))
    first, second, third, last = bodies(fake)
    assert "Reviews files." in system(first)
    assert "invoke_agent" in declared(first)
    # The subagent has its own instructions and none of the conversation, and hands nothing on.
    assert system(second).startswith("You review.")
    assert "review" not in [part.get("text") for content in second["contents"] for part in content["parts"]]
    assert second["contents"][-1]["parts"] == [{"text": "look at a.txt"}]
    assert declared(second) == declared(first) - {"invoke_agent"}
    assert "hello" in json.dumps(third["contents"][-1])
    assert answer(fake)["output"] == "It says hello."
    assert last["contents"][-2]["parts"][0]["functionCall"]["name"] == "invoke_agent"
    assert Notice("reviewer uses read_file.", "subagent") in events


async def test_its_transcript_lies_under_its_parents_id(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(invoke(), says("fine"), says("Done."))
    agent = make_agent(subagents=[REVIEWER])
    session = agent.session()
    await session.send("review")
    chats = Path(session.transcript_path).parent
    (file,) = (chats / session.id).glob("*.jsonl")
    head = json.loads(file.read_text().splitlines()[0])
    assert head["kind"] == "subagent"
    assert head["sessionId"] == file.stem != session.id
    assert (await agent.resume_session("latest")).id == session.id


async def test_instructions_may_depend_on_the_prompt(fake: FakeGemini, make_agent: MakeAgent) -> None:
    async def instructions(prompt: str, context: SessionContext) -> str:
        return f"Asked for {prompt} in {context.session_id}."

    one = subagent(name="reviewer", description="Reviews.", instructions=instructions)
    fake.expect(invoke(), says("fine"), says("Done."))
    session = make_agent(subagents=[one]).session()
    await session.send("review")
    assert system(bodies(fake)[1]).startswith(f"Asked for look at a.txt in {session.id}.")


async def test_a_whole_agent(fake: FakeGemini, make_agent: MakeAgent) -> None:
    def weigh() -> str:
        """Weighs."""
        return "12 kg"

    whole = make_agent(instructions="I am whole.", tools=[weigh], model="gemini-2.5-pro")
    one = subagent(name="whole", description="Weighs.", agent=whole)
    fake.expect(invoke("whole"), calls("weigh", {}), says("12"), says("Done."))
    await make_agent(subagents=[one]).send("weigh")
    assert "I am whole." in system(bodies(fake)[1])
    assert declared(bodies(fake)[1]) == {"weigh"}
    assert "gemini-2.5-pro" in fake.requests[1].path
    assert "gemini-2.5-flash" in fake.requests[3].path


async def test_tools_and_model_are_restricted(fake: FakeGemini, make_agent: MakeAgent) -> None:
    one = subagent(
        name="reviewer",
        description="Reviews.",
        instructions="You review.",
        tools=["read_file", "glob", "invoke_agent", "mcp_x_*"],
        model="gemini-2.5-pro",
        temperature=0.1,
    )
    fake.expect(invoke(), calls("write_file", {"file_path": "a", "content": "x"}), says("fine"), says("Done."))
    await make_agent(subagents=[one], builtin_tools=True).send("review")
    assert declared(bodies(fake)[1]) == {"read_file", "glob"}
    assert bodies(fake)[1]["generationConfig"]["temperature"] == 0.1
    assert "gemini-2.5-pro" in fake.requests[1].path
    assert "There is no tool 'write_file'" in json.dumps(bodies(fake)[2])


async def test_the_limit_of_turns_leaves_it_its_last_words(fake: FakeGemini, make_agent: MakeAgent) -> None:
    one = subagent(name="reviewer", description="Reviews.", instructions="You review.", max_turns=2)
    look = calls("list_directory", {"dir_path": "."})
    fake.expect(invoke(), look, look, says("That much I saw."), says("Done."))
    await make_agent(subagents=[one], builtin_tools=True).send("review")
    assert declared(bodies(fake)[3]) == set()
    assert answer(fake)["output"] == "That much I saw."


async def test_the_limit_of_time(fake: FakeGemini, make_agent: MakeAgent) -> None:
    one = subagent(name="reviewer", description="Reviews.", instructions="You review.", timeout_seconds=3)
    gate = threading.Event()
    fake.expect(invoke(), held(gate, "late"), says("Done."))
    result = await make_agent(subagents=[one]).send("review")
    gate.set()
    assert result.text == "Done."
    assert "did not finish within 3 seconds" in answer(fake)["error"]


@pytest.mark.parametrize("wanted", ["read_file", "mcp_s_*"])
async def test_the_tools_of_mcp_servers_are_restricted_too(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, wanted: str
) -> None:
    (home / ".gemini").mkdir()
    server = {"command": sys.executable, "args": [str(Path(__file__).with_name("mcp_server.py")), "stdio"]}
    (home / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": {"s": server}}))
    one = subagent(name="reviewer", description="Reviews.", instructions="You review.", tools=[wanted])
    fake.expect(invoke(), calls("mcp_s_add", {"a": 1, "b": 2}), says("fine"), says("Done."))
    await make_agent(subagents=[one], builtin_tools=True).send("review")
    assert "mcp_s_add" in declared(bodies(fake)[0])
    if wanted == "read_file":
        assert declared(bodies(fake)[1]) == {"read_file"}
        assert "There is no tool 'mcp_s_add'" in json.dumps(bodies(fake)[2])
    else:
        assert {name.partition("s_")[0] for name in declared(bodies(fake)[1])} == {"mcp_"}
        assert "3" in json.dumps(bodies(fake)[2]["contents"][-1])


async def test_nobody_endless(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(invoke(), invoke(), says("I cannot."), says("Done."))
    await make_agent(subagents=[REVIEWER]).send("review")
    assert "There is no tool 'invoke_agent'" in json.dumps(bodies(fake)[2])


async def test_policies_and_hooks_hold_for_it(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    seen: list[str] = []

    @hook("BeforeTool")
    def watch(event: BeforeToolInput) -> BeforeToolOutput | None:
        seen.append(event.tool_name)
        return None

    rules = [deny("read_file", subagent="reviewer", reason="not for reviewers.")]
    fake.expect(invoke(), calls("read_file", {"file_path": "a.txt"}), says("no"), says("Done."))
    await make_agent(subagents=[REVIEWER], builtin_tools=True, policies=rules, hooks=[watch]).send("review")
    assert "not for reviewers." in json.dumps(bodies(fake)[2])
    assert seen == ["invoke_agent", "read_file"]


async def test_its_questions_go_to_the_person_of_its_parent(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    fake.expect(invoke(), calls("write_file", {"file_path": "a.txt", "content": "a"}), says("wrote"), says("Done."))
    session: Session = make_agent(subagents=[REVIEWER], builtin_tools=True, mode="default", interactive=True).session()
    asked = []
    async for event in session.send_stream("review"):
        if isinstance(event, Ask):
            asked.append(event.question.text)
            session.answer(event.question.id, "allow")
    assert len(asked) == 1
    assert asked[0].startswith("reviewer: May write_file run")
    assert (project / "a.txt").exists()


async def test_files_of_subagents(fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path) -> None:
    for root, said in ((home, "home"), (project, "project")):
        (root / ".gemini" / "agents").mkdir(parents=True)
        (root / ".gemini" / "agents" / "x.md").write_text(
            f"---\nname: reviewer\ndescription: From {said}.\nkind: local\ntools:\n  - glob\nmax_turns: 3\n"
            "timeout_mins: 2\nmodel: inherit\n---\nYou review files.\n"
        )
    folder = project / ".gemini" / "agents"
    (folder / "_draft.md").write_text("nothing")
    (folder / "bad.md").write_text("---\nname: bad\ndescription: x\nmcpServers: {}\n---\n")
    (folder / "remote.md").write_text("---\nname: far\ndescription: x\nkind: remote\n---\n")
    fake.expect(invoke(), says("fine"), says("Done."))
    events = await collect(make_agent(builtin_tools=True).session().send_stream("review"))
    assert "From project." in system(bodies(fake)[0])
    assert "From home." not in system(bodies(fake)[0])
    assert system(bodies(fake)[1]).startswith("You review files.")
    assert declared(bodies(fake)[1]) == {"glob"}
    told = " ".join(event.message for event in events if isinstance(event, Notice))
    assert "mcpServers, which nobody knows" in told
    assert "'remote' are not run here" in told


async def test_settings_override_subagents(fake: FakeGemini, make_agent: MakeAgent, home: Path) -> None:
    folder = home / ".gemini" / "agents"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: The {name}.\n---\nBe {name}.\n")
    overrides = {"one": {"enabled": False}, "two": {"modelConfig": {"model": "gemini-2.5-pro"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps({"agents": {"overrides": overrides}}))
    fake.expect(invoke("two"), says("fine"), says("Done."))
    await make_agent().send("go")
    assert "The one." not in system(bodies(fake)[0])
    assert "gemini-2.5-pro" in fake.requests[1].path


@pytest.mark.parametrize(
    "options",
    [
        {"name": "a b"},
        {"description": " "},
        {"instructions": None},
        {"agent": object()},
        {"max_turns": 0},
        {"timeout_seconds": 0},
    ],
)
def test_a_subagent_that_cannot_be_made_says_why(options: dict[str, Any]) -> None:
    with pytest.raises(SubagentError):
        subagent(**{"name": "a", "description": "b", "instructions": "c", **options})


async def test_a_failure_is_told_to_the_model_that_asked(fake: FakeGemini, make_agent: MakeAgent) -> None:
    def fails(prompt: str, context: SessionContext) -> str:
        raise RuntimeError("oops")

    one = subagent(name="reviewer", description="Reviews.", instructions=fails)
    fake.expect(invoke(), invoke("nobody"), invoke("reviewer", " "), says("Done."))
    result = await make_agent(subagents=[one]).send("review")
    assert result.text == "Done."
    assert "needs a prompt" in answer(fake)["error"]


async def test_a_hook_that_stops_everything_stops_the_parent_too(fake: FakeGemini, make_agent: MakeAgent) -> None:
    @hook("BeforeTool", "list_directory")
    def halt(event: BeforeToolInput) -> BeforeToolOutput:
        return BeforeToolOutput(stop=True, stop_reason="enough")

    fake.expect(invoke(), calls("list_directory", {"dir_path": "."}))
    result = await make_agent(subagents=[REVIEWER], builtin_tools=True, hooks=[halt]).send("review")
    assert (result.reason, result.detail) == ("stopped", "enough")

"""A hook written with the SDK runs inside the real Gemini CLI, and means there what it means here."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.test_gemini_interchange import GEMINI, SETTINGS, House

from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"),
]

GUARD = """
from farhand.sdk.hooks import BeforeToolInput, BeforeToolOutput, hook

@hook("BeforeTool", "read_file")
def guard(event: BeforeToolInput) -> BeforeToolOutput | None:
    print("a line for the log")
    if event.tool_input["file_path"].endswith("a.txt"):
        return BeforeToolOutput(decision="deny", reason="a.txt stays closed.")
    return None

guard.run_as_command()
"""

BROKEN = """
from farhand.sdk.hooks import BeforeToolInput, hook

@hook("BeforeTool")
def broken(event: BeforeToolInput) -> None:
    raise ValueError("oops")

broken.run_as_command()
"""

CONTEXT = """
from farhand.sdk import SessionContext
from farhand.sdk.hooks import AfterToolInput, AfterToolOutput, hook

@hook("AfterTool", "read_file")
async def add(event: AfterToolInput, context: SessionContext) -> AfterToolOutput:
    text = await context.fs.read(event.tool_input["file_path"])
    return AfterToolOutput(additional_context=f"The hook saw {len(text or '')} characters.")

add.run_as_command()
"""

PROMPT = """
from farhand.sdk.hooks import BeforeAgentInput, BeforeAgentOutput, hook

@hook("BeforeAgent")
def add(event: BeforeAgentInput) -> BeforeAgentOutput:
    return BeforeAgentOutput(additional_context=f"You were asked: {event.prompt}")

add.run_as_command()
"""


def says_specific(**fields: Any) -> str:
    return f"echo {shlex.quote(json.dumps({'hookSpecificOutput': fields}))}"


def says_decision(decision: str, reason: str) -> str:
    return f"echo {shlex.quote(json.dumps({'decision': decision, 'reason': reason}))}"


OTHER = {"name": "read_file", "args": {"file_path": "b.txt"}}
CHOICES = [{"mode": "ANY", "allowedFunctionNames": ["read_file"]}, {"mode": "AUTO", "allowedFunctionNames": ["glob"]}]

# An event, its commands, and whether they run one after the other: all of it means the same here and there.
AGREED: dict[str, tuple[str, list[str], bool]] = {
    "a refusal outweighs consent": ("BeforeTool", [says_decision("deny", "a"), says_decision("allow", "b")], False),
    "reasons are joined": ("BeforeTool", [says_decision("deny", "a"), says_decision("block", "b")], False),
    "exit code 3 refuses": ("BeforeTool", ["echo three; exit 3"], False),
    "exit code 1 only warns": ("BeforeTool", ["echo one; exit 1"], False),
    "the next one is told the change": (
        "BeforeTool",
        [says_specific(tool_input={"file_path": "gone.txt"}), "cat > seen.json"],
        True,
    ),
    "contexts are joined and escaped": (
        "AfterTool",
        [says_specific(additionalContext="one <x>"), says_specific(additionalContext="two")],
        False,
    ),
    "another tool in its place": (
        "AfterTool",
        [f"grep -q b.txt || {says_specific(tailToolCallRequest=OTHER)}"],
        False,
    ),
    "the prompt goes on with the context": (
        "BeforeAgent",
        [says_specific(additionalContext="one"), f"cat > seen.json; {says_specific(additionalContext='two')}"],
        True,
    ),
    "choices are united": ("BeforeToolSelection", [says_specific(toolConfig=each) for each in CHOICES], False),
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with FakeGemini() as fake:
        yield House(tmp_path, fake)


def install(house: House, event: str, script: str) -> None:
    path = house.home / "hook.py"
    path.write_text(script)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"
    hooks = {event: [{"hooks": [{"type": "command", "command": command, "name": "ours"}]}]}
    house.settings({**SETTINGS, "hooks": hooks})


def responses(house: House) -> list[dict[str, Any]]:
    """What the last request told the model of its tools, once for the CLI and once for us."""
    told = []
    for conversation in sorted(house.fake.script.conversations, key=lambda each: each.name):
        parts = conversation.requests[-1].body["contents"][-1]["parts"]
        told.append(next(part["functionResponse"]["response"] for part in parts if "functionResponse" in part))
    return told


async def both(house: House) -> list[dict[str, Any]]:
    """The same call, made in the CLI and made here, with the same hook."""
    for prompt in ("to the CLI", "to the SDK"):
        house.fake.expect(calls("read_file", {"file_path": "a.txt"}), says("ok"), prompt=prompt)
    await house.gemini("-p", "to the CLI")
    await house.agent().send("to the SDK")
    return responses(house)


async def test_a_guard_refuses_in_both(house: House) -> None:
    install(house, "BeforeTool", GUARD)
    theirs, ours = await both(house)
    assert ours == {"error": "Tool execution blocked: a.txt stays closed."}
    assert theirs == ours


async def test_a_guard_that_breaks_refuses_in_both(house: House) -> None:
    install(house, "BeforeTool", BROKEN)
    theirs, ours = await both(house)
    assert "ValueError: oops" in theirs["error"]
    assert ours == theirs


async def test_a_hook_with_a_context_adds_to_the_result_in_both(house: House) -> None:
    install(house, "AfterTool", CONTEXT)
    theirs, ours = await both(house)
    for response in (theirs, ours):
        assert "hello from a file" in json.dumps(response)
        assert "<hook_context>The hook saw 18 characters.</hook_context>" in json.dumps(response)


async def test_a_hook_adds_to_the_prompt_in_both(house: House) -> None:
    install(house, "BeforeAgent", PROMPT)
    house.fake.expect(says("ok"), says("ok"))
    await house.gemini("-p", "hi")
    await house.agent().send("hi")
    for request in house.fake.requests:
        parts = request.body["contents"][-1]["parts"]
        assert "<hook_context>You were asked: hi</hook_context>" in [part.get("text") for part in parts]


def asked_of(house: House) -> dict[str, Any]:
    """What the last request says, without what cannot be the same: texts, responses, the choice of tools."""
    body = house.fake.last
    parts = [part for content in body["contents"] for part in content["parts"]]
    seen = house.project / "seen.json"
    told = json.loads(seen.read_text()) if seen.exists() else {}
    return {
        "texts": [part["text"] for part in parts if "text" in part and "<session_context>" not in part["text"]],
        "responses": [part["functionResponse"]["response"] for part in parts if "functionResponse" in part],
        "choice": body.get("toolConfig"),
        "told": {name: told[name] for name in ("prompt", "tool_input") if name in told},
    }


@pytest.mark.parametrize("case", AGREED)
async def test_order_and_merging_are_those_of_the_cli(tmp_path: Path, case: str) -> None:
    event, commands, sequential = AGREED[case]
    asked = []
    for who in ("cli", "sdk"):
        with FakeGemini() as fake:
            house = House(tmp_path / who, fake)
            (house.project / "b.txt").write_text("the other file\n")
            group = {"sequential": sequential, "hooks": [{"type": "command", "command": each} for each in commands]}
            house.settings({**SETTINGS, "hooks": {event: [group]}})
            fake.expect(calls("read_file", {"file_path": "a.txt"}), says("ok"))
            await (house.gemini("-p", "hi") if who == "cli" else house.agent().send("hi"))
            text = json.dumps(asked_of(house)).replace(str(house.project), "PROJECT")
            asked.append(json.loads(text))
    theirs, ours = asked
    if case == "the next one is told the change":
        # Both refuse a file that is not there; each in its own words.
        assert all("gone.txt" in each["responses"].pop()["error"] for each in asked)
    assert ours == theirs

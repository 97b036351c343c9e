"""The SDK and the real Gemini CLI understand each other: the same answers, the same sessions, in both directions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from farhand.drivers.gemini.sessions import remove_empty_twins
from farhand.sdk import Agent, FakeModel, Text, ToolRequest, wire
from farhand.sdk.recording import find_session
from farhand.testing.clis import quick_start
from farhand.testing.models.gemini import FakeGemini, calls, chunk, held, says

ROOT = Path(__file__).resolve().parents[2]
GEMINI = ROOT / ".cache" / "npm" / "node_modules" / ".bin" / "gemini"
MODEL = "gemini-2.5-flash"
SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"),
]


class House:
    """A home, a project in it, and both programs at work there."""

    def __init__(self, folder: Path, fake: FakeGemini) -> None:
        self.home, self.project, self.fake = folder / "home", folder / "home" / "project", fake
        (self.project / ".git").mkdir(parents=True)
        (self.project / "a.txt").write_text("hello from a file\n")
        self.settings(SETTINGS)

    def settings(self, values: dict[str, Any]) -> None:
        (self.home / ".gemini").mkdir(exist_ok=True)
        (self.home / ".gemini" / "settings.json").write_text(json.dumps(values))

    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
            if shutil.which("node") is None
            else os.environ["PATH"],
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            **quick_start(),
            **self.fake.environ(),
        }

    async def gemini(self, *arguments: str) -> list[dict[str, Any]]:
        """Runs the CLI; returns the lines of its stream."""

        def run() -> subprocess.CompletedProcess[str]:
            command = [str(GEMINI), "-m", MODEL, "-o", "stream-json", *arguments]
            return subprocess.run(
                command,
                cwd=self.project,
                env=self.environ(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )

        ended = await anyio.to_thread.run_sync(run)
        assert ended.returncode == 0, ended.stderr
        # What it leaves when it takes a session up in a later minute would cost that session at its next start.
        remove_empty_twins(self.home / ".gemini")
        return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]

    def agent(self, **options: Any) -> Agent:
        environ = self.environ()
        return Agent(**{"cwd": self.project, "home": self.home, "environ": environ, "model": MODEL, **options})


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with FakeGemini() as fake:
        yield House(tmp_path, fake)


def shape(contents: list[dict[str, Any]]) -> list[tuple[str, str, list[str], list[str]]]:
    """A conversation as roles, texts, calls and responses, its opening and its ids left out.

    The CLI joins neighbouring messages of the person, the opening among them.
    """
    told = [
        {
            **content,
            "parts": [part for part in content["parts"] if not str(part.get("text")).startswith("<session_context>")],
        }
        for content in contents
    ]
    return [
        (
            content["role"],
            wire.text_of(content),
            [call.name for call in wire.calls_of(content)],
            [response["name"] for response in wire.responses_of(content)],
        )
        for content in told
        if content["parts"]
    ]


async def test_one_file_of_fake_responses_drives_both_to_the_same_end(house: House, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    read = {"functionCall": {"name": "read_file", "args": {"file_path": "a.txt"}}, "thoughtSignature": "c2ln"}
    listed = {"functionCall": {"name": "list_directory", "args": {"dir_path": "."}}}
    answers = [
        [chunk({"text": "I look."}), chunk(read, listed, finish="STOP")],
        [chunk({"text": "It says "}), chunk({"text": "hello."}, finish="STOP")],
    ]
    tape.write_text(
        "".join(json.dumps({"method": "generateContentStream", "response": each}) + "\n" for each in answers)
    )

    theirs = await house.gemini("--fake-responses", str(tape), "-p", "what is in a.txt?")
    model = FakeModel.from_file(tape)
    ours = [event async for event in house.agent(model=model).session().send_stream("what is in a.txt?")]

    their_calls = [(line["tool_name"], line["parameters"]) for line in theirs if line["type"] == "tool_use"]
    our_calls = [(event.name, event.arguments) for event in ours if isinstance(event, ToolRequest)]
    assert our_calls == their_calls
    assert [name for name, _ in our_calls] == ["read_file", "list_directory"]
    their_text = [line["content"] for line in theirs if line["type"] == "message" and line["role"] == "assistant"]
    assert [event.text for event in ours if isinstance(event, Text)] == their_text
    assert model.left == 0


async def test_what_the_tools_tell_the_model_is_alike(house: House) -> None:
    house.fake.expect(calls("read_file", {"file_path": "a.txt"}), says("ok"), prompt="to the CLI")
    house.fake.expect(calls("read_file", {"file_path": "a.txt"}), says("ok"), prompt="to the SDK")
    await house.gemini("-p", "to the CLI")
    await house.agent().send("to the SDK")
    theirs, ours = (
        wire.responses_of(conversation.requests[-1].body["contents"][-1])[0]["response"]["output"]
        for conversation in sorted(house.fake.script.conversations, key=lambda each: each.name)
    )
    assert "hello from a file" in ours
    assert "hello from a file" in theirs


async def test_the_cli_resumes_our_session(house: House) -> None:
    house.fake.expect(
        calls("read_file", {"file_path": "a.txt"}, call_id="c1", signature="c2ln", text="I read."),
        says("Hello."),
        says("Yes."),
    )
    session = house.agent().session()
    await session.send("what is in a.txt?")
    lines = await house.gemini("--resume", session.id, "-p", "still there?")
    assert lines[0]["session_id"] == session.id
    sent = shape(house.fake.last["contents"])
    assert sent == [
        ("user", "what is in a.txt?", [], []),
        ("model", "I read.", ["read_file"], []),
        ("user", "", [], ["read_file"]),
        ("model", "Hello.", [], []),
        ("user", "still there?", [], []),
    ]


async def test_we_resume_the_clis_session_and_say_what_is_lost(house: House) -> None:
    house.fake.expect(
        calls("read_file", {"file_path": "a.txt"}, signature="c2ln", text="I read."), says("Hello."), says("Yes.")
    )
    lines = await house.gemini("-p", "what is in a.txt?")
    session = await house.agent().resume_session(lines[0]["session_id"])
    assert len(session.losses) == 1
    assert "thought signatures" in session.losses[0]
    assert (await session.send("still there?")).text == "Yes."
    assert shape(house.fake.last["contents"]) == [
        ("user", "what is in a.txt?", [], []),
        ("model", "I read.", ["read_file"], []),
        ("user", "", [], ["read_file"]),
        ("model", "Hello.", [], []),
        ("user", "still there?", [], []),
    ]
    assert (
        house.fake.last["contents"][2]["parts"][1]["functionCall"]["id"]
        == session.transcript[3]["parts"][0]["functionResponse"]["id"]
    )


async def test_a_session_goes_to_the_cli_and_comes_back_with_its_signatures(house: House) -> None:
    house.fake.expect(
        calls("read_file", {"file_path": "a.txt"}, call_id="c1", signature="c2ln"),
        says("Hello."),
        says("Yes."),
        says("Home."),
    )
    first = house.agent().session()
    await first.send("what is in a.txt?")
    await house.gemini("--resume", first.id, "-p", "still there?")
    back = await house.agent().resume_session(first.id)
    assert back.losses == ()
    await back.send("and now?")
    assert [text for _, text, _, _ in shape(house.fake.last["contents"])] == [
        "what is in a.txt?",
        "",
        "",
        "Hello.",
        "still there?",
        "Yes.",
        "and now?",
    ]
    assert house.fake.last["contents"][2] == first.transcript[2]
    path, conversation = find_session(first.folder, first.id)
    assert str(path) == first.transcript_path
    assert conversation.damaged_lines == 0


async def test_the_cli_resumes_a_fork_that_was_named(house: House) -> None:
    house.fake.expect(
        calls("read_file", {"file_path": "a.txt"}, call_id="c1", signature="c2ln"),
        says("Hello."),
        says("Yes."),
        says("No."),
    )
    agent = house.agent()
    session = agent.session()
    await session.send("what is in a.txt?")
    fork = await agent.fork_session(session.id)
    agent.rename_session(fork.id, "The fork")
    lines = await house.gemini("--resume", fork.id, "-p", "still there?")
    assert lines[0]["session_id"] == fork.id
    wanted = ["what is in a.txt?", "", "", "Hello.", "still there?"]
    assert [text for _, text, _, _ in shape(house.fake.last["contents"])] == wanted
    assert {info.id: info.name for info in agent.sessions()}[fork.id] == "The fork"
    assert (await (await agent.resume_session(session.id)).send("and you?")).text == "No."
    assert "still there?" not in str(house.fake.last["contents"])


async def test_a_session_of_the_clis_is_forked_and_named_and_all_go_on(house: House) -> None:
    house.fake.expect(
        calls("read_file", {"file_path": "a.txt"}, text="I read."),
        says("Hello."),
        says("In the fork."),
        says("In the fork, too."),
        says("In the first."),
        says("At home."),
    )
    first = (await house.gemini("-p", "what is in a.txt?"))[0]["session_id"]
    agent = house.agent()
    agent.rename_session(first, "The first")
    fork = await agent.fork_session(first)
    agent.rename_session(fork.id, "The fork")
    assert (await fork.send("ours in the fork")).text == "In the fork."
    await house.gemini("--resume", fork.id, "-p", "theirs in the fork")
    begun = ["what is in a.txt?", "I read.", "", "Hello."]
    in_the_fork = [*begun, "ours in the fork", "In the fork.", "theirs in the fork"]
    assert [text for _, text, _, _ in shape(house.fake.last["contents"])] == in_the_fork
    await house.gemini("--resume", first, "-p", "theirs in the first")
    assert [text for _, text, _, _ in shape(house.fake.last["contents"])] == [*begun, "theirs in the first"]
    back = await agent.resume_session(first)
    assert (await back.send("ours in the first")).text == "At home."
    in_the_first = [*begun, "theirs in the first", "In the first.", "ours in the first"]
    assert [text for _, text, _, _ in shape(house.fake.last["contents"])] == in_the_first
    assert {info.id: info.name for info in agent.sessions()} == {first: "The first", fork.id: "The fork"}


async def test_the_cli_lists_our_session(house: House) -> None:
    house.fake.expect(says("Hello."))
    session = house.agent().session()
    await session.send("a prompt to find again")

    def listed() -> str:
        command = [str(GEMINI), "--list-sessions"]
        ended = subprocess.run(
            command, cwd=house.project, env=house.environ(), capture_output=True, text=True, timeout=240, check=False
        )
        return ended.stdout + ended.stderr

    output = await anyio.to_thread.run_sync(listed)
    assert "An earlier conversation" in output or "a prompt to find again" in output
    assert session.id in output


HOOKS = """
import sys
import threading
from farhand.sdk import hook
from farhand.sdk.hooks import AfterToolInput, AfterToolOutput, BeforeToolInput, BeforeToolOutput


@hook("BeforeTool", "write_file")
def guard(event: BeforeToolInput) -> BeforeToolOutput | None:
    if "secret" in event.tool_input["file_path"]:
        return BeforeToolOutput(decision="deny", reason="Secrets stay as they are.")
    return BeforeToolOutput(tool_input={"content": "changed by a hook"})


@hook("AfterTool", "read_file")
def remark(event: AfterToolInput) -> AfterToolOutput:
    return AfterToolOutput(additional_context=f"{event.tool_name} was watched.")


{"guard": guard, "remark": remark}[sys.argv[1]].run_as_command()
"""


def hooked(name: str, script: Path) -> list[dict[str, Any]]:
    command = f"{sys.executable} {script} {name}"
    return [{"matcher": "*", "hooks": [{"type": "command", "name": name, "command": command, "timeout": 30000}]}]


async def test_a_command_hook_of_ours_runs_inside_the_cli_and_inside_the_sdk(house: House, tmp_path: Path) -> None:
    script = tmp_path / "hooks.py"
    script.write_text(HOOKS)
    hooks = {"BeforeTool": hooked("guard", script), "AfterTool": hooked("remark", script)}
    house.settings({**SETTINGS, "hooks": hooks})
    steps = [
        calls("write_file", {"file_path": "secret.txt", "content": "x"}),
        calls("read_file", {"file_path": "a.txt"}),
        says("Done."),
    ]
    house.fake.expect(*steps, prompt="to the CLI")
    house.fake.expect(*steps, prompt="to the SDK")
    await house.gemini("--yolo", "-p", "to the CLI")
    await house.agent().send("to the SDK")
    assert not (house.project / "secret.txt").exists()
    for conversation in house.fake.script.conversations:
        refused = wire.compact(wire.responses_of(conversation.requests[1].body["contents"][-1]))
        assert "Tool execution blocked: Secrets stay as they are." in refused
        watched = wire.compact(wire.responses_of(conversation.requests[2].body["contents"][-1]))
        assert "<hook_context>read_file was watched.</hook_context>" in watched


async def test_the_cli_resumes_what_we_have_compressed_and_interrupted(house: House) -> None:
    gate = threading.Event()
    house.fake.expect(
        calls("read_file", {"file_path": "a.txt"}, call_id="c1", signature="c2ln"),
        says("old " * 300),
        says("<state_snapshot>all that matters</state_snapshot>"),
        calls("read_file", {"file_path": "a.txt"}, call_id="c2", signature="c2ln", text="Again."),
        held(gate, "Well, ", "never", before=1),
        says("Yes."),
    )
    session = house.agent().session()
    await session.send("read a.txt " + "at length " * 300)
    assert await session.compress()
    async for event in session.send_stream("once more"):
        if isinstance(event, Text) and event.text == "Well, ":
            await session.interrupt()
    gate.set()
    await house.gemini("--resume", session.id, "-p", "still there?")
    texts = [text for _, text, _, _ in shape(house.fake.last["contents"])]
    assert texts[0] == "<state_snapshot>all that matters</state_snapshot>"
    assert "once more" in texts
    assert texts[-1].endswith("still there?")
    responses = [name for _, _, _, names in shape(house.fake.last["contents"]) for name in names]
    assert responses == ["read_file"]

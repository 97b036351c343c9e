"""The native agent behind the line protocol: prompts in, words out, and a person asked before anything is changed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.native.agent import known_mode
from farhand.testing.models.gemini import FakeGemini, calls, held, refuses, says


class Talk:
    """A running agent, spoken to line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.heard: list[dict[str, Any]] = []

    def say(self, **line: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def hear(self, word: str) -> dict[str, Any]:
        """Reads until a line with this word comes."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self.heard.append(json.loads(line))
            if word in self.heard[-1]:
                return self.heard[-1]
        raise AssertionError(f"the agent ended without {word!r}: {self.process.stderr and self.process.stderr.read()}")


@contextmanager
def agent(
    project: Path,
    home: Path,
    fake: FakeGemini,
    *options: str,
    killed: bool = False,
    code: int = 0,
    packages: Path | None = None,
) -> Iterator[Talk]:
    environ = {
        **({"PYTHONPATH": str(packages)} if packages is not None else {}),
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **fake.environ(),
    }
    command = [sys.executable, "-P", "-m", "farhand.drivers.native.agent", *options]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=project, env=environ, text=True, **pipes) as process:
        timer = threading.Timer(60, process.kill)
        timer.start()
        try:
            yield Talk(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(30) == (-signal.SIGKILL if killed else code)
        finally:
            timer.cancel()
            process.kill()


def test_a_prompt_becomes_words(project: Path, home: Path, fake: FakeGemini) -> None:
    (project / "a.txt").write_text("hello")
    fake.expect(calls("read_file", {"file_path": "a.txt"}, call_id="c"), says("It says ", "hello."))
    with agent(project, home, fake) as talk:
        talk.say(prompt="p1", text="what is in a.txt?")
        talk.hear("ended")
    words = [next(iter(line)) for line in talk.heard]
    assert words == ["session", "started", "usage", "tool", "tool", "text", "text", "usage", "ended"]
    assert talk.heard[3]["title"] == "read_file: a.txt"
    assert talk.heard[4]["status"] == "done"
    assert talk.heard[-1] == {"ended": "p1", "how": "completed"}


@pytest.mark.parametrize(("choice", "written"), [("allow", True), ("deny", False), ("", False)])
def test_a_change_is_asked_for(project: Path, home: Path, fake: FakeGemini, choice: str, written: bool) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("So be it."))
    with agent(project, home, fake) as talk:
        talk.say(prompt="p1", text="make a file")
        ask = talk.hear("ask")
        assert (ask["ask_id"], ask["about"], ask["question"]) == ("p1/1", "permission", "Write new.txt")
        assert [each["id"] for each in ask["choices"] if each.get("allows", True)] == ["allow"]
        talk.say(answer=ask["ask_id"], choice=choice)
        assert talk.hear("ended")["how"] == "completed"
    assert (project / "new.txt").exists() is written


def test_a_turn_is_interrupted_and_the_next_one_runs(project: Path, home: Path, fake: FakeGemini) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "Well, ", "never", before=1), says("Here."))
    with agent(project, home, fake) as talk:
        talk.say(prompt="p1", text="talk")
        talk.hear("text")
        talk.say(interrupt="p1")
        assert talk.hear("ended") == {"ended": "p1", "how": "interrupted"}
        gate.set()
        talk.say(interrupt="p2")
        talk.say(prompt="p2", text="never begun")
        assert talk.hear("ended") == {"ended": "p2", "how": "interrupted"}
        talk.say(prompt="p3", text="still there?")
        assert talk.hear("ended") == {"ended": "p3", "how": "completed"}


def test_a_session_is_gone_on_with_in_the_next_life(project: Path, home: Path, fake: FakeGemini) -> None:
    fake.expect(says("one"), says("two"))
    with agent(project, home, fake) as first:
        session = first.hear("session")["session"]
        first.say(prompt="p1", text="first")
        first.hear("ended")
    with agent(project, home, fake, "--resume", session) as second:
        assert second.hear("session")["session"] == session
        second.say(prompt="p2", text="second")
        second.hear("ended")
    assert [content["role"] for content in fake.last["contents"]] == ["user", "user", "model", "user"]


def test_model_and_mode_change_on_the_way(project: Path, home: Path, fake: FakeGemini) -> None:
    fake.expect(says("one"), calls("write_file", {"file_path": "new.txt", "content": "x"}), says("two"))
    with agent(project, home, fake) as talk:
        talk.say(prompt="p1", text="first")
        talk.hear("ended")
        talk.say(change="", model="gemini-2.5-pro", mode="auto_edit")
        talk.say(prompt="p2", text="second")
        talk.hear("ended")
    assert (fake.requests[0].model, fake.requests[1].model) == ("gemini-2.5-flash", "gemini-2.5-pro")
    assert (project / "new.txt").read_text() == "x"


def test_what_goes_wrong_is_told(project: Path, home: Path, fake: FakeGemini) -> None:
    fake.expect(refuses(400, "the key is wrong"))
    with agent(project, home, fake, "--resume", "11111111-gone") as talk:
        assert "A new session begins." in talk.hear("problem")["text"]
        talk.say(nonsense=1)
        assert "No such line is known" in talk.hear("problem")["text"]
        talk.say(prompt="p1", text="hi")
        ended = talk.hear("ended")
        assert ended["how"] == "failed"
        assert "the key is wrong" in ended["error"]
        talk.say(prompt="p2", text="look", files=["/nowhere/a.png"])
        assert "cannot be read" in talk.hear("ended")["error"]


def test_a_kill_in_the_middle_of_a_tool_is_told_in_the_next_life(project: Path, home: Path, fake: FakeGemini) -> None:
    lock = project / "lock"
    lock.touch()
    command = {"command": "while [ -e lock ]; do sleep 0.05; done"}
    fake.expect(calls("run_shell_command", command, call_id="c1", signature="c2ln"), says("I see."))
    try:
        with agent(project, home, fake, "--mode", "yolo", killed=True) as first:
            session = first.hear("session")["session"]
            first.say(prompt="p1", text="wait")
            first.hear("tool")
            first.process.kill()
        with agent(project, home, fake, "--resume", session) as second:
            second.say(prompt="p2", text="what happened?")
            assert second.hear("ended")["how"] == "completed"
    finally:
        lock.unlink()
    prompt, call, answer, asked = fake.last["contents"][1:]
    assert prompt["parts"] == [{"text": "wait"}]
    assert call["parts"][0]["thoughtSignature"] == "c2ln"
    assert "unknown" in answer["parts"][0]["functionResponse"]["response"]["error"]
    assert asked["parts"] == [{"text": "what happened?"}]


def test_a_question_outlives_the_agent_that_asked_it(project: Path, home: Path, fake: FakeGemini) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}, call_id="c1"), says("Both done."))
    with agent(project, home, fake, killed=True) as first:
        session = first.hear("session")["session"]
        first.say(prompt="p1", text="make a file")
        first.hear("ask")
        first.process.kill()
    with agent(project, home, fake, "--resume", session) as second:
        second.say(prompt="p2", text="and go on")
        ask = second.hear("ask")
        assert ask["ask_id"] == "p2/1"
        assert not (project / "new.txt").exists()
        second.say(answer=ask["ask_id"], choice="allow")
        assert second.hear("ended")["how"] == "completed"
    assert (project / "new.txt").exists()
    call, response, prompt = fake.last["contents"][-3:]
    assert call["parts"][0]["functionCall"]["name"] == "write_file"
    assert "output" in response["parts"][0]["functionResponse"]["response"]
    assert prompt["parts"] == [{"text": "and go on"}]


def test_a_mode_of_tomorrow_asks() -> None:
    assert [known_mode(mode) for mode in ("plan", "yolo", "a mode of tomorrow")] == ["plan", "yolo", "default"]


# An agent of one's own.

OWN = '''
from farhand.sdk import Agent, allow, hook, subagent, tool
from farhand.sdk.hooks import BeforeToolInput, BeforeToolOutput


@tool
def deploy(place: str) -> str:
    """Deploys."""
    return f"deployed to {place}"


@tool(kind="read")
def look() -> str:
    """Looks."""
    return "VERSION"


@hook("BeforeTool", "deploy")
def guard(event: BeforeToolInput) -> BeforeToolOutput | None:
    if event.tool_input["place"] == "moon":
        return BeforeToolOutput(decision="deny", reason="too far")
    return None


agent = Agent(tools=[deploy, look], hooks=[guard], instructions="You deploy.", builtin_tools=False)


def made() -> Agent:
    return agent.with_changes(mode="plan")


nothing = 3
'''


def test_an_agent_of_ones_own_works_and_asks(project: Path, home: Path, fake: FakeGemini) -> None:
    (project / "mine.py").write_text(OWN.replace("VERSION", "one"))
    fake.expect(
        calls("look", {}, call_id="l"),
        calls("deploy", {"place": "moon"}, call_id="m"),
        calls("deploy", {"place": "home"}, call_id="h"),
        says("Done."),
    )
    with agent(project, home, fake, "--mode", "default", "--agent=mine:agent") as talk:
        talk.say(prompt="p1", text="deploy it")
        asked = talk.hear("ask")
        assert asked["question"] == 'Use deploy: {"place":"home"}'
        talk.say(answer=asked["ask_id"], choice="allow")
        assert talk.hear("ended")["how"] == "completed"
    outputs = [line["output"] for line in talk.heard if "tool" in line and "output" in line]
    assert outputs == ["one", "Tool execution blocked: too far", "deployed to home"]
    assert "You deploy." in fake.requests[0].body["systemInstruction"]["parts"][0]["text"]


def test_an_installed_agent_is_found_by_its_entry_point(
    project: Path, home: Path, fake: FakeGemini, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    about = packages / "shipping-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shipping\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[farhand.agents]\nshipper = shipping.agents:made\n")
    (packages / "shipping").mkdir()
    (packages / "shipping" / "agents.py").write_text(OWN.replace("VERSION", "installed"))
    fake.expect(calls("look", {}), says("Done."))
    with agent(project, home, fake, "--agent=shipper", packages=packages) as talk:
        talk.say(prompt="p1", text="look")
        assert talk.hear("ended")["how"] == "completed"
    assert [line["output"] for line in talk.heard if "tool" in line and "output" in line] == ["installed"]
    with agent(project, home, fake, "--agent=shiper", packages=packages, code=1) as talk:
        assert "Installed: shipper." in talk.hear("problem")["text"]


def test_a_command_of_its_extension_is_its_prompt_and_asks(project: Path, home: Path, fake: FakeGemini) -> None:
    extended = """
from farhand.sdk import Agent, extension
agent = Agent(extensions=[extension(name="x", commands={"tour": "Go to {{args}}: !{touch went.txt; echo now}"})])
"""
    (project / "mine.py").write_text(extended)
    fake.expect(says("I went."), says("What?"))
    with agent(project, home, fake, "--agent=mine:agent") as talk:
        talk.say(prompt="p1", text="/tour Rome")
        asked = talk.hear("ask")
        assert not (project / "went.txt").exists()
        talk.say(answer=asked["ask_id"], choice="allow")
        assert talk.hear("ended")["how"] == "completed"
        assert fake.last["contents"][-1]["parts"] == [{"text": "Go to Rome: now"}]
        talk.say(prompt="p2", text="/torr Rome")
        talk.hear("ended")
        assert fake.last["contents"][-1]["parts"] == [{"text": "/torr Rome"}]
        talk.say(prompt="p3", text="/tour Rome")
        talk.say(answer=talk.hear("ask")["ask_id"], choice="deny")
        ended = talk.hear("ended")
        assert (ended["how"], "may not run" in ended["error"]) == ("failed", True)


def test_changed_code_is_taken_by_the_next_life_of_the_same_session(
    project: Path, home: Path, fake: FakeGemini
) -> None:
    (project / "mine.py").write_text(OWN.replace("VERSION", "one"))
    fake.expect(calls("look", {}), says("One."), calls("look", {}), says("Two."))
    with agent(project, home, fake, "--agent=mine:agent") as talk:
        session = talk.hear("session")["session"]
        talk.say(prompt="p1", text="look")
        talk.hear("ended")
    (project / "mine.py").write_text(OWN.replace("VERSION", "another one"))
    with agent(project, home, fake, "--agent=mine:agent", "--resume", session) as talk:
        assert talk.hear("session")["session"] == session
        talk.say(prompt="p2", text="look again")
        talk.hear("ended")
    assert [line["output"] for line in talk.heard if "tool" in line and "output" in line] == ["another one"]


def test_the_stricter_mode_holds(project: Path, home: Path, fake: FakeGemini) -> None:
    (project / "mine.py").write_text(OWN)
    fake.expect(calls("deploy", {"place": "home"}), says("I may not."))
    with agent(project, home, fake, "--mode", "yolo", "--agent=mine:made") as talk:
        talk.say(prompt="p1", text="deploy it")
        assert talk.hear("ended")["how"] == "completed"
    assert any("denied" in line.get("output", "") for line in talk.heard if "tool" in line)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mine:nobody", "AttributeError"),
        ("nowhere:agent", "ModuleNotFoundError"),
        ("mine:nothing", "should be an Agent"),
        ("a b", "names no agent"),
        ("unknown", "farhand.agents"),
        ("broken:agent", "RuntimeError: oops"),
    ],
)
def test_an_agent_that_cannot_be_loaded_says_why(
    project: Path, home: Path, fake: FakeGemini, name: str, sentence: str
) -> None:
    (project / "mine.py").write_text(OWN)
    (project / "broken.py").write_text("raise RuntimeError('oops')\n")
    # What lies in the worker's folder never stands in for a module of Python's.
    (project / "json.py").write_text("raise SystemExit('taken over')\n")
    with agent(project, home, fake, f"--agent={name}", code=1) as talk:
        assert sentence in talk.hear("problem")["text"]

"""Policies in a session, and the questions that come of them: by callback, at the terminal, in another process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect, intact

from farhand.sdk import Ask, Finish, Notice, Question, Reply, SessionContext, ToolCall, ToolResponse
from farhand.sdk.errors import SessionBusy
from farhand.sdk.policies import PolicyError, allow, ask, deny
from farhand.sdk.terminal import Terminal, shown
from farhand.testing.models.gemini import FakeGemini, calls, calls_all, says

pytestmark = pytest.mark.anyio


def declared(fake: FakeGemini) -> set[str]:
    return {each["name"] for group in fake.last.get("tools", []) for each in group.get("functionDeclarations", [])}


def responses(fake: FakeGemini) -> list[dict[str, Any]]:
    parts = fake.last["contents"][-1]["parts"]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


async def test_policies_decide_before_a_tool_runs(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    fake.expect(
        calls_all(
            ("write_file", {"file_path": "a.txt", "content": "a"}, "1"),
            ("write_file", {"file_path": "b.txt", "content": "b"}, "2"),
            ("run_shell_command", {"command": "echo hi && rm -rf ."}, "3"),
        ),
        says("done"),
    )
    rules = [
        allow("write_file", when=lambda call, _: call.arguments["file_path"] == "a.txt"),
        deny("write_file", reason="only a.txt."),
        allow("run_shell_command"),
    ]
    await make_agent(policies=rules, builtin_tools=True).send("go")
    assert (project / "a.txt").exists()
    assert not (project / "b.txt").exists()
    assert "only a.txt." in responses(fake)[1]["error"]
    assert "great harm" in responses(fake)[2]["error"]


async def test_an_agent_without_policies_obeys_those_of_the_person(
    fake: FakeGemini, make_agent: MakeAgent, project: Path, home: Path
) -> None:
    policies = home / ".gemini" / "policies"
    policies.mkdir(parents=True)
    (policies / "mine.toml").write_text(
        "[[rule]]\ntoolName='glob'\ndecision='deny'\npriority=1\n[[rule]]\ntoolName=1\n"
    )
    fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}), says("done"))
    events = await collect(make_agent(builtin_tools=True).session().send_stream("go"))
    assert (project / "a.txt").exists()
    assert "glob" not in declared(fake)
    assert "write_file" in declared(fake)
    assert any(isinstance(event, Notice) and event.source == "policies" for event in events)


@pytest.mark.parametrize(
    ("mode", "written", "ran"),
    [("default", False, False), ("auto_edit", True, False), ("yolo", True, True), ("plan", False, False)],
)
async def test_modes(
    fake: FakeGemini, make_agent: MakeAgent, project: Path, mode: str, written: bool, ran: bool
) -> None:
    fake.expect(
        calls_all(
            ("write_file", {"file_path": "a.txt", "content": "a"}, "1"),
            ("run_shell_command", {"command": "touch b.txt"}, "2"),
        ),
        says("done"),
    )
    asked: list[str] = []

    def refuse(question: Question, context: SessionContext) -> bool:
        assert question.call is not None
        asked.append(question.call.name)
        return False

    await make_agent(mode=mode, builtin_tools=True, asker=refuse).send("go")
    assert ((project / "a.txt").exists(), (project / "b.txt").exists()) == (written, ran)
    wanted = {"default": ["write_file", "run_shell_command"], "auto_edit": ["run_shell_command"]}
    assert asked == wanted.get(mode, [])


async def test_the_mode_can_change_between_turns(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    agent = make_agent(mode="plan", builtin_tools=True)
    session = agent.session()
    fake.expect(says("planned"))
    await session.send("plan")
    assert "run_shell_command" not in declared(fake)
    agent.mode = "yolo"
    fake.expect(calls("run_shell_command", {"command": "touch b.txt"}), says("done"))
    await session.send("go")
    assert (project / "b.txt").exists()


async def test_settings_may_switch_yolo_off(fake: FakeGemini, make_agent: MakeAgent, project: Path, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps({"security": {"disableYoloMode": True}}))
    fake.expect(calls("run_shell_command", {"command": "touch b.txt"}), says("done"))
    await make_agent(mode="yolo", builtin_tools=True).send("go")
    assert not (project / "b.txt").exists()


async def test_the_harder_of_policy_and_approver_counts(fake: FakeGemini, make_agent: MakeAgent) -> None:
    seen: list[str] = []

    def approver(call: ToolCall, context: SessionContext) -> str:
        seen.append(call.name)
        return "deny" if call.name == "two" else "allow"

    def one() -> str:
        return "1"

    def two() -> str:
        return "2"

    def three() -> str:
        return "3"

    fake.expect(calls_all(("one", {}, "1"), ("two", {}, "2"), ("three", {}, "3")), says("done"))
    rules = [deny("one", reason="no."), allow("two"), ask("three")]
    await make_agent(tools=[one, two, three], policies=rules, approver=approver, interactive=False).send("go")
    assert all("denied" in response["error"] for response in responses(fake)[:2])
    assert seen == ["two"]


async def test_what_is_denied_is_denied_to_tools_and_hooks_too(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    seen: list[str] = []

    async def deploy(context: SessionContext) -> str:
        """Deploys."""
        await context.fs.write("fine.txt", "x")
        seen.append((await context.shell.exec("echo fine")).stdout)
        for forbidden in (context.fs.write("secret.txt", "x"), context.shell.exec("ls && curl x")):
            with pytest.raises(PolicyError, match="is denied here"):
                await forbidden
        return "deployed"

    rules = [
        allow("deploy"),
        deny("write_file", arguments="secret"),
        deny("run_shell_command", prefix="curl", reason="no network."),
    ]
    fake.expect(calls("deploy", {}), says("done"))
    await make_agent(tools=[deploy], policies=rules).send("go")
    assert responses(fake)[0]["output"] == "deployed"
    assert seen == ["fine\n"]
    assert not (project / "secret.txt").exists()


async def test_a_mode_that_nobody_knows(fake: FakeGemini, make_agent: MakeAgent, home: Path) -> None:
    with pytest.raises(PolicyError, match="There is no mode 'fast'"):
        make_agent(mode="fast")
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps({"general": {"defaultApprovalMode": "fast"}}))
    fake.expect(says("done"))
    events = await collect(make_agent().session().send_stream("go"))
    assert any("The default one holds" in event.message for event in events if isinstance(event, Notice))


async def test_a_question_at_the_terminal(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "r+b", buffering=0) as line, os.fdopen(os.dup(slave), "w") as target:
        source = open(line.fileno(), closefd=False)  # noqa: SIM115
        os.write(master, b"maybe\ny\n2\n")
        terminal = Terminal(source, target)
        fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}), says("done"))
        agent = make_agent(mode="default", builtin_tools=True, asker=terminal)
        session = agent.session()
        await session.send("go")
        assert (project / "a.txt").exists()
        reply = await session.ask(Question("q", "choice", "Which?", ("red", "blue")))
        assert reply.choice == "blue"
        source.close()
    os.close(master)


async def test_without_a_terminal_nobody_is_there(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}), says("done"))
    with Path(os.devnull).open() as nothing:
        await make_agent(mode="default", builtin_tools=True, asker=Terminal(nothing)).send("go")
    assert "nobody is there" in responses(fake)[0]["error"]
    assert not (project / "a.txt").exists()


# Pausing.


async def waits(session: Any, prompt: str) -> Question:
    """Runs a turn until it asks, then pauses it."""
    asked = []
    async for event in session.send_stream(prompt):
        if isinstance(event, Ask):
            asked.append(event.question)
            await session.pause()
        finish = event
    assert isinstance(finish, Finish)
    assert finish.reason == "paused"
    (question,) = asked
    return question


async def test_a_paused_turn_goes_on_elsewhere(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    counted = {"n": 0}

    def count() -> str:
        """Counts."""
        counted["n"] += 1
        return str(counted["n"])

    options: dict[str, Any] = {
        "policies": [allow("count")],
        "tools": [count],
        "builtin_tools": True,
        "interactive": True,
    }
    fake.expect(
        calls_all(("count", {}, "1"), ("write_file", {"file_path": "a.txt", "content": "a"}, "2"), ("count", {}, "3")),
        says("done"),
    )
    session = make_agent(**options).session()
    question = await waits(session, "go")
    with pytest.raises(SessionBusy):
        await session.send("again")
    await session.close()

    resumed = await make_agent(**options).resume_session(session.id)
    assert resumed.is_paused
    assert [each.call for each in resumed.pending] == [question.call]
    assert resumed.losses == ()
    assert resumed.answer(question.id, "allow")
    assert not resumed.answer(question.id, "deny")
    result = await resumed.go_on()
    assert result.text == "done"
    assert (project / "a.txt").read_text() == "a"
    assert [response.get("output") for response in responses(fake)][::2] == ["1", "2"]
    assert intact(fake.last["contents"])
    later = await make_agent(**options).resume_session(session.id)
    assert not later.is_paused
    assert later.losses == ()


async def test_why_somebody_is_asked_is_known_elsewhere_too(fake: FakeGemini, make_agent: MakeAgent) -> None:
    options: dict[str, Any] = {
        "policies": [ask("*", reason="It costs money.")],
        "tools": [counted],
        "interactive": True,
    }
    fake.expect(calls("counted", {}))
    question = await waits(session := make_agent(**options).session(), "go")
    assert question.reason == "It costs money."
    (resumed,) = (await make_agent(**options).resume_session(session.id)).pending
    assert resumed == question


def counted() -> str:
    """Counts."""
    return "1"


async def test_a_paused_turn_that_nobody_answered_asks_again(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}), says("done"))
    session = make_agent(mode="default", builtin_tools=True, interactive=True).session()
    await waits(session, "go")
    resumed = await make_agent(mode="default", builtin_tools=True, asker=lambda *_: True).resume_session(session.id)
    events = await collect(resumed.go_on_stream())
    assert [type(event) for event in events if isinstance(event, Ask | ToolResponse | Finish)] == [
        Ask,
        ToolResponse,
        Finish,
    ]
    assert (project / "a.txt").exists()


async def test_a_developers_question_goes_the_same_road(fake: FakeGemini, make_agent: MakeAgent) -> None:
    async def paint(context: SessionContext) -> str:
        """Paints."""
        reply = await context.ask(Question("colour", "choice", "Which colour?", ("red", "blue")))
        return f"painted {reply.choice}"

    fake.expect(calls("paint", {}), says("done"))
    session = make_agent(tools=[paint], interactive=True).session()
    question = await waits(session, "go")
    assert question.choices == ("red", "blue")
    resumed = await make_agent(tools=[paint], interactive=True).resume_session(session.id)
    assert resumed.answer("colour", "blue")
    await resumed.go_on()
    assert responses(fake)[0]["output"] == "painted blue"


async def test_ask_user_can_be_answered_in_another_process(fake: FakeGemini, make_agent: MakeAgent) -> None:
    asked = {"questions": [{"question": "Which?", "header": "x", "type": "text"}]}
    fake.expect(calls("ask_user", asked), says("done"))
    session = make_agent(builtin_tools=True, interactive=True).session()
    question = await waits(session, "go")
    resumed = await make_agent(builtin_tools=True, interactive=True).resume_session(session.id)
    resumed.answer(question.id, "that one")
    await resumed.go_on()
    assert "that one" in responses(fake)[0]["output"]


async def test_an_interrupted_turn_leaves_no_question(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}))
    agent = make_agent(mode="default", builtin_tools=True, interactive=True)
    session = agent.session()
    async for event in session.send_stream("go"):
        if isinstance(event, Ask):
            await session.interrupt()
    resumed = await agent.resume_session(session.id)
    assert not resumed.is_paused
    assert resumed.pending == ()


async def test_a_damaged_file_of_questions_counts_for_nothing(fake: FakeGemini, make_agent: MakeAgent) -> None:
    fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}))
    agent = make_agent(mode="default", builtin_tools=True, interactive=True)
    session = agent.session()
    await waits(session, "go")
    path = Path(session.transcript_path + ".pending.json")
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(path.read_text()[:-20])
    resumed = await agent.resume_session(session.id)
    assert resumed.pending == ()
    assert "interrupted" in resumed.losses[0]


ASKING = """
import asyncio, sys
from farhand.sdk import Agent, Ask

async def main():
    session = Agent(mode="default", interactive=True).session()
    async for event in session.send_stream("go"):
        if isinstance(event, Ask):
            print(session.id, event.question.id, flush=True)

asyncio.run(main())
"""
ANSWERING = """
import asyncio, sys
from farhand.sdk import Agent

async def main():
    session = await Agent(mode="default", interactive=True).resume_session(sys.argv[1])
    assert session.answer(sys.argv[2], "allow")
    print((await session.go_on()).text)

asyncio.run(main())
"""


def test_a_killed_process_is_answered_in_another(fake: FakeGemini, home: Path, project: Path) -> None:
    fake.expect(calls("write_file", {"file_path": "a.txt", "content": "a"}), says("done"))
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_MODEL": "gemini-2.5-flash",
        **fake.environ(),
    }
    with subprocess.Popen(
        [sys.executable, "-c", ASKING], cwd=project, env=environ, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        session_id, question_id = asking.stdout.readline().split()
        asking.send_signal(signal.SIGKILL)
        asking.wait(timeout=240)
    assert not (project / "a.txt").exists()
    ended = subprocess.run(
        [sys.executable, "-c", ANSWERING, session_id, question_id],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("done\n", "")
    assert (project / "a.txt").read_text() == "a"


async def test_a_reply_says_whether_it_allows() -> None:
    assert Reply(answered=True, choice="allow").allows
    assert not Reply(answered=False, choice="allow").allows


def test_what_a_terminal_would_obey_or_an_eye_not_see_is_spelled_out() -> None:
    told = shown(Question("1", "choice", "May I\x1b[2J \u202erun it?", ("yes\x9b2J", "n\u200bo")))
    assert "\x1b" not in told
    assert "\x9b" not in told
    assert "\u202e" not in told
    assert "\u200b" not in told
    assert "U+202E" in told

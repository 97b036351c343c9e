"""`farhand ask`: one prompt, streamed, in three forms, with an exit code that says how it went."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from farhand.testing.models.gemini import FakeGemini, calls, calls_all, held, refuses, says


@pytest.fixture
def environ(fake: FakeGemini, home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **fake.environ(),
    }


def ask(
    project: Path, environ: dict[str, str], *arguments: str, piped: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "farhand", "ask", *arguments],
        cwd=project,
        env=environ,
        input=piped,
        stdin=subprocess.DEVNULL if piped is None else None,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_answer_is_text(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(says("It runs ", "agents."))
    ended = ask(project, environ, "what does", "this project do?")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "It runs agents.\n", "")
    assert fake.last["contents"][-1]["parts"] == [{"text": "what does this project do?"}]


def test_piped_input_is_added(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(says("ok"))
    ask(project, environ, "explain", piped="a stack trace\n")
    assert fake.last["contents"][-1]["parts"] == [{"text": "explain\n\na stack trace\n"}]


def test_json_has_the_keys_of_the_cli(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(says("Yes."))
    ended = ask(project, environ, "-o", "json", "really?")
    answer = json.loads(ended.stdout)
    assert answer["response"] == "Yes."
    assert answer["stats"]["total_tokens"] == 110
    assert len(answer["session_id"]) == 36


def test_stream_json_has_the_lines_of_the_cli(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    (project / "a.txt").write_text("hello")
    fake.expect(calls("read_file", {"file_path": "a.txt"}, call_id="c1"), says("It says hello."))
    ended = ask(project, environ, "-o", "stream-json", "what is in a.txt?")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["init", "message", "tool_use", "tool_result", "message", "result"]
    assert lines[0]["model"] == "gemini-2.5-flash"
    assert (lines[2]["tool_name"], lines[2]["parameters"]) == ("read_file", {"file_path": "a.txt"})
    assert (lines[3]["status"], lines[-1]["status"]) == ("success", "success")
    assert lines[-1]["stats"]["tool_calls"] == 1


def test_without_a_person_nothing_is_changed(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    write = ("write_file", {"file_path": "new.txt", "content": "x"}, "w")
    fake.expect(calls_all(write, ("run_shell_command", {"command": "touch ran"}, "s")), says("I may not."))
    ended = ask(project, environ, "make a file")
    assert ended.returncode == 0
    assert not (project / "new.txt").exists()
    assert not (project / "ran").exists()
    declared = [each["name"] for each in fake.requests[0].body["tools"][0]["functionDeclarations"]]
    assert "read_file" in declared
    assert "write_file" not in declared


def test_auto_edit_may_edit(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("Made."))
    ask(project, environ, "--approval-mode", "auto_edit", "make a file")
    assert (project / "new.txt").read_text() == "x"


def test_a_session_is_gone_on_with(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(says("one"), says("two"))
    first = json.loads(ask(project, environ, "-o", "json", "first").stdout)
    second = json.loads(ask(project, environ, "-o", "json", "--resume", "latest", "second").stdout)
    assert second["session_id"] == first["session_id"]
    assert [content["role"] for content in fake.last["contents"]] == ["user", "user", "model", "user"]


def test_what_goes_wrong_is_told(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(refuses(400, "the key is wrong"))
    refused = ask(project, environ, "hi")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "error: The model's server answered 400: the key is wrong" in refused.stderr
    keyless = ask(project, {**environ, "GEMINI_API_KEY": ""}, "hi")
    assert keyless.returncode == 3
    assert "GEMINI_API_KEY" in keyless.stderr
    assert ask(project, environ).returncode == 2
    assert ask(project, environ, "--resume", "nope", "hi").returncode == 2
    assert ask(project, environ, "--file", "gone.png", "hi").returncode == 2


def test_an_interrupt_ends_it_and_the_session_stays(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    gate = threading.Event()
    fake.expect(held(gate, "Well, ", "never", before=1), says("Here."))
    command = [sys.executable, "-m", "farhand", "ask", "talk"]
    with subprocess.Popen(
        command, cwd=project, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 100) == b"Well, "
        process.send_signal(signal.SIGINT)
        assert process.wait(240) == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    gate.set()
    assert ask(project, environ, "--resume", "latest", "still there?").stdout == "Here.\n"
    assert [part["text"] for content in fake.last["contents"][1:] for part in content["parts"]] == [
        "talk",
        "still there?",
    ]


def test_a_reader_that_leaves_is_no_error(fake: FakeGemini, project: Path, environ: dict[str, str]) -> None:
    fake.expect(says(*("x" * 1000 for _ in range(500))))
    command = [sys.executable, "-m", "farhand", "ask", "talk"]
    with subprocess.Popen(
        command, cwd=project, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        process.wait(30)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()

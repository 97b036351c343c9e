"""`farhand tui` in a real terminal with curl outside: the document's checks, by hand and by machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.live.nodes import Home

from farhand.testing.models.gemini import FakeGemini, held, says
from farhand.testing.ports import lasting_port
from farhand.testing.tmux import SAFETY_SECONDS, Screen, terminal

FARHAND = f"{sys.executable} -m farhand tui"
PROMPT = "Type a message"


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as server:
        yield server


@contextmanager
def desk(folder: Path, fake: FakeGemini, *, columns: int = 80, rows: int = 24) -> Iterator[Screen]:
    """A shell in a project folder whose agents ask the fake model."""
    home = folder / "home"
    home.mkdir()
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PS1": "$ ",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **fake.environ(),
    }
    with terminal(folder, environment, columns=columns, rows=rows) as screen:
        screen.wait(lambda shown: "$" in shown, "the shell")
        yield screen


def curl(*arguments: str) -> str:
    """What curl prints; what is refused fails with the words of the refusal."""
    order = ["curl", "-sS", "--fail-with-body", "--noproxy", "*", *arguments]
    done = subprocess.run(order, check=False, capture_output=True, text=True, timeout=SAFETY_SECONDS)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def see(screen: Screen, text: str) -> str:
    return screen.wait(lambda shown: text in shown, repr(text))


def history(port: int) -> Any:
    return json.loads(curl(f"http://localhost:{port}/history"))


@pytest.mark.parametrize("variable", ["GEMINI_CLI_TUI_REMOTE_PORT", "GEMINI_CLI_REMOTE_PORT"])
def test_the_manual_check_of_the_document(short_folder: Path, fake: FakeGemini, variable: str) -> None:
    fake.expect(says("There are ", "three files."))
    port = lasting_port()
    with desk(short_folder, fake) as screen:
        screen.type(f"{variable}={port} {FARHAND}")
        see(screen, PROMPT)
        see(screen, f"remote :{port}")
        kind = ("-H", "Content-Type: application/json")
        curl("-X", "POST", f"http://localhost:{port}/message", *kind, "-d", '{"message": "list files"}')
        see(screen, "list files")
        see(screen, "There are three files.")
        assert history(port) == [
            {"role": "user", "text": "list files"},
            {"role": "model", "text": "There are three files."},
        ]


def test_what_is_typed_is_in_the_history_and_printed_on_exit(short_folder: Path, fake: FakeGemini) -> None:
    fake.expect(says("Hello you."))
    port = lasting_port()
    with desk(short_folder, fake) as screen:
        screen.type(f"{FARHAND} --remote-port {port}")
        see(screen, PROMPT)
        screen.type("hi there")
        see(screen, "Hello you.")
        assert history(port) == [{"role": "user", "text": "hi there"}, {"role": "model", "text": "Hello you."}]
        screen.type("/quit")
        shown = see(screen, "farhand tui --resume")
        assert "› hi there" in shown
        with pytest.raises(AssertionError):
            curl(f"http://localhost:{port}/history")


def test_without_the_variable_nothing_listens(short_folder: Path, fake: FakeGemini) -> None:
    with desk(short_folder, fake) as screen:
        screen.type(f"{FARHAND} & fg")
        see(screen, PROMPT)
        assert "remote :" not in screen.text()
        [process] = pids("farhand tui", short_folder)
        assert listening(process) == []
        screen.press("C-d")


def pids(words: str, folder: Path) -> list[int]:
    """The processes with these words that run in that folder; not their children, which have the words until exec."""
    found: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if line.rstrip().endswith(words) and (entry / "cwd").readlink() == folder:
                    found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return [pid for pid, parent in found.items() if parent not in found]


def listening(process: int) -> list[str]:
    """The TCP sockets on which a process listens."""
    own = set()
    for entry in Path(f"/proc/{process}/fd").iterdir():
        own.add(str(entry.readlink()).removeprefix("socket:[").removesuffix("]"))
    tables = [Path(f"/proc/{process}/net/{name}") for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == "0A" and row[9] in own]


def test_a_taken_port_is_one_sentence_and_the_app_goes_on(short_folder: Path, fake: FakeGemini) -> None:
    fake.expect(says("Still here."))
    with socket.socket() as other, desk(short_folder, fake) as screen:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        screen.type(f"{FARHAND} --remote-port {port}")
        see(screen, f"Port {port} is already in use")
        screen.type("hi")
        see(screen, "Still here.")


def test_it_ends_while_a_request_is_open(short_folder: Path, fake: FakeGemini) -> None:
    port = lasting_port()
    with desk(short_folder, fake) as screen:
        screen.type(f"{FARHAND} --remote-port {port}; echo left with $?")
        see(screen, f"remote :{port}")
        with subprocess.Popen(
            ["curl", "-sSN", "--noproxy", "*", f"http://localhost:{port}/events"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        ) as reader:
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"event: resume\n"
            with pytest.raises(AssertionError, match="error"):
                curl("-H", "Host: evil.example", f"http://localhost:{port}/status")
            assert "refused" not in screen.text()
            screen.press("C-d")
            shown = see(screen, "left with 0")
            assert "Traceback" not in shown
            assert "refused" not in shown
            reader.wait(SAFETY_SECONDS)


def test_keys_and_wheels_of_a_real_terminal(short_folder: Path, fake: FakeGemini) -> None:
    fake.expect(says("\n\n".join(f"Paragraph {number}." for number in range(40))), says("Both lines."))
    with desk(short_folder, fake) as screen:
        screen.type(FARHAND)
        see(screen, PROMPT)
        screen.type("tell me")
        see(screen, "Paragraph 39.")
        screen.press("PageUp")
        screen.wait(lambda shown: "Paragraph 39." not in shown, "a page above")
        screen.press("C-End")
        see(screen, "Paragraph 39.")
        screen.press("one")
        screen.press("C-j")
        screen.type("two")
        see(screen, "Both lines.")
        assert fake.last["contents"][-1]["parts"][0]["text"] == "one\ntwo"


def test_what_is_marked_is_in_the_clipboard(short_folder: Path, fake: FakeGemini) -> None:
    fake.expect(says("Mark these words of mine."))
    with desk(short_folder, fake) as screen:
        screen.type(FARHAND)
        see(screen, PROMPT)
        screen.type("hello")
        lines = see(screen, "Mark these words of mine.").splitlines()
        row = next(place for place, line in enumerate(lines, 1) if "Mark these" in line)
        column = lines[row - 1].index("these") + 1
        for event in (f"0;{column};{row}M", f"32;{column + 4};{row}M", f"32;{column + 11};{row}M"):
            screen.send(f"\x1b[<{event}".encode())
        screen.send(f"\x1b[<0;{column + 11};{row}m".encode())
        screen.wait(lambda _: "these words" in screen.copied(), "the clipboard")


def test_the_wheel_and_another_size(short_folder: Path, fake: FakeGemini) -> None:
    fake.expect(says("\n\n".join(f"Paragraph {number} of the answer. {'And more. ' * 6}" for number in range(40))))
    with desk(short_folder, fake) as screen:
        screen.type(FARHAND)
        see(screen, PROMPT)
        screen.type("tell me")
        see(screen, "Paragraph 39 of")
        for _ in range(10):
            screen.send(b"\x1b[<64;20;10M")
        screen.wait(lambda shown: "Paragraph 39 of" not in shown, "what is above, by the wheel")
        for _ in range(30):
            screen.send(b"\x1b[<65;20;10M")
        see(screen, "Paragraph 39 of")
        screen.resize(50, 16)
        screen.wait(lambda shown: "Paragraph 39 of" in shown and widest(shown) <= 50 and PROMPT in shown, "a small one")
        screen.resize(130, 40)
        screen.wait(lambda shown: "Paragraph 36 of" in shown and widest(shown) > 100, "a large one")


def widest(shown: str) -> int:
    return max(len(line.rstrip()) for line in shown.splitlines())


CRASH = """
from farhand.cli.main import main
from farhand.tui.app import TerminalApp
TerminalApp.action_other_look = lambda self: 1 / 0
raise SystemExit(main(["tui"]))
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, "crash"])
def test_the_terminal_is_given_back_as_it_was(short_folder: Path, fake: FakeGemini, how: signal.Signals | str) -> None:
    fake.expect(says("Hello you."))
    (short_folder / "crash.py").write_text(CRASH)
    started = f"{sys.executable} crash.py" if how == "crash" else FARHAND
    with desk(short_folder, fake) as screen:
        screen.type(f"stty -g > before; {started}; code=$?; stty -g > after; echo left with $code")
        see(screen, PROMPT)
        screen.type("hi there")
        see(screen, "Hello you.")
        assert screen.is_taken()
        if isinstance(how, str):
            screen.press("F2")
            see(screen, "left with 1")
        else:
            [process] = pids("farhand tui", short_folder)
            os.kill(process, how)
            shown = see(screen, f"left with {128 + how}")
            assert "› hi there" in shown
        assert not screen.is_taken()
        assert (short_folder / "after").read_text() == (short_folder / "before").read_text()
        screen.type("echo still $((40 + 2))")
        see(screen, "still 42")


def test_a_wrong_port_and_a_pipe_are_told(short_folder: Path, fake: FakeGemini) -> None:
    with desk(short_folder, fake) as screen:
        screen.type(f"{FARHAND} --remote-port nonsense")
        see(screen, "--remote-port is a number")
        screen.type(f"{FARHAND} </dev/null")
        see(screen, "needs a terminal")


def test_an_earlier_conversation_is_chosen_from_a_list(short_folder: Path, fake: FakeGemini) -> None:
    fake.expect(says("It is planted."), says("It is green."), says("An oak."))
    with desk(short_folder, fake) as screen:
        for said, answer in (("plant a tree", "It is planted."), ("paint the door", "It is green.")):
            screen.type(f"clear; {FARHAND}")
            see(screen, PROMPT)
            screen.type(said)
            see(screen, answer)
            screen.press("C-d")
            see(screen, "farhand tui --resume")
        screen.type(f"clear; {FARHAND} --resume; echo left with $?")
        shown = see(screen, "Enter goes on with it")
        assert [line.split("  ")[-1].strip() for line in shown.splitlines()[2:4]] == ["paint the door", "plant a tree"]
        screen.press("Down")
        screen.press("Enter")
        see(screen, "It is planted.")
        screen.type("which one?")
        see(screen, "An oak.")
        screen.type("/resume")
        see(screen, "Enter goes on with it")
        screen.press("door")
        screen.wait(lambda now: "plant a tree" not in now, "the filter")
        screen.press("Escape")
        screen.wait(lambda now: "An oak." in now and PROMPT in now, "the conversation again")
        screen.press("C-d")
        shown = see(screen, "left with 0")
        assert "› plant a tree" in shown
        assert "paint the door" not in shown


def test_a_turn_is_stopped_with_escape(short_folder: Path, fake: FakeGemini) -> None:
    import threading

    gate = threading.Event()
    fake.expect(held(gate, "One, ", "two", before=1))
    with desk(short_folder, fake) as screen:
        screen.type(FARHAND)
        see(screen, PROMPT)
        screen.type("count")
        see(screen, "One,")
        screen.press("Escape")
        see(screen, "stopped")
        gate.set()


def test_the_team_of_a_node(short_folder: Path) -> None:
    home = Home(short_folder, PS1="$ ")
    run = " ".join(
        home.command("run", "--node", "desk", "-p", "0", "--no-telegram", "--no-tunnel", "--demo", "--detach")
    )
    with terminal(home.folder, home.environment, columns=120, rows=30) as screen:
        screen.type(f"{run}; clear; {' '.join(home.command('tui', '--team', '--node', 'desk'))}")
        see(screen, "● demo")
        screen.type("hello")
        see(screen, "I never call anyone")
        screen.press("C-d")
        see(screen, "→ farhand tui --team")
        screen.type(f"{' '.join(home.command('stop', '--node', 'desk', '--keep-workers'))}; echo stopped with $?")
        see(screen, "stopped with 0")
    home.end_agents()

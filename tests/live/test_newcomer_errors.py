"""Every error that a newcomer can make: one sentence, what to do about it, and the right exit code."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home
from tests.spec.promises import promise

from farhand.cli.node_choice import running_nodes


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without any node."""
    made = Home(tmp_path)
    yield made
    made.farhand("stop", "--all", "--force")
    made.end_agents()


def files(home: Home) -> dict[str, str]:
    """What the cases speak of: files that are wrong, a PATH with nothing on it, somebody's port."""
    (home.folder / "broken.env").write_text("TELEGRAM_BOT_TOKEN 1:a\n")
    (home.folder / "settings.json").write_text("{ no json")
    (home.folder / "empty").mkdir()
    closed = home.folder / "closed"
    closed.write_text("a file where a folder should be")
    return {"broken": str(home.folder / "broken.env"), "settings": str(home.folder / "settings.json")}


CASES: list[tuple[str, dict[str, str], int, str, str]] = [
    ("run --headless", {}, 3, "TELEGRAM_BOT_TOKEN not set", "farhand run --no-telegram --demo"),
    ("webhook info", {}, 3, "TELEGRAM_BOT_TOKEN not set", "@BotFather"),
    ("run --headless", {"TELEGRAM_BOT_TOKEN": "1:a", "PATH": "{empty}"}, 4, "tmux not installed", "brew install tmux"),
    ("run --headless --no-telegram -p many", {}, 2, "A port is a number from 0 to 65535, not 'many'.", ""),
    ("run --headless --no-telegram -n !!!", {}, 2, "Invalid node name: !!!", ""),
    ("walk", {}, 2, "Unknown command: walk", "farhand --help"),
    ("run --fast", {}, 2, "Unknown flag: --fast", "farhand run --help"),
    ("--fast run", {}, 2, "Unknown flag: --fast", "farhand --help"),
    ("run --env-file {home}/none", {}, 2, "The env file {home}/none cannot be read: No such file or directory.", ""),
    ("run --env-file {broken}", {}, 2, "Line 1 of {broken} is not NAME=value.", ""),
    ("hook install --settings {settings}", {}, 2, "{settings} is not valid JSON", ""),
    ("hook install --adapter demo", {}, 1, "No backend called 'demo'.", ""),
    ("say hello", {}, 1, "Node 'prod' is not running.", "farhand run --node prod"),
    ("stop -n dev", {}, 1, "Node 'dev' is not running.", "farhand run --node dev"),
    ("logs", {}, 1, "Node 'prod' has no log yet.", "farhand run --node prod"),
    ("run --no-telegram", {"FARHAND_HOME": "{home}/closed"}, 1, "{home}/closed/nodes/prod cannot be used", ""),
    (
        "run --no-telegram",
        {"SANDBOX_ENABLED": "1", "PATH": "{empty}"},
        4,
        "Workers cannot be sandboxed: neither docker, podman nor bwrap is installed.",
        "install Docker or podman",
    ),
    ("run --no-telegram --sandbox --mount data", {}, 2, "A mount is [ro:]<path>[:<path inside>]", ""),
    ("sandbox build", {"FARHAND_SANDBOX_ENGINE": "lxc"}, 2, "FARHAND_SANDBOX_ENGINE is one of auto, docker", ""),
    ("run --no-telegram", {"FARHAND_HIRE_MODE": "wild"}, 2, "FARHAND_HIRE_MODE is one of ", ""),
    ("run", {"TELEGRAM_BOT_TOKEN": "1:a", "ADMIN_CHAT_ID": "me"}, 2, "ADMIN_CHAT_ID must be a number, not 'me'.", ""),
    (
        "webhook ftp://x",
        {"TELEGRAM_BOT_TOKEN": "1:a"},
        2,
        "A webhook is an https:// address, not 'ftp://x'.",
        "webhook",
    ),
    ("clean --all", {}, 2, "--all is for stop and status.", "--node"),
]


@promise("cli.37", "cli.54", "cli.55", "cli.56", "cli.57", "env.1", "env.11")
@promise("output.1", "output.6", "output.8", "output.10", "output.11")
@pytest.mark.parametrize(
    ("words", "variables", "code", "sentence", "hint"), CASES, ids=[f"{one[0]} {one[3][:20]}" for one in CASES]
)
def test_one_sentence_what_to_do_and_the_right_exit_code(
    home: Home, words: str, variables: dict[str, str], code: int, sentence: str, hint: str
) -> None:
    places = {**files(home), "home": str(home.folder), "empty": str(home.folder / "empty")}
    home.environment |= {name: value.format(**places) for name, value in variables.items()}
    told = home.farhand(*(word.format(**places) for word in words.split()))
    lines = [line for line in told.stderr.splitlines() if line.startswith(("error: ", "→ "))]
    assert told.returncode == code, told.stderr
    assert lines[0].startswith(f"error: {sentence.format(**places)}"), told.stderr
    assert hint in "\n".join(lines[1:])
    assert "Traceback" not in told.stderr + told.stdout
    assert told.stdout == ""


@promise("cli.21", "cli.53")
def test_quiet_leaves_errors_alone(home: Home) -> None:
    for words in (("-q", "clean"), ("clean", "--quiet")):
        told = home.farhand(*words)
        assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
    assert home.farhand("-q", "stop").stderr.startswith("error: ")


@promise("cli.22")
def test_verbose_tells_what_a_program_would_know(home: Home) -> None:
    told = home.farhand("-v", "run", "--no-telegram", "-p", "x")
    assert told.stderr.splitlines()[-1] == "  setting_wrong {'name': 'PORT'}"
    home.environment |= {"TMUX_PREFIX": "claude-dev-", "PORT": "1"}
    assert "TMUX_PREFIX: another node's, not used for 'other'" in home.farhand("clean", "-v", "-n", "other").stderr


def on_a_terminal(home: Home, *words: str, typed: str) -> tuple[int, str]:
    """Runs a command as at a desk: what it says, and its exit code, when this is typed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        home.command(*words), cwd=home.folder, env=home.environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    said = b""
    while True:
        try:
            said += os.read(ours, 4096)
        except OSError:
            break
    code = process.wait(SAFETY_SECONDS)
    os.close(ours)
    return code, said.decode()


@promise("cli.20", "cli.32")
def test_on_a_terminal_a_person_is_asked_which_node(home: Home) -> None:
    home.start("dev")
    home.start("test")
    code, said = on_a_terminal(home, "status", typed="9\n2\n")
    assert code == 0
    assert "  1) dev\r\n  2) test\r\nWhich one? [1-2] " in said
    assert "Node: test [running]" in said
    code, said = on_a_terminal(home, "status", "--headless", typed="")
    assert (code, "error: Multiple nodes running." in said) == (2, True)


@promise("cli.26")
def test_on_a_terminal_a_person_is_asked_before_work_is_ended(home: Home) -> None:
    home.start("test", "--demo")
    home.farhand("say", "-n", "test", "ask")
    events = subprocess.Popen(
        home.command("events", "-n", "test", "-f"), env=home.environment, stdout=subprocess.PIPE, text=True
    )
    with events:
        assert events.stdout is not None
        assert any("ask_raised" in line for line in events.stdout)
        events.kill()
    code, said = on_a_terminal(home, "stop", typed="n\n")
    assert (code, "At work: demo. End them, too?" in said) == (1, True)
    assert running_nodes(home.environment) == ["test"]
    code, said = on_a_terminal(home, "stop", "--force", typed="")
    assert (code, "Node 'test' stopped. 1 agent ended" in said) == (0, True), said

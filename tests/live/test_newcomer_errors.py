"""Every error that a newcomer can make: one sentence, what to do about it, and the right exit code."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio.to_thread
import pytest
from tests.conftest import PROGRAMS
from tests.live.nodes import SAFETY_SECONDS, Home, home_without_nodes
from tests.spec.promises import promise

from farhand.cli.node_choice import running_nodes
from farhand.testing.telegram import FakeBot


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without any node."""
    with home_without_nodes(tmp_path, TELEGRAM_API_URL="http://127.0.0.1:9") as made:
        yield made


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
    ("webhook info", {"TELEGRAM_BOT_TOKEN": "hello"}, 3, "TELEGRAM_BOT_TOKEN is no bot token", "@BotFather"),
    ("run --headless", {"TELEGRAM_BOT_TOKEN": "hello"}, 3, "TELEGRAM_BOT_TOKEN is no bot token", "@BotFather"),
    (
        "webhook info",
        {"TELEGRAM_BOT_TOKEN": "1:a"},
        1,
        "Telegram cannot be reached: Connection refused",
        "is this machine on the network?",
    ),
    ("run --headless", {"TELEGRAM_BOT_TOKEN": "1:a", "PATH": "{empty}"}, 4, "tmux not installed", "brew install tmux"),
    (
        "run --headless --no-telegram -p many",
        {},
        2,
        "A port is a number from 0 to 65535",
        "0 takes one that is free",
    ),
    ("run --headless --no-telegram -n !!!", {}, 2, "Invalid node name: !!!", ""),
    ("walk", {}, 2, "Unknown command: walk", "farhand --help"),
    ("satus", {}, 2, "Unknown command: satus", "did you mean: farhand status?"),
    ("team", {}, 2, "Unknown command: team", "did you mean: farhand status?"),
    ("run --fast", {}, 2, "Unknown flag: --fast", "farhand run --help"),
    ("run --no-telegrm", {}, 2, "Unknown flag: --no-telegrm", "did you mean: --no-telegram?"),
    ("--no-tunel run", {}, 2, "Unknown flag: --no-tunel", "did you mean: --no-tunnel?"),
    ("hook", {}, 2, "Missing: one of install, uninstall, status, test", "farhand hook --help"),
    ("hook instal", {}, 2, "'instal' is none of install, uninstall, status, test", "farhand hook --help"),
    ("--fast run", {}, 2, "Unknown flag: --fast", "farhand --help"),
    (
        "run --env-file {home}/none",
        {},
        2,
        "The env file {home}/none cannot be read",
        "leave --env-file out",
    ),
    ("run --env-file {broken}", {}, 2, "Line 1 of {broken} is not NAME=value.", "begins with #"),
    ("hook install --settings {settings}", {}, 2, "{settings} is not valid JSON", "--settings"),
    ("hook install --adapter demo", {}, 2, "No backend called 'demo'.", ""),
    ("say hello", {}, 1, "Node 'prod' is not running.", "farhand run --node prod"),
    ("stop -n dev", {}, 1, "Node 'dev' is not running.", "farhand status --all"),
    ("chat --url https://node.example", {}, 2, "FARHAND_NODE_KEY must have the key", "docs/how-to/devices.md"),
    (
        "say --url http://127.0.0.1:9 hi",
        {"FARHAND_NODE_KEY": "x"},
        1,
        "http://127.0.0.1:9 does not answer",
        "is the node running there",
    ),
    ("logs", {}, 1, "Node 'prod' has no log yet.", "farhand run --node prod"),
    (
        "run --no-telegram",
        {"FARHAND_HOME": "{home}/closed"},
        1,
        "{home}/closed/nodes/",
        "FARHAND_HOME",
    ),
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
    ("run --no-telegram", {"FARHAND_HIRE_BACKEND": "claud"}, 2, "No backend called 'claud'.", "did you mean: claude?"),
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


# Who, with which more of a PATH and of the environment, what is said, the code.
PROGRAMS_FOLDER = f"{PROGRAMS}:{Path(sys.executable).parent}"
AGENTS = [
    ("claude --tmux", "", 4, "There is no 'claude' on PATH: npm install -g @anthropic-ai/claude-code"),
    ("claude --headless", "", 4, "There is no 'claude' on PATH: npm install -g @anthropic-ai/claude-code"),
    ("codex --headless", "", 4, "There is no 'codex' on PATH: npm install -g @openai/codex"),
    ("gemini --headless", "", 4, "There is no 'gemini' on PATH: npm install -g @google/gemini-cli"),
    ("opencode --headless", "", 4, "There is no 'opencode' on PATH: npm install -g opencode-ai"),
    pytest.param(
        "gemini --headless",
        PROGRAMS_FOLDER,
        3,
        "at the desk",
        marks=pytest.mark.skipif(not (PROGRAMS / "gemini").exists(), reason="sh scripts/setup-tests.sh"),
    ),
]


@promise("cli.56", "cli.57", "output.1")
@pytest.mark.parametrize(("who", "path", "code", "why"), AGENTS)
def test_an_agent_that_is_missing_or_signed_out_is_told_at_once(
    home: Home, who: str, path: str, code: int, why: str
) -> None:
    home.environment["PATH"] = f"{path}:/usr/bin:/bin"
    home.start("test")
    told = home.farhand("hire", "ann", "--backend", *who.split())
    lines = told.stderr.splitlines()
    assert (told.returncode, told.stdout) == (code, ""), told.stderr
    assert lines[0].startswith("error: ann is hired, but its agent cannot start: ")
    assert why in lines[0]
    assert lines[1:] == ["→ farhand doctor", "→ farhand relaunch ann"]


def without_rights(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command as somebody who may not pass over a file's mode, which root may."""
    drop = ["setpriv", "--bounding-set=-all", "--no-new-privs"] if os.getuid() == 0 else []
    return subprocess.run(
        [*drop, *home.command(*words)],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=SAFETY_SECONDS,
        check=False,
    )


CLOSED = [
    (words, f"{{closed}}/nodes/prod{file} cannot be used: Permission denied.", 1, "FARHAND_HOME")
    for words, file in (("run --no-telegram", "/env"), ("status", "/env"), ("say hi", "/env"), ("clean", "/env"))
]
RIGHTS = [
    *CLOSED,
    ("run --env-file {secret}", "The env file {secret} cannot be read: Permission denied.", 2, "--env-file"),
    ("hook install --settings {kept}/settings.json", "{kept}/hooks cannot be used: Permission denied.", 1, ""),
]


@promise("cli.54")
@pytest.mark.parametrize(("words", "sentence", "code", "hint"), RIGHTS, ids=[one[0] for one in RIGHTS])
def test_what_one_may_not_do_is_told_in_a_sentence(home: Home, words: str, sentence: str, code: int, hint: str) -> None:
    places = {name: home.folder / name for name in ("closed", "secret", "kept")}
    places["closed"].mkdir(mode=0)
    places["kept"].mkdir(mode=0o500)
    places["secret"].touch(mode=0)
    if "{" not in words:
        home.environment["FARHAND_HOME"] = str(places["closed"])
    told = without_rights(home, *words.format(**places).split())
    places["closed"].chmod(0o700)
    lines = told.stderr.splitlines()
    assert (told.returncode, lines[0]) == (code, f"error: {sentence.format(**places)}"), told.stderr
    assert hint in "\n".join(lines[1:])


FIRST_FREE = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")


@pytest.mark.skipif(
    not FIRST_FREE.exists() or int(FIRST_FREE.read_text()) <= 80, reason="anybody may have port 80 here"
)
def test_a_port_for_which_one_has_no_rights_is_not_called_taken(home: Home) -> None:
    told = without_rights(home, "run", "--headless", "--no-telegram", "-p", "80")
    lines = [line for line in told.stderr.splitlines() if line.startswith(("error: ", "→ "))]
    assert (told.returncode, lines) == (
        1,
        [
            "error: Port 80 of 127.0.0.1 cannot be used: Permission denied",
            "→ below 1024 a port needs more rights: --port 8080",
        ],
    ), told.stderr


def test_an_address_that_is_not_this_machines_is_not_called_taken(home: Home) -> None:
    home.environment["FARHAND_HOST"] = "192.0.2.1"
    told = home.farhand("run", "--headless", "--no-telegram", "-p", "0")
    lines = [line for line in told.stderr.splitlines() if line.startswith(("error: ", "→ "))]
    assert (told.returncode, lines[1]) == (1, "→ FARHAND_HOST says on which address of this machine the node listens")
    assert lines[0] == "error: Port 0 of 192.0.2.1 cannot be used: Cannot assign requested address"


@pytest.mark.anyio
async def test_a_token_that_telegram_refuses_starts_no_new_node(home: Home, bot: FakeBot) -> None:
    home.environment |= {"TELEGRAM_API_URL": bot.address, "TELEGRAM_BOT_TOKEN": "1:no"}
    for words in (("run", "--headless", "-p", "0"), ("run", "--detach", "-p", "0")):
        told = await anyio.to_thread.run_sync(home.farhand, *words)
        lines = told.stderr.splitlines()
        assert (told.returncode, lines[0]) == (3, "error: Telegram refuses the bot token."), told.stderr
        assert "@BotFather" in lines[1]
        assert told.stdout == ""
    assert not (home.node_folder("prod") / "farhand.db").exists()


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

"""The command line as a person and a script have it: exit codes, first lines, one node a name, an orderly stop."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.nodes import SAFETY_SECONDS, Home
from tests.spec.promises import promise


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without any node."""
    made = Home(tmp_path)
    yield made
    made.end_agents()


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with a node called `test` and its demo worker."""
    made = Home(tmp_path_factory.mktemp("home"))
    node = made.start("test", "--demo")
    yield made
    node.terminate()
    assert node.wait(SAFETY_SECONDS) == 0
    made.end_agents()


def test_a_run_without_a_token_exits_3_and_says_so_first(home: Home) -> None:
    told = home.farhand("run", "--node", "test", "--headless")
    assert told.returncode == 3
    assert told.stderr.splitlines()[0] == "error: TELEGRAM_BOT_TOKEN not set"
    assert not home.node_folder().exists()


@pytest.mark.parametrize("command", [["say", "hi"], ["chat"], ["events"], ["stop"], ["end", "ann"]])
def test_without_a_node_a_command_exits_1_and_says_so(home: Home, command: list[str]) -> None:
    told = home.farhand(command[0], "--node", "test", *command[1:])
    assert told.returncode == 1
    assert told.stderr.splitlines()[0] == "error: Node 'test' is not running."


def test_the_status_of_a_node_that_is_stopped(home: Home) -> None:
    text, as_json = home.farhand("status", "--node", "test"), home.farhand("status", "--node", "test", "--json")
    assert (text.returncode, text.stdout.splitlines()[0]) == (0, "Node: test [stopped]")
    told = json.loads(as_json.stdout)
    assert (as_json.returncode, told["node"], told["running"], told["port"]) == (0, "test", False, "")


def test_the_status_of_a_running_node(lived_in: Home) -> None:
    text, as_json = lived_in.farhand("status"), lived_in.farhand("status", "--node", "test", "--json")
    assert text.stdout.startswith("Node: test [running]\n")
    told = json.loads(as_json.stdout)
    assert told["running"] is True
    assert [worker["name"] for worker in told["workers"]] == ["demo"]
    assert lived_in.farhand("status", "--node", "test").stdout.startswith("Node: test [running]\n")


def test_a_message_and_its_answer(lived_in: Home) -> None:
    told = lived_in.farhand("say", "--node", "test", "--wait", "one two three four")
    assert (told.returncode, told.stderr) == (0, "")
    assert "one two three four" in told.stdout


def test_a_turn_that_failed_exits_1_with_the_reason(lived_in: Home) -> None:
    told = lived_in.farhand("say", "--node", "test", "--wait", "fail")
    assert told.returncode == 1
    assert told.stderr.startswith("error: The demo agent failed")


def test_the_same_id_twice_is_one_message(lived_in: Home) -> None:
    first = lived_in.farhand("say", "--node", "test", "--id", "once", "stream")
    again = lived_in.farhand("say", "--node", "test", "--id", "once", "stream")
    assert first.stdout == "demo: message taken as cli:once\n"
    assert again.stdout == "demo: message taken as cli:once (again)\n"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["say", "-w", "nobody", "hi"], 1, "error: No worker called 'nobody'. The team: demo."),
        (["say", " "], 2, "error: There is nothing in that message."),
        (["hire", "status"], 2, 'error: Cannot use "status" - reserved command. Choose another name.'),
        (["hire", "ann", "--backend", "demo", "--dir", "/none/such"], 2, "error: There is no folder /none/such."),
        (["hire", "ann", "--backend", "claud"], 2, "error: No backend called 'claud'. Known: bridge, claude, codex, "),
        (["answer", "a", "yes"], 1, "error: No question with the id 'a' is known."),
    ],
)
def test_what_is_refused_is_a_sentence(lived_in: Home, arguments: list[str], code: int, sentence: str) -> None:
    told = lived_in.farhand(arguments[0], "--node", "test", *arguments[1:])
    assert told.returncode == code
    assert told.stderr.startswith(sentence)


def test_a_device_is_paired_listed_and_revoked(lived_in: Home) -> None:
    assert lived_in.farhand("devices", "--node", "test").stdout == "No device is paired.\n→ farhand pair\n"
    told = lived_in.farhand("pair", "--node", "test").stdout.splitlines()
    code = told[0].removeprefix("Code: ")
    assert f"/app/#pair={code.replace('-', '')}" in told[2]
    assert told[3].startswith("The app on a phone cannot reach this node yet. This opens a way in: farhand restart ")
    port = json.loads(lived_in.farhand("status", "--node", "test", "--json").stdout)["port"]
    sent = json.dumps({"code": code, "name": "my phone"}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/pair", data=sent)
    with urllib.request.urlopen(request, timeout=SAFETY_SECONDS) as answer:
        device = json.loads(answer.read())["device"]["id"]
    assert lived_in.farhand("devices", "--node", "test").stdout == f"{device}  my phone  last seen just now\n"
    assert json.loads(lived_in.farhand("devices", "--node", "test", "--json").stdout)[0]["id"] == device
    assert lived_in.farhand("devices", "--node", "test", "revoke").returncode == 2
    assert lived_in.farhand("devices", "--node", "test", "revoke", device).stdout == f"{device} is revoked.\n"
    again = lived_in.farhand("devices", "--node", "test", "revoke", device)
    assert (again.returncode, again.stderr.splitlines()[0]) == (
        1,
        f"error: No device is called '{device}'. farhand devices lists them.",
    )


def test_a_worker_whose_agent_cannot_start_is_told_at_once(lived_in: Home) -> None:
    told = lived_in.farhand("hire", "--node", "test", "zed", "--adapter", "opencode", "--headless")
    assert told.returncode == 4
    why = "There is no 'opencode' on PATH: npm install -g opencode-ai"
    assert told.stderr.splitlines()[0] == f"error: zed is hired, but its agent cannot start: {why}"
    assert "→ farhand doctor" in told.stderr
    assert lived_in.farhand("end", "--node", "test", "zed").returncode == 0
    assert lived_in.farhand("focus", "--node", "test", "demo").returncode == 0


@pytest.mark.parametrize(
    ("agent", "why"),
    [("no_such_module:agent", "no_such_module"), ("broken:agent", "invalid syntax"), ("empty:agent", "agent")],
)
def test_an_agent_of_ones_own_that_cannot_be_made_is_told_at_once(lived_in: Home, agent: str, why: str) -> None:
    (lived_in.folder / "broken.py").write_text("agent = = 1\n")
    (lived_in.folder / "empty.py").write_text("")
    told = lived_in.farhand("hire", "--node", "test", "zed", "--agent", agent)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("error: zed is hired, but its agent cannot start: ")
    assert why in told.stderr.splitlines()[0]
    assert lived_in.farhand("end", "--node", "test", "zed").returncode == 0
    assert lived_in.farhand("focus", "--node", "test", "demo").returncode == 0


def test_events_are_lines_of_json_in_order(lived_in: Home) -> None:
    lines = lived_in.farhand("events", "--node", "test").stdout.splitlines()
    numbers = [json.loads(line)["seq"] for line in lines]
    assert numbers == list(range(1, len(numbers) + 1))
    assert lived_in.farhand("events", "--node", "test", "--after", str(10**9)).stdout == ""


def test_a_reader_that_has_enough_is_no_error(lived_in: Home) -> None:
    order = [*lived_in.command("events", "--node", "test", "--follow")]
    with subprocess.Popen(order, env=lived_in.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as events:
        assert events.stdout is not None
        assert events.stderr is not None
        assert b'"hired"' in events.stdout.readline()
        events.stdout.close()
        lived_in.farhand("say", "--node", "test", "hello")
        assert events.wait(SAFETY_SECONDS) == 0
        assert b"Traceback" not in events.stderr.read()


def test_a_conversation_over_pipes(lived_in: Home) -> None:
    told = lived_in.farhand("chat", "--node", "test", text="/team\n/nonsense\n@nobody hi\n/quit\n")
    assert told.returncode == 0
    assert "› demo (" in told.stdout
    assert "✗ '/nonsense' is nothing that can be done here" in told.stdout
    assert "✗ No worker called 'nobody'." in told.stdout


def test_two_runs_of_one_node(lived_in: Home) -> None:
    port = json.loads(lived_in.farhand("status", "--node", "test", "--json").stdout)["port"]
    for chosen in (port, 0):
        told = lived_in.farhand("run", "--node", "test", "-p", str(chosen), "--no-telegram", "--headless")
        assert told.returncode == 1
        assert told.stderr.splitlines()[0].startswith("error: Node 'test' is already running (pid ")
        assert told.stderr.splitlines()[1] == "→ farhand chat --node test"


@promise("cli.17", "output.7")
def test_a_port_of_somebody_else_is_told_with_a_way_out(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        told = home.farhand("run", "-p", str(other.getsockname()[1]), "--no-telegram", "--headless")
    assert told.returncode == 1
    assert told.stderr.splitlines()[-2:] == [
        f"error: Port {other_port(told.stderr)} is already in use",
        "→ Stop the other process or use: --port <other-port>",
    ]


def other_port(told: str) -> str:
    """The port that an error names."""
    return told.rpartition("error: Port ")[2].split()[0]


def test_stop_stops_and_the_team_is_there_after_a_restart(home: Home) -> None:
    node = home.start("test", "--demo")
    told = home.farhand("stop", "--node", "test", "--keep-workers")
    assert (told.returncode, told.stdout) == (0, "Node 'test' stopped.\n")
    assert node.wait(SAFETY_SECONDS) == 0
    assert not list(home.node_folder().glob("*pid"))
    again = home.start("test", "--demo")
    assert [
        worker["name"] for worker in json.loads(home.farhand("status", "-n", "test", "--json").stdout)["workers"]
    ] == ["demo"]
    assert home.farhand("stop", "--node", "test").returncode == 0
    assert again.wait(SAFETY_SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_a_node_in_order(home: Home, number: signal.Signals) -> None:
    node = home.start("test")
    node.send_signal(number)
    assert node.wait(SAFETY_SECONDS) == 0
    assert not list(home.node_folder().glob("*pid"))


def test_a_hangup_that_was_to_be_ignored_is(home: Home) -> None:
    """As `nohup farhand run` has it: the hangup changes nothing, the later SIGTERM is what ends it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        node = home.start("test")
    finally:
        signal.signal(signal.SIGHUP, before)
    node.send_signal(signal.SIGHUP)
    assert home.farhand("status", "--node", "test").stdout.startswith("Node: test [running]")
    node.send_signal(signal.SIGTERM)
    assert node.wait(SAFETY_SECONDS) == 0
    assert b"SIGHUP" not in (home.folder / "test.log").read_bytes()


def test_an_agent_at_the_desk_is_attached_as_a_worker(lived_in: Home) -> None:
    """The hooks are installed and the worker is hired by one command; done twice, it says so and changes nothing."""
    project = lived_in.folder / "My Shop"
    project.mkdir()
    attach = ("bridge", "attach", "--node", "test", "--project", str(project))
    told = lived_in.farhand(*attach)
    assert (told.returncode, told.stdout.splitlines()[-1]) == (0, f"my-shop is hired (bridge, in {project})."), (
        told.stderr
    )
    assert "BeforeAgent" in (project / ".gemini/settings.json").read_text()
    again = lived_in.farhand(*attach)
    assert again.returncode == 1
    assert "my-shop" in again.stderr
    assert lived_in.farhand("say", "--node", "test", "--worker", "my-shop", "hello").returncode == 0
    ended = lived_in.farhand("end", "--node", "test", "my-shop")
    assert ended.returncode == 0, ended.stderr


def test_a_sprint_is_begun_added_to_skipped_in_and_ended(lived_in: Home) -> None:
    """Its tasks from a check-list and from the command line; how it stands, and what nobody can do."""

    def sprint(*words: str) -> subprocess.CompletedProcess[str]:
        return lived_in.farhand("sprint", *words, "--node", "test", "--worker", "demo")

    assert sprint("status").stdout.startswith("demo is at no sprint.")
    check_list = lived_in.folder / "tasks.md"
    check_list.write_text("# To do\n- [x] long since\n- [ ] one\n- [ ] two\n")
    gate = lived_in.folder / "gate"
    os.mkfifo(gate)
    begun = sprint("start", "zero", "--file", str(check_list), "--no-commit", "--verify", f"cat '{gate}'")
    assert (begun.returncode, begun.stdout) == (0, "demo begins its sprint.\n"), begun.stderr
    again = sprint("start", "zero")
    assert (again.returncode, "sprint" in again.stderr) == (1, True)
    assert sprint("add", "three").stdout == "Added to demo's sprint.\n"
    assert sprint("add").returncode == 2
    assert sprint("skip").stdout == "demo goes on with the next task.\n"
    told = sprint("status").stdout
    assert "/4" in told
    assert sprint("stop", "--now").stdout == "demo halts now.\n"
    unread = sprint("start", "--file", str(lived_in.folder / "nowhere.md"))
    assert (unread.returncode, "cannot be read" in unread.stderr) == (2, True)

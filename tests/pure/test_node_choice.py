"""Which node a command means, whose variables are used for it, and flags before and after a command's name."""

import fcntl
import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.spec.promises import promise

from farhand import __version__
from farhand.cli import say
from farhand.cli.flags import parse
from farhand.cli.global_flags import UnknownFlag, env_files, split
from farhand.cli.main import main
from farhand.cli.node_choice import choose, known_nodes
from farhand.config.env_file import parse_env, quoted, read_env_file
from farhand.config.node_variables import foreign
from farhand.disk.processes import identity
from farhand.model.compat import default_port, tmux_prefix
from farhand.model.errors import BadName, BadUsage, SettingWrong


def given(**said: object) -> Namespace:
    return Namespace(**{"node": None, "headless": False, "verbose": False, "from_env_file": [], **said})


@contextmanager
def held(home: Path, *nodes: str) -> Iterator[dict[str, str]]:
    """An environment in whose home these nodes run, as far as their locks tell."""
    files = []
    for node in nodes:
        folder = home / "nodes" / node
        folder.mkdir(parents=True)
        (folder / "lock").write_text(identity(os.getpid()))
        files.append((folder / "lock").open("r+"))
        fcntl.flock(files[-1], fcntl.LOCK_EX)
    yield {"FARHAND_HOME": str(home)}
    for file in files:
        file.close()


@promise("cli.15", "cli.31", "cli.33", "cli.35", "env.16")
def test_the_flag_then_the_variable_then_the_one_that_runs_then_prod(tmp_path: Path) -> None:
    with held(tmp_path, "dev") as environ:
        assert choose(given(node="Other"), {**environ, "NODE_NAME": "test"}) == "other"
        assert choose(given(), {**environ, "NODE_NAME": "test"}) == "test"
        assert choose(given(), environ) == "dev"
    assert choose(given(), {"FARHAND_HOME": str(tmp_path / "empty")}) == "prod"
    assert known_nodes({"FARHAND_HOME": str(tmp_path)}) == ["dev"]


@promise("cli.32", "output.9")
def test_several_running_nodes_need_a_name_where_nobody_can_be_asked(tmp_path: Path) -> None:
    with held(tmp_path, "dev", "prod") as environ, pytest.raises(BadUsage) as refused:
        choose(given(headless=True), environ)
    assert refused.value.text == "Multiple nodes running. Specify with --node <name> or --all"
    assert refused.value.details["hints"] == ("Running nodes: dev prod",)
    assert refused.value.exit_code == 2


def test_a_node_name_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(BadName, match=r"^Invalid node name: !!!$"):
        choose(given(node="!!!"), {"FARHAND_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    "said",
    [
        {"TMUX_PREFIX": "claude-dev-"},
        {"SESSIONS_DIR": "/h/nodes/dev/sessions"},
        {"NODE_NAME": "dev"},
        {"FARHAND_SOCKET": "/h/nodes/dev/hooks.sock", "TMUX_PREFIX": "team-"},
        {"TMUX_PREFIX": "claude-dev-", "NODE_NAME": "other"},
        {"TMUX_PREFIX": "claude-other-2-"},
    ],
)
def test_variables_of_another_node_are_not_used(said: dict[str, str]) -> None:
    environ = {"PORT": "1", "BRIDGE_URL": "http://b", **said}
    assert {"PORT", "BRIDGE_URL"} <= set(foreign("other", environ, Path("/h/nodes")))


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"TMUX_PREFIX": "team-", "SESSIONS_DIR": "/elsewhere"},
        {"TMUX_PREFIX": "claude-"},
        {"TMUX_PREFIX": "claude-dev-", "SESSIONS_DIR": "/h/nodes/dev/sessions", "NODE_NAME": "dev"},
    ],
)
def test_a_nodes_own_variables_and_those_of_nobody_are(said: dict[str, str]) -> None:
    assert foreign("dev", {"PORT": "1", **said}, Path("/h/nodes")) == []


def test_the_environment_of_a_chosen_node_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "nodes" / "other").mkdir(parents=True)
    (tmp_path / "nodes" / "other" / "env").write_text("PORT=7777\nTELEGRAM_BOT_TOKEN=1:a\n")
    environ = {"FARHAND_HOME": str(tmp_path), "TMUX_PREFIX": "claude-dev-", "PORT": "8082", "TELEGRAM_BOT_TOKEN": "2:b"}
    assert choose(given(node="other"), environ) == "other"
    assert environ == {"FARHAND_HOME": str(tmp_path), "PORT": "7777", "TELEGRAM_BOT_TOKEN": "2:b"}


def test_what_the_commands_own_env_file_says_is_meant(tmp_path: Path) -> None:
    environ = {"FARHAND_HOME": str(tmp_path), "TMUX_PREFIX": "claude-dev-", "PORT": "9000"}
    choose(given(node="other", from_env_file=["PORT"]), environ)
    assert environ["PORT"] == "9000"


def test_an_env_file() -> None:
    text = "# ours\n\nA=1\nexport B='two words'\nC=\"x#y\" # why\nD= plain # why\nE=a=b\nF=\n"
    assert parse_env(text, "f") == {"A": "1", "B": "two words", "C": "x#y", "D": "plain", "E": "a=b", "F": ""}
    assert parse_env(f"A={quoted('two words')}\nB={quoted('1:a-b')}", "f") == {"A": "two words", "B": "1:a-b"}


def test_an_env_file_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SettingWrong, match=r"^Line 2 of f is not NAME=value\.$"):
        parse_env("A=1\nsecret stuff\n", "f")
    with pytest.raises(SettingWrong, match="cannot be read: No such file"):
        read_env_file(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingWrong, match="is no text"):
        read_env_file(tmp_path / "binary")


def test_flags_stand_before_or_after_the_command() -> None:
    assert split(["--node", "dev", "-q", "say", "hi"]) == (["--node", "dev", "-q"], ["say", "hi"])
    assert split(["--node=dev", "say"]) == (["--node=dev"], ["say"])
    for before, rest in (
        (["--node", "dev"], ["hi"]),
        ([], ["hi", "--node", "dev"]),
        (["-n", "x"], ["hi", "-n", "dev"]),
    ):
        assert parse("farhand say", "", say, before, rest).node == "dev"
    for before, rest in ((["-f", "--no-color"], ["hi"]), ([], ["-f", "hi", "--no-color"])):
        told = parse("farhand say", "", say, before, rest)
        assert (told.force, told.no_color, told.json) == (True, True, False)


def test_env_files_are_found_wherever_they_are_named() -> None:
    assert env_files(["--env-file", "a"], ["say", "--env-file=b", "--", "--env-file", "c"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--nonsense", "say"], "Unknown flag: --nonsense"),
        (["--json=1", "status"], "Unknown flag: --json"),
        (["--node"], "--node needs a value"),
    ],
)
def test_a_flag_before_the_command_that_nobody_knows(words: list[str], told: str) -> None:
    with pytest.raises(UnknownFlag, match=f"^{told}$"):
        split(words)


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["status", "--nonsense"], "error: Unknown flag: --nonsense\n→ farhand status --help\n"),
        (["--nonsense"], "error: Unknown flag: --nonsense\n→ farhand --help\n"),
        (["stop", "extra"], "error: Unexpected argument: extra\n→ farhand stop --help\n"),
        (["say"], "error: Missing: text\n→ farhand say --help\n"),
        (["--json"], "error: No command was given.\n→ farhand --help\n"),
        (["clean", "--all"], "error: --all is for stop and status.\n→ farhand clean --node <name>\n"),
        (["status", "--env-file", "/nowhere/env"], "error: The env file /nowhere/env cannot be read: No such file"),
        (["help", "nonsense"], "error: Unknown command: nonsense\n→ farhand --help\n"),
        (["hook", "nonsense"], "error: 'nonsense' is none of install, "),
        (["status", "--nod", "x"], "error: Unknown flag: --nod\n→ did you mean: --node?\n"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exits_2(
    arguments: list[str], first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(first)


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "stop"]) == 0
    assert capsys.readouterr().out.startswith("usage: farhand stop")


@promise("cli.34", "cli.36")
def test_each_node_has_its_port_and_its_prefix() -> None:
    ports = {node: default_port(node) for node in ("prod", "dev", "test", "other")}
    assert ports == {"prod": 8081, "dev": 8082, "test": 8095, "other": 8080}
    assert tmux_prefix("other") == "claude-other-"


@promise("cli.14")
@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_the_version(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([flag]) == 0
    assert capsys.readouterr().out == f"farhand {__version__}\n"


@promise("cli.24")
def test_no_color_is_what_the_variable_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FARHAND_HOME", str(tmp_path))
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["clean", "--node", "x", "--no-color"]) == 0
    assert os.environ["NO_COLOR"] == "1"

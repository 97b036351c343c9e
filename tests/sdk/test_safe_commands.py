"""What a shell line may do without a question: nothing but read, inside the workspace, known to the last word."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sdk.shell_lines import ESCAPES, SAFE
from tests.sdk.shell_world import ShellWorld

from farhand.sdk.policies import Judge, Surroundings, allow, deny
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.policies.judge import PROTECTED, UNKNOWN_NAME
from farhand.sdk.policies.plain_repository import is_harmless_config
from farhand.sdk.policies.protected_paths import edit_risk
from farhand.sdk.policies.safe_commands import safe_environment
from farhand.sdk.protocols import ToolCall
from farhand.sdk.workspace import OutsideWorkspace, Workspace


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ShellWorld:
    return ShellWorld(tmp_path_factory.mktemp("world"))


def ran(world: ShellWorld, argv: Sequence[str]) -> tuple[int, bytes]:
    """How it ended and what it printed."""
    options: Any = {"cwd": world.workspace, "env": world.environment, "stdin": subprocess.DEVNULL}
    done = subprocess.run(argv, capture_output=True, check=False, **options)
    return done.returncode, done.stdout


def decided(world: ShellWorld, line: str, *rules: Any, **around: Any) -> Any:
    judge = Judge([*rules, *default_rules()])
    return judge.decide(_call(line), Surroundings(cwd=world.workspace, **around))


def _call(line: str) -> ToolCall:
    return ToolCall("1", "run_shell_command", {"command": line})


@pytest.mark.parametrize("line", ESCAPES)
def test_what_could_do_more_than_read_inside_is_asked_for(world: ShellWorld, line: str) -> None:
    assert decided(world, line).decision == "ask"
    assert decided(world, line, mode="auto_edit").decision == "ask"


@pytest.mark.parametrize("line", SAFE)
def test_what_only_reads_inside_runs_and_without_a_shell(world: ShellWorld, line: str) -> None:
    ruling = decided(world, line)
    assert ruling.decision == "allow"
    assert ran(world, ruling.argv) == ran(world, ["bash", "-c", line])


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\tfsmonitor = ./trap",
        "[core] fsmonitor = ./trap",
        "[CORE]\n\tFsMonitor = ./trap",
        "[core]\n\tsshCommand = ./trap",
        "[core]\n\thooksPath = trap",
        "[core]\n\tworktree = ../outside",
        '[filter "x"]\n\tclean = ./trap',
        '[filter "x"]\n\tprocess = ./trap',
        '[diff "x"]\n\ttextconv = ./trap',
        "[diff]\n\texternal = ./trap",
        "[include]\n\tpath = ../x",
        '[includeIf "gitdir:/"]\n\tpath = x',
        "[gpg]\n\tprogram = ./trap",
        "[log]\n\tshowSignature = true",
        "[alias]\n\tstatus = !./trap",
        "[extensions]\n\tworktreeConfig = true",
        '[remote "o"]\n\turl = ext::./trap',
        '[remote "o"]\n\tpromisor = true',
        '[remote "o"]\n\tuploadpack = ./trap',
        "[pager]\n\tlog = ./trap",
        "[core]\n\tpager = ./trap",
        "[core]\n\teditor = x \\\n fsmonitor = ./trap",
        "fsmonitor = x",
        '[remote "o"]\n\turl = ext:"":./trap',
        "[gc]\n\trecentObjectsHook = ./trap",
        '[filter "x"]\n# \x0c[color]\nclean = ./trap',
        '[filter "x"]\n# \u2028[user]\nname = ./trap',
        '[filter "x"]\r# x\r[color]\nclean = ./trap',
        "[color]\n\tpager = ./trap",
    ],
)
def test_git_is_asked_about_in_a_repository_that_names_programs(world: ShellWorld, config: str) -> None:
    assert not is_harmless_config(config)
    path = world.workspace / ".git" / "config"
    before = path.read_text()
    try:
        path.write_text(f"{before}{config}\n")
        for line in ("git status", "git diff", "git log -p", "git show", "git branch"):
            assert decided(world, line).decision == "ask"
    finally:
        path.write_text(before)


CLONED = """
[core]
	repositoryformatversion = 0
	filemode = true
	bare = false ; as it is made
	logallrefupdates = true
# a comment
[remote "origin"]
	url = git@example.com:a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
[user]
	name = Ann
	email = "ann@example.com"
"""


def test_the_configuration_of_a_plain_clone_is_harmless() -> None:
    assert is_harmless_config(CLONED)


def test_git_of_a_folder_above_or_of_a_link_is_asked_for(world: ShellWorld, tmp_path: Path) -> None:
    inner = world.workspace / "src"
    judge = Judge(default_rules())
    assert judge.decide(_call("git status"), Surroundings(cwd=inner)).decision == "ask"
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".git").symlink_to(world.workspace / ".git")
    assert judge.decide(_call("git status"), Surroundings(cwd=tmp_path / "linked")).decision == "ask"
    (tmp_path / "bare").mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True, env=world.environment)
    assert judge.decide(_call("git log"), Surroundings(cwd=tmp_path / "bare")).decision == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "rm x",
        "rm\tx",
        " rm x",
        "\nrm x",
        "bash -c -- 'rm x'",
        "bash -c -o pipefail 'rm x'",
        "bin/rm x",
        "./../../bin/rm x",
        "coproc rm x",
        "trap 'rm x' EXIT",
        "busybox rm x",
        "nice --adjustment 5 rm x",
        "xargs --max-args 1 rm",
        "stdbuf --output L rm x",
        "sudo --host h rm x",
        "rm  x",
        "r{m,m} x",
        "{rm,-rf,x}",
        'env -S "rm x"',
        "env -iS 'rm x'",
        "env --split-string='rm x'",
        "find . -exec rm {} ;",
        "find . -execdir rm {} +",
        "$RM x",
        "`which rm` x",
        "/b?n/rm x",
        "/bin/r[m] x",
        "$'rm' x",
        "sudo r{m,m} x",
        "xargs -I{} {} x",
        "ls; r{m,m} x",
        "bash -c 'r{m,m} x'",
        'bash -c "$X"',
        "eval $X",
        "~/rm x",
    ],
)
@pytest.mark.parametrize("mode", ["default", "auto_edit", "yolo"])
def test_what_may_be_a_denied_command_is_denied_or_at_least_asked_for(world: ShellWorld, line: str, mode: str) -> None:
    ruling = decided(world, line, deny("run_shell_command", prefix="rm"), allow("run_shell_command"), mode=mode)
    assert ruling.decision == ("deny" if mode == "yolo" or "{rm,-rf" not in line else "ask")


def test_a_made_up_name_is_no_offence_where_nothing_is_denied(world: ShellWorld) -> None:
    assert decided(world, "$EDITOR x", allow("run_shell_command")).decision == "allow"
    ruling = decided(world, "$EDITOR x", deny("run_shell_command", prefix="rm"), allow("run_shell_command"))
    assert (ruling.decision, ruling.reason) == ("deny", UNKNOWN_NAME)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "sub/.git/hooks/post-commit",
        ".GIT/config",
        "src/../.git/config",
        "gitlink/config",
        " /../gitlink/config",
        " /../hooks/../config ",
        "hooks/../config",
        ".git/a\\..\\../../config",
        ".gemini/a\\..\\../../settings.json",
        ".git\\config",
        "~/.bashrc",
        ".gemini/settings.json",
        ".claude/settings.local.json",
        ".codex/config.toml",
        ".opencode/opencode.json",
        "sub/tui.json",
        ".mcp.json",
        ".envrc",
        ".env",
        ".env.local",
        ".husky/pre-commit",
        ".vscode/tasks.json",
        ".github/workflows/ci.yml",
        ".npmrc",
        ".gitattributes",
        ".devcontainer/devcontainer.json",
        ".pre-commit-config.yaml",
        "venv/site.pth",
        "tox.ini",
        "Justfile",
        "compose.yaml",
        "docker-compose.override.yml",
        "uv.lock",
        "requirements-dev.txt",
        "vite.config.ts",
        "web/eslint.config.mjs",
        ".lefthook.yml",
        ".venv/bin/python",
        "node_modules/.bin/tsc",
        "rust-toolchain.toml",
        "bunfig.toml",
        ".Rprofile",
        ".pylintrc",
    ],
)
@pytest.mark.parametrize("tool", ["write_file", "replace"])
def test_files_that_configure_tools_are_asked_for_in_every_mode_but_yolo(
    world: ShellWorld, path: str, tool: str
) -> None:
    judge = Judge([allow("write_file", "replace"), *default_rules()])
    call = ToolCall("1", tool, {"file_path": path, "content": "x", "old_string": "a", "new_string": "b"})
    for mode in ("default", "auto_edit"):
        ruling = judge.decide(call, Surroundings(mode, cwd=world.workspace))
        assert (ruling.decision, ruling.reason) == ("ask", PROTECTED)
    assert judge.decide(call, Surroundings("yolo", cwd=world.workspace)).decision == "allow"
    plain = ToolCall("1", tool, {"file_path": "src/new.py", "content": "x"})
    assert judge.decide(plain, Surroundings("auto_edit", cwd=world.workspace)).decision == "allow"


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("notes.txt", "allow"),
        ("/dev/null", "allow"),
        (".git/config", "ask"),
        ("gitlink/config", "ask"),
        ("../outside/new", "ask"),
        ("folder/new", "ask"),
        ("Makefile", "ask"),
        ("hooks/../config", "ask"),
        ("$X", "ask"),
        ("a{b,c}", "ask"),
        ("~/x", "ask"),
    ],
)
def test_a_redirection_in_auto_edit_writes_plain_files_of_the_workspace_alone(
    world: ShellWorld, target: str, decision: str
) -> None:
    ruling = decided(world, f"echo x > {target}", allow("run_shell_command"), mode="auto_edit")
    assert ruling.decision == decision


@pytest.mark.parametrize("folder", [".git", ".git/hooks", "gitlink", "src/../.git"])
def test_a_redirection_in_a_folder_that_configures_a_tool_is_asked_for(world: ShellWorld, folder: str) -> None:
    line = {"command": "echo x > config", "dir_path": folder}
    judge = Judge([allow("run_shell_command", prefix="echo"), *default_rules()])
    call = ToolCall("1", "run_shell_command", line)
    assert judge.decide(call, Surroundings("auto_edit", cwd=world.workspace)).decision == "ask"


def test_a_line_that_moves_redirects_nowhere_unasked(world: ShellWorld) -> None:
    for line in ("cd .git && echo x > config", "pushd src; echo x > a"):
        assert decided(world, line, allow("run_shell_command"), mode="auto_edit").decision == "ask"


def test_the_folder_of_a_command_is_read_as_the_tool_reads_it(
    world: ShellWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(world.workspace.parent))
    call = ToolCall("1", "run_shell_command", {"command": "cat ../outside/key", "dir_path": "~/workspace"})
    judge = Judge(default_rules())
    assert judge.decide(call, Surroundings(cwd=world.workspace)).decision == "ask"
    # Read as a folder called `~`, the path would have stayed inside.
    inside = ToolCall("1", "run_shell_command", {"command": "cat in.txt", "dir_path": "~/workspace"})
    assert judge.decide(inside, Surroundings(cwd=world.workspace)).decision == "allow"


PIECES = st.sampled_from([".git", ".gemini", "..", ".", "/", "\\", "hooks", "config", "a", "~", " "])


@given(st.lists(PIECES, max_size=9).map("".join))
def test_what_the_tool_would_open_is_what_is_judged(world: ShellWorld, path: str) -> None:
    try:
        opened = Workspace(world.workspace).resolve(path, to_write=True).relative_to(world.workspace.resolve())
    except (OutsideWorkspace, ValueError, RuntimeError):
        return
    if opened.parts and opened.parts[0] in (".git", ".gemini"):
        assert edit_risk(path, world.workspace) == "configures"


def test_a_workspace_inside_a_hidden_folder_is_a_workspace(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "project"
    folder.mkdir(parents=True)
    call = ToolCall("1", "write_file", {"file_path": "a.py", "content": "x"})
    assert Judge(default_rules()).decide(call, Surroundings("auto_edit", cwd=folder)).decision == "allow"


def test_a_program_of_the_project_is_not_the_systems(world: ShellWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{world.workspace}:{os.environ['PATH']}")
    assert decided(world, "cat in.txt").argv[0] in ("/usr/bin/cat", "/bin/cat")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C", "TZ": "America/Argentina/Jujuy", "COLUMNS": "80"}, True),
        ({"TZ": ":/etc/hostname"}, False),
        ({"TZ": "/etc/hostname"}, False),
        ({"TZ": "../evil"}, False),
        ({"LC_ALL": "../evil"}, False),
        ({"LANG": "/evil"}, False),
        ({"LANGUAGE": "../../../evil"}, False),
        ({"TMPDIR": "/tmp/evil"}, False),
        ({"LD_PRELOAD": "x.so", "GIT_DIR": "x", "GREP_OPTIONS": "-R", "RIPGREP_CONFIG_PATH": "x"}, False),
    ],
)
def test_no_variable_makes_a_safe_command_read_a_file(given: dict[str, str], kept: bool) -> None:
    found = safe_environment({"HOME": "/home/ann", **given})
    assert found["HOME"] == "/home/ann"
    assert all((name in found) is kept for name in given)

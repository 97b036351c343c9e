"""A script that a hook, a tool server or a task runs without a question is changed with a question alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from farhand.sdk.policies import Judge, Surroundings, allow
from farhand.sdk.policies.defaults import default_rules
from farhand.sdk.policies.judge import RUN_BY_HOOK
from farhand.sdk.protocols import ToolCall


def decided(project: Path, path: str, mode: str = "auto_edit") -> tuple[str, str]:
    call = ToolCall("1", "write_file", {"file_path": path, "content": "x"})
    ruling = Judge(default_rules()).decide(call, Surroundings(mode, cwd=project))  # type: ignore[arg-type]
    return ruling.decision, ruling.reason


def hook(command: str) -> str:
    return json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


def server(**about: object) -> str:
    return json.dumps({"mcpServers": {"a": about}})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    for place in ("scripts/deep", "src/pkg", "home"):
        (folder / place).mkdir(parents=True)
    (folder / "linked").symlink_to("scripts")
    return folder


@pytest.mark.parametrize(
    ("config", "text", "path"),
    [
        (".claude/settings.json", hook("scripts/fmt.sh"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("scripts/fmt.sh"), "linked/fmt.sh"),
        (".claude/settings.json", hook("linked/fmt.sh"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("scripts/fmt.sh"), "src/../scripts/fmt.sh"),
        (".claude/settings.json", hook("./scripts/fmt.sh --fix"), "scripts/fmt.sh"),
        (".claude/settings.json", hook('"$CLAUDE_PROJECT_DIR"/scripts/fmt.sh'), "scripts/fmt.sh"),
        (".claude/settings.json", hook("${CLAUDE_PROJECT_DIR}/scripts/fmt.sh"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("$(git rev-parse --show-toplevel)/scripts/fmt.sh"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("{project}/scripts/fmt.sh"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("bash -c 'scripts/fmt.sh; true'"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("bash 'scripts/my hook.sh'"), "scripts/my hook.sh"),
        (".claude/settings.json", hook("cd scripts && ./fmt.sh"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("cd scripts/deep && python3 fmt.py"), "scripts/deep/fmt.py"),
        (".claude/settings.json", hook("for f in scripts/*.sh; do sh $f; done"), "scripts/fmt.sh"),
        (".claude/settings.json", hook("run-parts --regex x scripts"), "scripts/fmt"),
        (".claude/settings.json", hook("node scripts/fmt"), "scripts/fmt.js"),
        (".claude/settings.json", hook("python scripts"), "scripts/__main__.py"),
        (".claude/settings.json", hook("python -m src.pkg.check"), "src/pkg/check.py"),
        (".claude/settings.json", hook("python -m src.pkg"), "src/pkg/__main__.py"),
        (".claude/settings.json", hook("x --config=scripts/fmt.js"), "scripts/fmt.js"),
        (".claude/settings.json", '{"hooks": {"a": "scripts\\/\\u0066mt.sh"}}', "scripts/fmt.sh"),
        (".claude/settings.json", '{// x\n"hooks": "scripts/fmt.sh",}', "scripts/fmt.sh"),
        (".claude/settings.json", '{"statusLine": {"command": "scripts/fmt.sh"}}', "scripts/fmt.sh"),
        (".claude/settings.local.json", hook("scripts/fmt.sh"), "scripts/fmt.sh"),
        (".mcp.json", server(command="node", args=["scripts/fmt.js"]), "scripts/fmt.js"),
        (".mcp.json", server(command="node", args=["fmt.js"], cwd="scripts"), "scripts/fmt.js"),
        (".mcp.json", server(command="node", args=["--inspect", "scripts/fmt"]), "scripts/fmt.js"),
        (".mcp.json", server(command="python3", args=["-m", "src.pkg.check"]), "src/pkg/check.py"),
        (".mcp.json", server(command="uv", args=["run", "scripts"]), "scripts/__main__.py"),
        (".gemini/settings.json", hook("$GEMINI_PROJECT_DIR/scripts/fmt.sh"), "scripts/fmt.sh"),
        (".gemini/settings.json", '{"tools": {"discoveryCommand": "scripts/fmt.sh"}}', "scripts/fmt.sh"),
        (".codex/config.toml", '[mcp_servers.a]\ncommand = "scripts/fmt.sh"\n', "scripts/fmt.sh"),
        (".codex/config.toml", 'notify = ["python3", "scripts/fmt.py"]\n', "scripts/fmt.py"),
        (".codex/hooks.json", hook("scripts/fmt.sh"), "scripts/fmt.sh"),
        ("opencode.json", '{"mcp": {"a": {"command": ["node", "scripts/fmt.js"]}}}', "scripts/fmt.js"),
        (".opencode/opencode.jsonc", '{"mcp": {"a": {"command": ["scripts/fmt.sh"]}}}', "scripts/fmt.sh"),
        (".husky/pre-commit", "#!/bin/sh\n. scripts/fmt.sh\n", "scripts/fmt.sh"),
        (".husky/pre-commit", "npx lint-staged\nnpm run fmt\n", "scripts/fmt.js"),
        (".git/hooks/pre-commit", "exec scripts/fmt.sh", "scripts/fmt.sh"),
        (".git/config", "[core]\n\tfsmonitor = scripts/fmt.sh\n", "scripts/fmt.sh"),
        (".git/config", "[alias]\n\tx = !scripts/fmt.sh\n", "scripts/fmt.sh"),
        (".git/config", '[filter "x"]\n\tclean = scripts/fmt.sh %f\n', "scripts/fmt.sh"),
        (".git/config", "[core]\n\thooksPath = scripts\n", "scripts/pre-commit"),
        (".vscode/tasks.json", '{"tasks": [{"command": "${workspaceFolder}/scripts/fmt.sh"}]}', "scripts/fmt.sh"),
        (".pre-commit-config.yaml", "repos:\n- hooks:\n  - entry: scripts/fmt.sh\n", "scripts/fmt.sh"),
        (".envrc", "source_env scripts/fmt.sh\n", "scripts/fmt.sh"),
        ("../home/.claude/settings.json", hook("$CLAUDE_PROJECT_DIR/scripts/fmt.sh"), "scripts/fmt.sh"),
    ],
)
def test_what_runs_unasked_is_changed_with_a_question(project: Path, config: str, text: str, path: str) -> None:
    (project / "package.json").write_text('{"scripts": {"fmt": "node scripts/fmt.js"}}')
    assert decided(project, path)[0] == "allow"
    (project / config).parent.mkdir(parents=True, exist_ok=True)
    (project / config).write_text(text.replace("{project}", str(project)))
    assert decided(project, path) == ("ask", RUN_BY_HOOK)
    assert decided(project, path, "yolo")[0] == "allow"
    assert decided(project, "src/pkg/other.py")[0] == "allow"
    line = ToolCall("1", "run_shell_command", {"command": f"echo x > '{path}'"})
    judge = Judge([allow("run_shell_command", "write_file"), *default_rules()])
    assert judge.decide(line, Surroundings("auto_edit", cwd=project)).decision == "ask"
    write = ToolCall("1", "write_file", {"file_path": path, "content": "x"})
    assert judge.decide(write, Surroundings("default", cwd=project)).decision == "ask"


def test_scripts_of_a_package_that_no_hook_runs_are_files_like_others(project: Path) -> None:
    (project / "package.json").write_text('{"scripts": {"fmt": "node scripts/fmt.js"}}')
    assert decided(project, "scripts/fmt.js")[0] == "allow"


USUAL = {
    ".claude/settings.json": json.dumps(
        {
            "permissions": {"allow": ["Bash(npm run *)", "Bash(*)", "Edit(src/**)", "Read(./**)", "WebFetch"]},
            "hooks": {"PostToolUse": [{"matcher": "*", "hooks": [{"command": "ruff check . src && eslint src"}]}]},
        }
    ),
    ".git/config": '[remote "origin"]\n\turl = x:y/app.git\n[branch "main"]\n\tremote = origin\n',
    ".lintstagedrc": '{"*.js": "eslint --fix", "src/**/*.ts": ["prettier --write"]}',
    ".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: black\n    files: ^src/.*\\.py$\n",
    "package.json": '{"name": "app", "main": "dist/x.js", "scripts": {"test": "jest", "build": "tsc -p ."}}',
    ".vscode/tasks.json": '{"tasks": [{"label": "test", "command": "npm", "args": ["test"]}]}',
}


@pytest.mark.parametrize(
    "path", ["main.py", "app.js", "src/index.ts", "src/__init__.py", "src/a.js", "test.py", "a.py"]
)
def test_what_no_hook_runs_is_edited_without_a_question(project: Path, path: str) -> None:
    for name, text in USUAL.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    assert decided(project, path) == ("allow", "")


def test_a_configuration_that_is_no_file_stops_nobody(project: Path) -> None:
    (project / ".claude").mkdir()
    os.mkfifo(project / ".claude/settings.json")
    (project / ".mcp.json").mkdir()
    (project / ".envrc").write_bytes(b"\xff\xfe\0")
    assert decided(project, "src/a.py")[0] == "allow"


@pytest.mark.parametrize("text", ["$(" * 100_000, "${" * 100_000, "%a" * 100_000, '"' * 200_000, "node -" * 40_000])
def test_a_configuration_made_to_be_slow_is_not(project: Path, text: str) -> None:
    (project / ".mcp.json").write_text(text)
    assert decided(project, "src/a.py")[0] in ("allow", "ask")


@pytest.mark.parametrize("text", ["[" * 300_000, " ".join(map(str, range(6000)))])
def test_where_too_much_is_configured_every_file_is_asked_for(project: Path, text: str) -> None:
    (project / ".mcp.json").write_text(text)
    assert decided(project, "src/a.py")[0] == "ask"


def test_what_is_no_longer_named_is_a_file_like_others(project: Path) -> None:
    (project / ".mcp.json").write_text(server(command="scripts/fmt.sh"))
    assert decided(project, "scripts/fmt.sh")[0] == "ask"
    (project / ".mcp.json").unlink()
    assert decided(project, "scripts/fmt.sh")[0] == "allow"

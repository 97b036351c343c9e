"""Records what the installed Gemini CLI decides on the calls of tests/sdk/policy_cases, for the tests to replay.

The CLI's own engine is asked, as it is shipped, with the configuration that the CLI makes from settings, policy files
and mode. `make record` runs this; `sh scripts/setup-tests.sh` installs the CLI.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "sdk" / "policy_cases"
RECORDED = ROOT / "tests" / "sdk" / "recordings" / "policies.json"
CLI = ROOT / ".cache" / "npm" / "node_modules" / "@google" / "gemini-cli"
NODE = ROOT / ".cache" / "node" / "bin" / "node"


def cases() -> list[dict[str, Any]]:
    """Every case: a world, a mode and a call."""
    worlds = tomllib.loads((CASES / "worlds.toml").read_text())
    calls = tomllib.loads((CASES / "calls.toml").read_text())
    return [
        {"world": name, "mode": mode, **_call(call)}
        for name, world in worlds.items()
        for mode in world["modes"]
        for kind in world["calls"]
        for call in calls[kind]
    ]


def _call(call: str | dict[str, Any]) -> dict[str, Any]:
    return {"name": "run_shell_command", "arguments": {"command": call}} if isinstance(call, str) else call


def make_project(folder: Path) -> None:
    """The folder in which calls are judged: two files, and a link that leads out of it."""
    (folder / "src").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "src" / "a.py").write_text("a\n")
    (folder / "out").symlink_to("/etc")


def record(folder: Path) -> list[dict[str, Any]]:
    """The cases with the CLI's decisions."""
    make_project(folder / "project")
    worlds = tomllib.loads((CASES / "worlds.toml").read_text())
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for case in cases():
        groups.setdefault((case["world"], case["mode"]), []).append(case)
    asked = [
        {
            "settings": {"policyPaths": [_policy(folder, name, worlds[name])], **_settings(worlds[name])},
            "mode": mode,
            "interactive": worlds[name].get("interactive", True),
            "trusted": worlds[name].get("trusted", True),
            "calls": group,
        }
        for (name, mode), group in groups.items()
    ]
    core = next(file for file in sorted((CLI / "bundle").glob("core-*.js")) if "PolicyEngine" in file.read_text())
    questions, answers = folder / "asked.json", folder / "answered.json"
    questions.write_text(json.dumps(asked))
    ended = subprocess.run(
        [NODE, ROOT / "scripts" / "record_policies.mjs", core, CLI / "bundle" / "policies", questions, answers],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder / "project",
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
    )
    if ended.returncode:
        raise SystemExit(f"The engine could not be asked: {ended.stderr[-2000:]}")
    decisions = json.loads(answers.read_text())
    flat = [case for group in groups.values() for case in group]
    return [{**case, "decision": decision} for case, decision in zip(flat, decisions, strict=True)]


def _policy(folder: Path, name: str, world: dict[str, Any]) -> str:
    path = folder / f"{name}.toml"
    path.write_text(world.get("policy", ""))
    return str(path)


def _settings(world: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(world.get("settings", "{}"))
    return settings


def main() -> int:
    """Writes the recording."""
    if not CLI.exists():
        print("The Gemini CLI is not installed: sh scripts/setup-tests.sh", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        found = record(Path(folder))
    version = json.loads((CLI / "package.json").read_text())["version"]
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in found)
    RECORDED.write_text(f'{{"cli": "{version}", "cases": [\n{lines}\n]}}\n')
    print(f"{len(found)} decisions of Gemini CLI {version} are in {RECORDED.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Every decision that was recorded from the Gemini CLI is ours too, or differs for a reason that is written here.

`make record` records anew.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripts.record_policies import CASES, RECORDED, cases, make_project

from farhand.sdk.policies import Judge, Surroundings, read_policies
from farhand.sdk.policies.load import load_rules
from farhand.sdk.policies.rules import HARDNESS, mode_named
from farhand.sdk.protocols import ToolCall
from farhand.sdk.settings import AgentSettings

Case = dict[str, Any]
WORLDS = tomllib.loads((CASES / "worlds.toml").read_text())
DECISIONS = {"allow": "allow", "ask_user": "ask", "deny": "deny"}


def recorded() -> list[Case]:
    found: list[Case] = json.loads(RECORDED.read_text())["cases"]
    return found


def theirs(case: Case) -> str:
    """The CLI's decision. What it would ask with nobody there, it refuses."""
    decision = DECISIONS[case["decision"]]
    headless = WORLDS[case["world"]].get("interactive", True) is False
    return "deny" if decision == "ask" and headless else decision


class World:
    """The judges of every world, in one project."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        make_project(self.project)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self._judges = {name: self._judge(folder, name, world) for name, world in WORLDS.items()}

    def _judge(self, folder: Path, name: str, world: dict[str, Any]) -> Judge:
        path = folder / f"{name}.toml"
        path.write_text(world.get("policy", ""))
        assert read_policies([path], "user").complaints == ()
        settings = {"policyPaths": [str(path)], **json.loads(world.get("settings", "{}"))}
        return Judge(load_rules(AgentSettings(raw=settings), folder).rules)

    def ours(self, case: Case) -> str:
        world = WORLDS[case["world"]]
        around = Surroundings(
            mode_named(case["mode"]),
            world.get("interactive", True),
            self.project,
            world.get("trusted", True),
            case.get("subagent", ""),
            tuple(case.get("annotations", {}).items()),
        )
        return self._judges[case["world"]].decide(ToolCall("1", case["name"], case["arguments"]), around).decision


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("worlds"))


def command(case: Case) -> str:
    return str(case["arguments"].get("command", ""))


RUNNERS = (
    "sudo ",
    "env ",
    "nohup ",
    "xargs ",
    "timeout ",
    "time ",
    "command ",
    "exec ",
    "eval ",
    "FOO=1 ",
    '"rm"',
    "\\rm",
)
# Where we decide otherwise: who is harder, why, and which cases those are. A case outside of these is a failure.
HARDER: list[tuple[str, Callable[[Case], bool]]] = [
    (
        "A forbidden command stays forbidden behind sudo, env, xargs, eval, assignments and quotes.",
        lambda case: case["world"] == "prefixes" and command(case).startswith(RUNNERS),
    ),
    (
        "A line is as dangerous as its most dangerous part; the CLI looks at the first word alone.",
        lambda case: "rm -" in command(case) and not command(case).startswith("rm"),
    ),
    ("rm -r is as dangerous as rm -rf.", lambda case: command(case) == "rm -r x"),
    (
        "What a variable holds is unknown, and may lie outside the workspace.",
        lambda case: command(case) in ("ls $HOME", 'cat "$FILE"'),
    ),
    ("git -C works in another folder.", lambda case: command(case).startswith("git -C")),
    ("uniq writes the second file that it is given.", lambda case: command(case).startswith("uniq")),
    (
        "What a shell would expand is not known before it does; only known words run without a question.",
        lambda case: command(case) in ('echo "$HOME"', "cat *.txt"),
    ),
    (
        "What runs without a question runs without a shell, where cd means nothing.",
        lambda case: command(case) == "cd src",
    ),
    (
        "What cannot be read may be a denied command, and in yolo nobody would look at it.",
        lambda case: case["world"] == "prefixes" and case["mode"] == "yolo",
    ),
    ("A denied command is denied behind find -exec, too.", lambda case: command(case).startswith("find . -exec rm")),
    ("A redirection through a link leads out of the workspace.", lambda case: command(case) == "ls > out && rm x"),
    ("A here-string is a redirection, and no part of a harmless command.", lambda case: "<<<" in command(case)),
    (
        "Plans go into the session's own folder for them; the CLI knows it by its looks, and puts bare names into it.",
        lambda case: case["mode"] == "plan" and str(case["arguments"].get("file_path", "")).endswith(".md"),
    ),
    (
        "A script is judged by its own commands, and a shell is no harmless command.",
        lambda case: command(case).startswith("zsh -c"),
    ),
]
SOFTER: list[tuple[str, Callable[[Case], bool]]] = [
    ("A plan to look at changes nothing.", lambda case: case["name"] == "write_todos"),
    ("ask_user is itself a question to the person.", lambda case: case["name"] == "ask_user"),
    ("An assignment can be read, and by itself runs nothing.", lambda case: command(case) == "A=1"),
    (
        "A command that only looks needs nobody, so that nobody need be there.",
        lambda case: case["world"] == "headless" and case["name"] == "run_shell_command",
    ),
    ("Spaces around a command mean nothing.", lambda case: command(case) == " ls "),
]


def test_the_recording_is_of_these_cases() -> None:
    stripped = [{key: value for key, value in case.items() if key != "decision"} for case in recorded()]
    assert stripped == cases()
    assert len(stripped) >= 200
    assert {theirs(case) for case in recorded()} == {"allow", "ask", "deny"}


def test_every_decision_is_the_same_or_differs_for_a_reason(world: World) -> None:
    used: set[str] = set()
    unexplained = []
    for case in recorded():
        wanted, got = theirs(case), world.ours(case)
        if wanted == got:
            continue
        harder = HARDNESS[got] > HARDNESS[wanted]  # type: ignore[index]
        why = next((why for why, means in (HARDER if harder else SOFTER) if means(case)), None)
        if why is None:
            unexplained.append((case, got))
        else:
            used.add(why)
    assert unexplained == []
    assert used == {why for why, _ in [*HARDER, *SOFTER]}
